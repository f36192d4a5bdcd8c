from pathlib import Path

import pytest
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from commonplace.domain.errors import InvalidInput
from commonplace.settings import ALSO_ACCEPTED, PREFIX, Settings

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"

AS_IT_STANDS = """
memory:
  sqlite:
    database: ./data/agent.db
    pragmas: {journal_mode: WAL, synchronous: NORMAL, foreign_keys: on, busy_timeout: 5000, cache_size: -64000}
  chroma:
    collection: agent_memory
    persist_directory: ./data/chroma
    embedding_model: all-MiniLM-L6-v2
  redis:
    host: cache.internal
    port: 6380
    ttl: 3600
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, with an empty home: settings are looked for in both."""
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    return tmp_path


def test_the_higher_source_wins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings.from_sources().ring == 100
    (folder / "commonplace.yaml").write_text("ring: 1")
    assert Settings.from_sources().ring == 1
    (folder / ".env").write_text("COMMONPLACE_RING=2")
    assert Settings.from_sources().ring == 2
    monkeypatch.setenv("COMMONPLACE_RING", "3")
    assert Settings.from_sources().ring == 3
    assert Settings.from_sources(ring=4).ring == 4


def test_settings_do_not_change_once_read() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings.from_sources().ring = 5


@pytest.mark.parametrize("name", ALSO_ACCEPTED)
def test_a_name_that_other_programs_use_is_accepted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    assert ALSO_ACCEPTED[name][0] in Settings.from_sources().model_fields_set


def test_our_own_name_wins_over_one_that_other_programs_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_EMBEDDING_MODEL", "ours")
    monkeypatch.setenv("EMBEDDING_MODEL", "theirs")
    assert Settings.from_sources().embedding_model == "ours"


def test_the_path_of_a_database_is_a_sqlite_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PATH", "/data/my 100% memory.db")
    assert Settings.from_sources().database_url == "sqlite:////data/my%20100%25%20memory.db"


def test_a_variable_that_is_empty_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_EXACT_UP_TO", "")
    assert Settings.from_sources().exact_up_to == 30_000


def test_a_folder_given_in_a_call_does_not_lose_to_a_database_in_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://elsewhere/app")
    assert Settings.from_sources().database_url == "postgresql://elsewhere/app"
    given = Settings.from_sources(home=folder / "memory")
    assert (given.home, given.database_url) == (folder / "memory", None)


def test_files_beside_a_database_that_is_named_are_where_the_environment_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMONPLACE_HOME", "/data")
    monkeypatch.setenv("DATABASE_URL", "postgresql://elsewhere/app")
    given = Settings.from_sources(database_url="postgresql://server/memory")
    assert (given.home, given.database_url) == (Path("/data"), "postgresql://server/memory")


def test_a_database_and_a_folder_of_one_source_both_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://server/memory")
    monkeypatch.setenv("COMMONPLACE_HOME", "/data")
    settings = Settings.from_sources()
    assert (settings.home, settings.database_url) == (Path("/data"), "postgresql://server/memory")


def test_the_default_folder_is_in_the_users_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings.from_sources().home == folder / "home" / ".commonplace"
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    assert Settings.from_sources().home == folder / "data" / "commonplace"


def test_a_folder_that_is_there_stays_the_default(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "home" / ".commonplace").mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    assert Settings.from_sources().home == folder / "home" / ".commonplace"


def test_a_tilde_is_the_users_own_folder(folder: Path) -> None:
    assert Settings.from_sources(home="~/notes").home == folder / "home" / "notes"


def test_a_file_with_a_memory_section_is_read_as_it_stands(folder: Path) -> None:
    (folder / "agent.yaml").write_text(AS_IT_STANDS)
    settings = Settings.from_sources(settings_file="agent.yaml")
    expected = {
        "settings_file": Path("agent.yaml"),
        "database_url": "sqlite:///./data/agent.db",
        "synchronous": "NORMAL",
        "busy_timeout": 5.0,
        "sqlite_pragmas": {"cache_size": "-64000"},
        "chroma_collection": "agent_memory",
        "chroma_path": Path("data/chroma"),
        "embedding_model": "all-MiniLM-L6-v2",
        "redis_url": "redis://cache.internal:6380/0",
        "session_ttl": 3600.0,
    }
    assert settings.model_dump(include=settings.model_fields_set) == expected


