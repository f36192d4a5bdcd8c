"""Whatever comes in: it is handled, or refused by name. Nothing is lost, and nobody sees what is somebody else's."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.adapters.hashing import HashEmbedder
from commonplace.domain.errors import CommonplaceError, InvalidInput, NotFound
from commonplace.memory import AsyncMemory
from tests.backends import Backend

NOW = datetime(2030, 1, 1, tzinfo=UTC)
any_text = st.text(st.characters(), min_size=1, max_size=40)  # NUL bytes and lone surrogates included
NASTY = [
    "\x00", "a\x00b", "\ud800", "x\udfff", "'; drop table messages; --", "../../etc/passwd", "..\\..\\x", "%00", "*",
    "user:*", "{}", "null", "None", " ", "​", "🧠", "ﷺ", "\r\n", "a" * 1000, "日本語", "e\u0301",
]  # fmt: skip

pytestmark = pytest.mark.backends("ledgers")


async def test_any_characters_make_an_id_and_name_only_their_own(memory: AsyncMemory) -> None:
    await memory.add("greenhouse stranger", user="somebody else", session="*")
    for name in NASTY:
        message = {"content": f"greenhouse {name}", "id": name, "name": name, "metadata": {name: name}}
        await memory.add(message, user=name, session=name, agent=name)
        await memory.set_block(name, name + "!", user=name)
        await memory.session(name, user=name).update({name: name})
    for name in NASTY:
        hits = await memory.recall("greenhouse", user=name, session=name)
        assert [(hit.id, hit.text, hit.name) for hit in hits] == [(name, f"greenhouse {name}", name)]
        assert [(block.name, block.text) for block in await memory.blocks(user=name)] == [(name, name + "!")]
        assert await memory.session(name, user=name).get() == {name: name}
    assert [hit.text for hit in await memory.recall("greenhouse", user="somebody else")] == ["greenhouse stranger"]


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], max_examples=60)
@given(texts=st.lists(any_text, min_size=1, max_size=5))
async def test_every_text_that_is_taken_comes_back_as_it_was(memory: AsyncMemory, texts: list[str]) -> None:
    kept, user = [text for text in texts if text.strip()], uuid4().hex
    for text in kept:
        await memory.add(text, user=user, session="s")
    assert [message.text for message in await memory.messages(user=user, session="s")] == kept
    for text in kept:
        await memory.recall(text, user=user)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("add", {"content": ""}),
        ("add", {"content": "  \n"}),
        ("add", {"content": None}),
        ("add", {"content": 3}),
        ("add", {"content": b"bytes"}),
        ("add", {"content": []}),
        ("add", {"content": [None]}),
        ("add", {"content": {"role": "user"}}),
        ("add", {"content": {"role": "wizard", "content": "x"}}),
        ("add", {"content": {"content": "x", "colour": "red"}}),
        ("add", {"content": [{"content": "x", "id": "1"}, {"content": "y", "id": "1"}]}),
        ("add", {"content": "x", "user": ""}),
        ("add", {"content": "x", "user": {"$ne": None}}),
        ("add", {"content": "x", "user": 7}),
        ("add", {"content": "x", "user": "u" * 1001}),
        ("add", {"content": "x", "session": ""}),
        ("add", {"content": "x", "at": datetime(2030, 1, 1)}),  # noqa: DTZ001
        ("add", {"content": "x", "at": "yesterday"}),
        ("add", {"content": "x", "at": 1700000000}),
        ("add", {"content": "x", "metadata": {"n": float("nan")}}),
        ("add", {"content": "x", "metadata": {1: 2}}),
        ("add", {"content": "x", "metadata": {"f": object()}}),
        ("add", {"content": "x" * 8_000_001}),
        ("recall", {"query": None}),
        ("recall", {"query": 3}),
        ("recall", {"query": "x", "limit": -1}),
        ("recall", {"query": "x", "limit": True}),
        ("recall", {"query": "x", "limit": 10**9}),
        ("recall", {"query": "x", "kinds": {"secrets"}}),
        ("recall", {"query": "x", "kinds": 5}),
        ("recall", {"query": "x", "during": NOW}),
        ("recall", {"query": "x", "during": (NOW, NOW - timedelta(days=1))}),
        ("recall", {"query": "x", "valid_at": datetime(2030, 1, 1)}),  # noqa: DTZ001
        ("recall", {"query": "x", "where": "topic"}),
        ("recall", {"query": "x", "min_relevance": 2}),
        ("recall", {"query": "x", "min_relevance": float("nan")}),
        ("remember", {"text": ""}),
        ("remember", {"text": "x", "kind": "message"}),
        ("remember", {"text": "x", "importance": 1.5}),
        ("remember", {"text": "x", "valid_from": NOW, "valid_to": NOW}),
        ("context", {"query": "x", "budget": -1}),
        ("facts", {"limit": 0}),
        ("facts", {"cursor": "nonsense"}),
        ("messages", {"cursor": "WzEsMiwzXQ"}),
        ("messages", {"limit": -5}),
        ("set_block", {"name": "", "text": "x"}),
        ("set_block", {"name": "x", "text": ""}),
        ("history", {"fact_id": None}),
    ],
)
@pytest.mark.backends("files")  # it is refused before any engine is asked
async def test_a_wrong_argument_is_refused_with_its_value(
    memory: AsyncMemory, call: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput, match="expected|time zone|ends before|unknown|same id"):
        await getattr(memory, call)(**arguments)
    assert (await memory.stats()).counts["messages"] == 0


@pytest.mark.parametrize("call", ["history", "retract", "restore"])
async def test_another_users_fact_is_not_found(memory: AsyncMemory, call: str) -> None:
    fact = await memory.remember("Allergic to peanuts", user="ana")
    with pytest.raises(NotFound):
        await getattr(memory, call)(fact.id, user="ben")
    with pytest.raises(NotFound):
        await memory.revise(fact.id, "Allergic to nothing", user=None)
    assert [known.text for known in await memory.facts(user="ana")] == ["Allergic to peanuts"]


async def test_the_anonymous_user_is_a_bucket_of_its_own(memory: AsyncMemory) -> None:
    await memory.add("the sea is green", user="ana")
    await memory.add("the sea is blue")
    assert [hit.text for hit in await memory.recall("sea")] == ["the sea is blue"]
    assert [hit.text for hit in await memory.recall("sea", user="ana")] == ["the sea is green"]


async def test_tenants_do_not_see_each_other(backend: Backend, tmp_path: Path) -> None:
    async with AsyncMemory.open(**backend.at(tmp_path), tenant="a", embedder=HashEmbedder(dimensions=16)) as memory:
        await memory.add("the sea is green", user="ana")
    async with AsyncMemory.open(**backend.at(tmp_path), tenant="b", embedder=HashEmbedder(dimensions=16)) as memory:
        assert await memory.recall("sea", user="ana") == []
        assert (await memory.stats()).counts["messages"] == 0


async def test_a_megabyte_is_kept_and_its_last_words_are_found(memory: AsyncMemory) -> None:
    text = "The weather was fine and we talked about nothing at all. " * 18_000 + "The treasure is under the old oak."
    await memory.add(text, user="u")
    (hit,) = await memory.recall("where is the treasure?", user="u")
    assert hit.text == text
    assert hit.passage is not None
    assert "under the old oak" in hit.passage


@pytest.mark.parametrize(
    "function",
    [
        lambda texts: np.full((len(texts), 4), np.nan),
        lambda texts: np.zeros((len(texts), 4)),
        lambda texts: np.ones((len(texts) + 1, 4)),
        lambda texts: np.ones(4),
        lambda texts: "vectors",
        lambda texts: 1 / 0,
    ],
)
async def test_an_embedder_that_returns_nonsense_is_refused_on_opening(function: Any) -> None:
    with pytest.raises(InvalidInput, match="embedder"):
        async with AsyncMemory.ephemeral(embedder=function):
            pass


async def test_an_embedder_that_fails_later_loses_no_message_and_says_so(backend: Backend, tmp_path: Path) -> None:
    broken = False

    def embed(texts: list[str]) -> Any:
        if broken:
            raise RuntimeError("out of order")
        return np.ones((len(texts), 4))

    async with AsyncMemory.open(**backend.at(tmp_path), embedder=embed) as memory:
        broken = True
        added = await memory.add("the sea is green", user="u")
        assert "out of order" in added.notes[0]
        hits = await memory.recall("the green sea", user="u")
        assert [hit.text for hit in hits] == ["the sea is green"]
        assert "words only" in hits.notes[0]
        checkup = await memory.doctor()
        assert [finding.check for finding in checkup.findings] == ["vectors"]
        broken = False
        assert (await memory.doctor(repair=True)).healthy
        assert (await memory.doctor()).findings == ()


async def test_every_error_is_one_of_ours(memory: AsyncMemory) -> None:
    with pytest.raises(CommonplaceError):
        await memory.delete_block("none", user="u")
    with pytest.raises(CommonplaceError):
        await memory.retract("none", user="u")


@pytest.mark.backends("files")  # it is refused before any engine is asked
async def test_a_file_is_refused_as_a_folder_with_the_way_to_open_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InvalidInput, match=r"notes\.txt': is a file; expected a folder, or sqlite:///"):
        await AsyncMemory.open(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"
