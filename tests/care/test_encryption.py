"""An encrypted ledger: the same memory, and nothing to read for whoever gets the file."""

from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend

from commonplace.domain.errors import Incompatible, InvalidInput, LedgerCorrupt
from commonplace.memory import AsyncMemory, Opening
from commonplace.wiring import Location, moved
from tests.care.folders import contents, directions, forms, traces

KEY = {"ledger_key": "it's a secret"}


def opened(folder: Path, **settings: object) -> Opening:
    return AsyncMemory.open(folder, embedder=directions, index="exact", **settings)  # type: ignore[arg-type]


async def test_it_is_the_same_memory_and_no_word_is_in_the_file(tmp_path: Path) -> None:
    async with opened(tmp_path / "memory", **KEY) as memory:
        added = await memory.add("I use Jxqtool as a tool", user="ana", session="s1")
        await memory.add("I like jxqtea", user="ana")
        assert traces(tmp_path, [*forms(["Jxqtool", "jxqtea"]), b"SQLite format 3"]) == []
        await memory.forget(user="ana", message=added.messages[0])
        assert (await memory.doctor(repair=True)).healthy
    assert traces(tmp_path, [*forms(["Jxqtool", "jxqtea"]), b"SQLite format 3"]) == []
    async with opened(tmp_path / "memory", **KEY) as memory:
        assert [one.text for one in await memory.messages(user="ana")] == ["I like jxqtea"]


@pytest.mark.parametrize("wrong", [{"ledger_key": "another"}, {}])
async def test_without_its_key_it_is_refused_and_left_alone(tmp_path: Path, wrong: dict[str, object]) -> None:
    async with opened(tmp_path / "memory", **KEY) as memory:
        await memory.add("I use Shram", user="ana")
    before = contents(tmp_path)
    with pytest.raises((InvalidInput, LedgerCorrupt), match=r"ledger.db: .*(the key does not fit|set ledger_key)"):
        async with opened(tmp_path / "memory", **wrong):
            pass
    assert contents(tmp_path)["memory/ledger.db"] == before["memory/ledger.db"]


async def test_a_plain_ledger_is_encrypted_by_way_of_a_snapshot(tmp_path: Path) -> None:
    async with opened(tmp_path / "plain") as memory:
        await memory.add("I use Jxqtool", user="ana")
        await memory.snapshot(tmp_path / "backups")
    with pytest.raises(Incompatible, match="is not encrypted"):
        async with opened(tmp_path / "plain", **KEY):
            pass
    await AsyncMemory.restore_snapshot(tmp_path / "backups", tmp_path / "secret", ledger_key=KEY["ledger_key"])
    assert traces(tmp_path / "secret", forms(["Jxqtool"])) == []
    async with opened(tmp_path / "secret", **KEY) as memory:
        assert len(await memory.messages(user="ana")) == 1


async def test_the_key_may_be_a_file(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"short")
    with pytest.raises(InvalidInput, match="32 or more"):
        async with opened(tmp_path / "memory", ledger_key_file=key):
            pass
    key.write_bytes(bytes(range(40)))
    for _ in range(2):
        async with opened(tmp_path / "memory", ledger_key_file=key) as memory:
            await memory.add("I use Shram", user="ana")
    with pytest.raises(InvalidInput, match="expected one of"):
        async with opened(tmp_path / "memory", ledger_key_file=key, **KEY):
            pass


class Kept(KeyringBackend):
    """A keyring in this process."""

    priority = 1

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self._kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._kept[service, username] = password


async def test_the_key_may_be_in_the_keyring(tmp_path: Path) -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(Kept())
    try:
        with pytest.raises(InvalidInput, match="keyring set commonplace mine"):
            async with opened(tmp_path / "memory", ledger_keyring="mine"):
                pass
        keyring.set_password("commonplace", "mine", "a secret")
        async with opened(tmp_path / "memory", ledger_keyring="mine") as memory:
            await memory.add("I use Shram", user="ana")
        async with opened(tmp_path / "memory", ledger_key="a secret") as memory:
            assert len(await memory.messages(user="ana")) == 1
    finally:
        keyring.set_keyring(before)


async def test_an_encrypted_memory_moves_to_postgresql_and_back(
    tmp_path: Path, postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key is that of the file, on whichever side it is; a name with odd characters is one like any other."""
    monkeypatch.setenv("COMMONPLACE_HOME", str(tmp_path / "files-of-postgresql"))
    first, server, back = (Location.parse(one) for one in (tmp_path / "50% #1?", postgres_database, tmp_path / "back"))
    async with opened(tmp_path / "50% #1?", **KEY) as memory:
        await memory.add("I like jxqtea", user="ana", attachments=[{"data": b"jxqnote", "name": "note.txt"}])
    there = await moved(first, server, KEY, in_use=False, progress=lambda *_: None)
    again = await moved(server, back, KEY, in_use=False, progress=lambda *_: None)
    assert (there.sha256, there.counts["messages"]) == (again.sha256, 1)
    async with AsyncMemory.open(postgres_database, embedder=directions) as memory:
        (said,) = await memory.messages(user="ana")
        assert await memory.read_attachment(said.attachments[0].id, user="ana") == b"jxqnote"
    async with opened(tmp_path / "back", **KEY) as memory:
        assert [said.text for said in await memory.messages(user="ana")] == ["I like jxqtea"]
    assert traces(tmp_path / "back", forms(["jxqtea", "jxqnote"])) == []