def test_the_file_may_be_named_in_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "agent.yaml").write_text("memory: {chroma: {host: vectors.internal}}")
    monkeypatch.setenv("COMMONPLACE_SETTINGS_FILE", "agent.yaml")
    assert Settings.from_sources().chroma_url == "http://vectors.internal:8000"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rings: 5", "unknown key in commonplace.yaml: 'rings'; the nearest known one is 'ring'"),
        ("memory: {sqlit: {}}", "unknown key in memory: 'sqlit'; the nearest known one is 'sqlite'"),
        ("memory: {redis: {tll: 5}}", "unknown key in memory.redis: 'tll'; the nearest known one is 'ttl'"),
        ("memory: {sqlite: {pragmas: {cache: 1}}}", "'cache'; the nearest known one is 'cache_size'"),
        ("memory: {sqlite: {pragmas: {journal_mode: DELETE}}}", "journal_mode='DELETE': expected wal"),
        ("memory: {sqlite: {pragmas: {temp_store: FILE}}}", "temp_store='FILE': expected memory"),
        ("memory: {sqlite: {pragmas: {busy_timeout: soon}}}", "busy_timeout='soon': expected milliseconds"),
        ("memory: {sqlite: {pragmas: {synchronous: off}}}", "synchronous=False: expected 'FULL' or 'NORMAL'"),
        ("database_url: sqlite:///a\nmemory: {sqlite: {database: b}}", "'database_url' and the memory section"),
        ("memory: sqlite", "memory: expected names with values, got 'sqlite'"),
        ("- ring", "commonplace.yaml: expected names with values"),
        ("ring: [", "settings_file='commonplace.yaml': cannot be read"),
        ("ring: often", "ring='often': expected a valid integer"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(text: str, complaint: str, folder: Path) -> None:
    (folder / "commonplace.yaml").write_text(text)
    with pytest.raises(InvalidInput) as refused:
        Settings.from_sources()
    assert complaint in str(refused.value)


def test_a_file_that_was_asked_for_must_be_there() -> None:
    with pytest.raises(InvalidInput, match=r"settings_file='missing\.yaml': cannot be read"):
        Settings.from_sources(settings_file="missing.yaml")


def test_an_unknown_variable_of_ours_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_text("SOMEBODY_ELSES=1\nCOMMONPLACE_EXACT_UPTO=1")
    with pytest.raises(InvalidInput, match="unknown variable in .env: 'COMMONPLACE_EXACT_UPTO'; .*_EXACT_UP_TO'"):
        Settings.from_sources()
    monkeypatch.setenv("COMMONPLACE_HOMES", "x")
    with pytest.raises(InvalidInput, match="unknown variable in the environment: .*'COMMONPLACE_HOME'"):
        Settings.from_sources()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"exact_upto": 0}, "unknown setting: 'exact_upto'; the nearest known one is 'exact_up_to'"),
        ({"exact_up_to": -1}, "exact_up_to=-1: expected greater than or equal to 0"),
        ({"index": "fass"}, "index='fass': expected 'auto', 'exact', 'chroma', 'pgvector', 'qdrant' or 'milvus'"),
        ({"sqlite_pragmas": {"cache_size": "1; drop table fact"}}, "sqlite_pragmas.cache_size='1; drop table fact'"),
        ({"sqlite_pragmas": "journal_mode=OFF"}, "unknown pragma: 'journal_mode'"),
        ({"embedding_models": "acme"}, "embedding_models.acme='': expected `local` or provider:model"),
        ({"embedding_models": "=local"}, "expected a tenant, or tenant/user"),
        ({"api_limit_read": "often"}, "api_limit_read='often': expected a number and a time, as 100/minute"),
        ({"proxy_openai_url": "api.openai.com"}, "expected an address that begins with http:// or https://"),
        ({"language": "English"}, "language='English': expected an ISO 639 code, as en"),
        ({"chroma_collection": "a b"}, "chroma_collection='a b': expected letters, digits"),
        ({"weight_relevance": 0, "weight_importance": 0, "weight_recency": 0}, "all 0: expected one above 0"),
    ],
)
def test_a_wrong_argument_is_named_with_what_was_expected(given: dict[str, object], complaint: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Settings.from_sources(**given)
    assert complaint in str(refused.value)


def test_keys_and_passwords_are_not_shown() -> None:
    shown = repr(
        Settings.from_sources(
            openai_api_key="hush-1", database_url="postgresql://u:hush-2@h/d", redis_url="redis://:hush-3@h"
        )
    )
    assert "hush" not in shown


def shown_default(name: str, field: FieldInfo) -> str:
    if name in {"home", "model_cache"}:
        return {"home": "`~/.commonplace`", "model_cache": "`~/.cache/commonplace`"}[name]
    return (
        ""
        if field.default in (None, {}, ())
        else f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"
    )


def row(name: str, field: FieldInfo) -> str:
    """Return the line that docs/settings.md must have for a setting."""
    variables = [
        f"{PREFIX}{name.upper()}",
        *(other for other, (setting, _) in ALSO_ACCEPTED.items() if setting == name),
    ]
    reserved = " *Reserved.*" if field.json_schema_extra else ""
    named = ", ".join(f"`{variable}`" for variable in variables)
    return f"| `{name}` | {named} | {shown_default(name, field)} | {field.description}{reserved} |"


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_documented_as_it_is(name: str) -> None:
    assert row(name, Settings.model_fields[name]) in PAGE.read_text().splitlines()


def test_no_setting_is_documented_that_is_not_there() -> None:
    documented = [line.split("`")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert sorted(documented) == sorted(Settings.model_fields)
