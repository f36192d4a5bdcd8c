"""Julep's calls on a memory, with a model behind the real openai SDK, over the wire."""

from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

from commonplace import InvalidInput, Memory, NotFound
from commonplace.integrations.julep import Julep
from tests.agents.wire import Fail, Say, Service, service
from tests.integrations.examples import Staging
from tests.learning.test_stories import apart

TOLD, ASKED = "I use Shram and Magnet as productivity tools", "What productivity tools do I use?"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.ephemeral(embedder=apart) as memory:
        yield memory


@pytest.fixture
def model() -> Iterator[Service]:
    with service() as model:
        yield model


def julep(memory: Memory, model: Service) -> Julep:
    return Julep(memory, openai.OpenAI(api_key="k", base_url=f"{model.url}/v1", max_retries=0), model="m")


def say(client: Julep, session: str, words: str, *, recall: bool = True, save: bool = True) -> str:
    said = [{"role": "user", "content": words}]
    answer = client.sessions.chat(session, messages=said, recall=recall, save=save)
    return answer.choices[0].message.content


def test_the_story_is_told_over_four_runs_of_the_example(
    tmp_path: Path, environment: dict[str, str], runner: Staging
) -> None:
    with service() as model:
        ours = {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "none"}
        run = runner("julep_sessions.py", {**environment, **ours})
        folder = str(tmp_path / "memory")
        run(folder, TOLD)
        assert run(folder, ASKED) == "You use Shram and Magnet.\n"
        run(folder, "I don't use Magnet anymore")
        assert run(folder, ASKED) == "You use Shram.\n"


def test_a_session_goes_on_and_its_history_can_be_read(memory: Memory, model: Service) -> None:
    client = julep(memory, model)
    session = client.sessions.create(user="alex", situation="Be brief.")
    say(client, session.id, TOLD)
    assert say(Julep(memory, client.sessions._client, model="m"), session.id, ASKED) == "You use Shram and Magnet."
    entries = client.sessions.history(session_id=session.id).entries
    assert [(one.role, one.content) for one in entries][::2] == [("user", TOLD), ("user", ASKED)]
    assert [one["role"] for one in model.asked[-1].messages] == ["system", "user", "assistant", "user"]
    assert model.asked[-1].system.strip().startswith("Be brief.")


def test_without_recall_nothing_is_shown_and_without_save_nothing_is_kept(memory: Memory, model: Service) -> None:
    client = julep(memory, model)
    say(client, client.sessions.create(user="alex").id, TOLD)
    other = client.sessions.create(user="alex")
    say(client, other.id, ASKED, recall=False, save=False)
    assert [one["role"] for one in model.asked[-1].messages] == ["user"]
    assert client.sessions.history(other.id).entries == []


def test_when_the_model_fails_what_the_user_said_is_kept(memory: Memory) -> None:
    with service(lambda asked: Fail(500)) as broken:
        client = julep(memory, broken)
        session = client.sessions.create(user="alex")
        with pytest.raises(openai.InternalServerError):
            say(client, session.id, TOLD)
        assert [one.content for one in client.sessions.history(session.id).entries] == [TOLD]
    with pytest.raises(InvalidInput, match="openai SDK"):
        say(Julep(memory), session.id, ASKED)


def test_documents_are_found_by_their_owner_and_shown_to_the_model(memory: Memory) -> None:
    with service(lambda asked: Say("Seven.")) as model:
        client = julep(memory, model)
        ferry = "The ferry to Quillon leaves at seven."
        doc = client.agents.docs.create(agent_id="helper", title="Ferries", content=ferry, metadata={"kind": "plan"})
        client.users.docs.create(user_id="alex", title="Diary", content=["I saw a heron.", "It was grey."])
        found = client.agents.docs.search(agent_id="helper", text="ferry to Quillon", metadata_filter={"kind": "plan"})
        assert [(one.title, one.snippet.content, one.metadata) for one in found.docs] == [
            ("Ferries", ferry, {"kind": "plan"})
        ]
        assert client.agents.docs.search(agent_id="another", text="ferry to Quillon").docs == []
        assert client.users.docs.search(user_id="ben", text="heron").docs == []
        assert list(memory.facts(user="alex")) == []
        session = client.sessions.create(user="alex", agent="helper")
        asked = [{"role": "user", "content": "When does the ferry to Quillon leave?"}]
        assert [one.title for one in client.sessions.chat(session.id, messages=asked).docs] == ["Ferries"]
        assert ferry in model.asked[-1].system
        client.agents.docs.delete(agent_id="helper", doc_id=doc.id)
        assert client.agents.docs.search(agent_id="helper", text="ferry to Quillon").docs == []
        with pytest.raises(InvalidInput, match="expected agent_id"):
            client.agents.docs.search(user_id="alex", text="x")


def test_a_session_that_is_deleted_is_forgotten(memory: Memory, model: Service) -> None:
    client = julep(memory, model)
    session = client.sessions.create(user="alex")
    say(client, session.id, TOLD)
    client.sessions.delete(session.id)
    assert list(memory.facts(user="alex")) == []
    with pytest.raises(NotFound):
        client.sessions.history(session.id)


def test_nothing_is_left_of_the_sessions_of_a_user_who_is_forgotten(memory: Memory) -> None:
    client = Julep(memory)
    session = client.sessions.create(user="al@x", situation="Al is ill.", session_id="visit 1")
    other = client.sessions.create(user="ben", session_id="visit 1")
    memory.forget(user="al@x")
    with pytest.raises(NotFound):
        client.sessions.get(session.id)
    assert client.sessions.get(other.id) == other
    assert not any("Al is ill." in line for line in everything(memory))


def test_the_session_of_nobody_in_particular_and_another_users_are_apart(memory: Memory) -> None:
    client = Julep(memory)
    anonymous = client.sessions.create(session_id="s", situation="Hello")
    assert client.sessions.get("s") == anonymous
    with pytest.raises(NotFound):
        client.sessions.get("s@ana")


def everything(memory: Memory) -> list[str]:
    """Every line that is held on anybody who could have been asked about."""
    return [line for user in ("al@x", "ben", "julep:sessions", None) for line in memory.export(user=user)]
