"""Everything that can be set, read once: arguments, then the environment, then `.env`, then a YAML file, then defaults.

No other module looks at the environment. A name that nobody knows is an error here, never a silent default.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote

import yaml
from pydantic import BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, DotEnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from commonplace.care_settings import CareSettings
from commonplace.domain.errors import InvalidInput
from commonplace.index_settings import IndexSettings
from commonplace.service_settings import ServiceSettings
from commonplace.setting_types import Place, fitting
from commonplace.shared_settings import SharedSettings

PREFIX = "COMMONPLACE_"
SETTINGS_FILE = "commonplace.yaml"
"""Read from the current folder when no other file is named."""

PASSED_ON = ("cache_size", "mmap_size", "wal_autocheckpoint")
"""The pragmas of SQLite that may be set: none of them can lose data or leave some behind."""

Values = dict[str, Any]
RESERVED: Values = {"reserved": True}
"""Accepted, so that a configuration can be complete, but not used by this version."""


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _pragmas(value: object) -> object:
    """Take `cache_size=-64000,mmap_size=0` too, which is what fits into a variable."""
    pairs = value.split(",") if isinstance(value, str) else None
    pragmas = dict(pair.strip().partition("=")[::2] for pair in pairs) if pairs else value
    if isinstance(pragmas, Mapping):
        _refuse_unknown(map(str, pragmas), known=PASSED_ON, what="pragma")
    return pragmas


Pragma = Annotated[str, Field(coerce_numbers_to_str=True), fitting("-?[0-9A-Za-z]+", "a number or a word")]
Language = Annotated[str, fitting("[a-z]{2,3}", "an ISO 639 code, as en")]
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(ge=1)]


def default_home() -> Path:
    """A folder that is there already stays the default, even if XDG_DATA_HOME is set later."""
    home, data = Path.home() / ".commonplace", os.environ.get("XDG_DATA_HOME")
    return Path(data) / "commonplace" if data and not home.exists() else home


def default_model_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "commonplace"


class Settings(CareSettings, IndexSettings, ServiceSettings, SharedSettings):
    """One frozen value. Build it with `from_sources`, which turns every mistake into InvalidInput."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_file=".env",
        env_ignore_empty=True,
        case_sensitive=True,
        protected_namespaces=(),
    )

    home: Place = Field(default_factory=default_home, description="The memory folder.")
    database_url: str | None = Field(
        None,
        repr=False,
        description="The ledger, as `sqlite:///…` or `postgresql://…`. Unset: a SQLite file in `home`.",
    )
    tenant: str = Field("default", min_length=1, description="Whose memories these are, above the user.")
    settings_file: Place | None = Field(
        None, description="The YAML file to read. Unset: `commonplace.yaml` in the current folder, if there is one."
    )

    learn: bool = Field(True, description="Learn facts from what the user says.")
    language: Language = Field("en", description="The language of the words to stem, as an ISO 639 code.")
    max_active_memories: Positive | None = Field(
        None, description="Most facts a user may have at a time.", json_schema_extra=RESERVED
    )

    embedding_provider: str = Field(
        "local", description="Who makes the vectors: `local`, or a service as `openai`, `cohere`, `google`."
    )
    embedding_model: str = Field("all-MiniLM-L6-v2", description="The embedding model's name.")
    embedding_base_url: str | None = Field(
        None,
        repr=False,
        description="A server of one's own with the protocol of `cohere` or `google`, else of OpenAI.",
    )
    embedding_dimensions: Positive | None = Field(
        None, description="Numbers in a hosted vector; a service that can shortens it. Unset: the model's own."
    )
    model_path: Place | None = Field(None, description="A folder with the embedding model. Unset: it is looked for.")
    model_cache: Place = Field(default_factory=default_model_cache, description="Where a fetched model is kept.")
    embed_threads: Positive = Field(1, description="Threads that compute one batch of embeddings.")
    replace_vectors: bool = Field(
        False, description="Open a memory made with another embedding model, and make its vectors anew."
    )

    synchronous: Annotated[Literal["FULL", "NORMAL"], BeforeValidator(_upper)] = Field(
        "FULL", description="SQLite: `NORMAL` writes faster, and a power cut can lose the last writes."
    )
    busy_timeout: float = Field(30.0, ge=0, description="Seconds to wait while another process writes.")
    sqlite_pragmas: Annotated[Mapping[str, Pragma], BeforeValidator(_pragmas)] = Field(
        {},
        description="SQLite: `cache_size`, `mmap_size` and `wal_autocheckpoint`, as `cache_size=-64000`.",
    )

    weight_relevance: Share = Field(0.5, description="What relevance counts in the order of results.")
    weight_importance: Share = Field(0.3, description="What importance counts.")
    weight_recency: Share = Field(0.2, description="What recency counts.")
    recency_half_life_days: float = Field(30.0, gt=0, description="Days after which recency counts half.")
    min_relevance: Share | None = Field(
        None, description="What is less relevant is not returned. Unset: the built-in threshold."
    )
    rerank: str | None = Field(None, repr=False, description="A reranker: a model's folder, or the URL of a service.")
    rerank_key: SecretStr | None = Field(None, description="The key for that service.")
    rerank_model: str | None = Field(None, description="The model to ask that service for.")

    session_ttl: float = Field(86_400.0, gt=0, description="Seconds that the state of a session is kept after its use.")
    ring: Positive = Field(100, description="How many of its last messages a session gives at once.")

    agent_model: str | None = Field(
        None,
        description="The language model to chat and learn with, as `openai:…`, `anthropic:…`. Unset: by rules.",
    )
    agent_base_url: str | None = Field(
        None,
        repr=False,
        description="A server of one's own that speaks the protocol of that provider.",
    )
    agent_temperature: float | None = Field(
        None, ge=0, le=2, description="The language model's temperature. Unset: its own default."
    )
    agent_timeout: float = Field(
        60.0, gt=0, description="Seconds to wait for an answer of a language or a hosted embedding model."
    )
    agent_retries: int = Field(2, ge=0, le=10, description="How often it is asked again; `Retry-After` is kept.")
    agent_max_tokens: Positive = Field(
        1_000, description="Most tokens of one answer: a small model that loses the thread would go on for ever."
    )
    summarise_after: int = Field(4_000, ge=0, description="Past so many tokens a session's older part is summarised.")
    summary_tokens: Positive = Field(300, description="About how many tokens a summary has.")
    tokenizer: Place | None = Field(None, description="The language model's `tokenizer.json`. Unset: a high estimate.")
    learning_concurrency: Positive = Field(4, description="How many messages are learned from at once with a model.")
    learning_attempts: Positive = Field(
        5, description="How often learning from a message is tried before it is given up."
    )
    learning_retry_delay: float = Field(
        1.0, gt=0, description="Seconds before learning from a message is tried again; doubled each time."
    )
    learning_lease: float = Field(60.0, gt=0, description="Seconds until a job of a killed process goes to another.")
    learning_tokens_per_day: int | None = Field(
        None, ge=0, description="Tokens that a tenant's learning may use in a day (UTC). Unset: no limit."
    )
    model_prices: str | None = Field(
        None,
        description="What a million tokens cost, read and written, as `openai:gpt-4o-mini=0.15/0.60, …`. "
        "Unset: tokens are counted, their cost is not.",
    )
    openai_api_key: SecretStr | None = Field(None, description="The key for OpenAI.")
    anthropic_api_key: SecretStr | None = Field(None, description="The key for Anthropic.")
    google_api_key: SecretStr | None = Field(None, description="The key for the Gemini API.")
    cohere_api_key: SecretStr | None = Field(None, description="The key for Cohere.")

    @classmethod
    def from_sources(cls, **overrides: object) -> Self:
        """Read all sources; what is given here wins. Raises InvalidInput that names the wrong name or value."""
        _refuse_unknown(overrides, known=cls.model_fields, what="setting")
        try:
            return cls(**overrides)  # type: ignore[arg-type]  # pydantic checks each value below
        except ValidationError as error:
            raise InvalidInput("; ".join(_explained(error))) from None

    @model_validator(mode="after")
    def _something_orders_the_results(self) -> Self:
        if self.weight_relevance + self.weight_importance + self.weight_recency == 0:
            raise ValueError("weight_relevance, weight_importance and weight_recency are all 0: expected one above 0")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        assert isinstance(dotenv_settings, DotEnvSettingsSource)
        return (
            init_settings,
            _Source(settings_cls, lambda _: from_variables(os.environ, origin="the environment")),
            _Source(settings_cls, lambda _: from_variables(dotenv_settings.env_vars, origin=".env")),
            _Source(settings_cls, lambda above: from_yaml(above.get("settings_file"))),
        )


class _Source(PydanticBaseSettingsSource):
    """Gives what `read` finds, which is told what the sources above have said."""

    def __init__(self, settings_cls: type[BaseSettings], read: Callable[[Values], Values]) -> None:
        super().__init__(settings_cls)
        self._read = read

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        raise NotImplementedError  # the whole source is read at once

    def __call__(self) -> Values:
        found = self._read(self.current_state)
        if {"home", "database_url"} & self.current_state.keys():
            # Where the ledger is, is one decision: a folder named in a call must not lose to a DATABASE_URL that
            # happens to be in the environment.
            return {name: value for name, value in found.items() if name != "database_url"}
        return found


def _sqlite_url(path: str) -> str:
    return f"sqlite:///{quote(os.path.expanduser(path))}"


ALSO_ACCEPTED: Mapping[str, tuple[str, Callable[[str], str]]] = {
    "AGENT_MODEL": ("agent_model", str),
    "AGENT_TEMPERATURE": ("agent_temperature", str),
    "ANTHROPIC_API_KEY": ("anthropic_api_key", str),
    "API_PORT": ("api_port", str),
    "COHERE_API_KEY": ("cohere_api_key", str),
    "CO_API_KEY": ("cohere_api_key", str),
    "DATABASE_URL": ("database_url", str),
    "DB_PATH": ("database_url", _sqlite_url),
    "EMBEDDING_MODEL": ("embedding_model", str),
    "EMBEDDING_PROVIDER": ("embedding_provider", str),
    "GEMINI_API_KEY": ("google_api_key", str),
    "GOOGLE_API_KEY": ("google_api_key", str),
    "MAX_ACTIVE_MEMORIES": ("max_active_memories", str),
    "OPENAI_API_KEY": ("openai_api_key", str),
    "REDIS_URL": ("redis_url", str),
    "RETENTION_DAYS": ("retention_days", str),
    "S3_BUCKET": ("s3_bucket", str),
    "SNAPSHOT_INTERVAL": ("snapshot_interval", str),
    "SQL_PATH": ("database_url", _sqlite_url),
    "VECTOR_STORE_DIR": ("chroma_path", str),
}
"""Names that other programs use. Our own name wins where both are set; of two others, the first in this list."""


def from_variables(variables: Mapping[str, str | None], *, origin: str) -> Values:
    """Return the settings among these variables. An empty one counts as not set."""
    given = {name: value for name, value in variables.items() if value}
    own = {_variable(name): name for name in Settings.model_fields}
    _refuse_unknown((name for name in given if name.startswith(PREFIX)), known=own, what=f"variable in {origin}")
    found: Values = {}
    for name, (setting, convert) in ALSO_ACCEPTED.items():
        if name in given:
            found.setdefault(setting, convert(given[name]))
    return found | {own[name]: value for name, value in given.items() if name in own}


def _variable(setting: str) -> str:
    return PREFIX + setting.upper()


def from_yaml(path: object) -> Values:
    """Return the settings of a YAML file: ours by name, and those of a `memory:` section."""
    file = Path(SETTINGS_FILE if path is None else os.path.expanduser(str(path)))
    if path is None and not file.is_file():
        return {}
    try:
        content = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidInput(f"settings_file={str(file)!r}: cannot be read: {error}") from error
    values = dict(_mapping({} if content is None else content, where=str(file)))
    memory = from_memory_section(_mapping(values.pop("memory", None) or {}, where="memory"))
    known = [name for name in Settings.model_fields if name != "settings_file"]
    _refuse_unknown(values, known=[*known, "memory"], what=f"key in {file}")
    if twice := sorted(values.keys() & memory.keys()):
        raise InvalidInput(f"{file}: {twice[0]!r} and the memory section say the same thing; keep one of them")
    return values | memory


SECTIONS = {
    "sqlite": ("database", "pragmas"),
    "chroma": ("collection", "persist_directory", "embedding_model", "host", "port"),
    "redis": ("host", "port", "ttl", "database"),
}


def from_memory_section(memory: Mapping[str, object]) -> Values:
    _refuse_unknown(memory, known=SECTIONS, what="key in memory")
    sections = {name: _mapping(memory.get(name) or {}, where=f"memory.{name}") for name in SECTIONS}
    for name, section in sections.items():
        _refuse_unknown(section, known=SECTIONS[name], what=f"key in memory.{name}")
    sqlite, chroma, redis = (sections[name] for name in SECTIONS)
    found: Values = {
        "chroma_collection": chroma.get("collection"),
        "chroma_path": chroma.get("persist_directory"),
        "embedding_model": chroma.get("embedding_model"),
        "session_ttl": redis.get("ttl"),
    }
    if database := sqlite.get("database"):
        found["database_url"] = database if "://" in str(database) else _sqlite_url(str(database))
    if "host" in chroma or "port" in chroma:
        found["chroma_url"] = f"http://{_address(chroma, port=8000)}"
    if "host" in redis or "port" in redis:
        found["redis_url"] = f"redis://{_address(redis, port=6379)}/{redis.get('database', 0)}"
    found |= from_pragmas(_mapping(sqlite.get("pragmas") or {}, where="memory.sqlite.pragmas"))
    return {name: value for name, value in found.items() if value is not None}


ALWAYS = {
    "journal_mode": {"wal"},
    "foreign_keys": {"on", "true", "1"},
    "secure_delete": {"on", "true", "1"},
    "temp_store": {"memory", "2"},
}
LEVELS: Mapping[object, str] = {1: "NORMAL", "1": "NORMAL", 2: "FULL", "2": "FULL"}


def from_pragmas(pragmas: Mapping[str, object]) -> Values:
    known = [*ALWAYS, *PASSED_ON, "synchronous", "busy_timeout"]
    _refuse_unknown(pragmas, known=known, what="key in memory.sqlite.pragmas")
    for name, allowed in ALWAYS.items():
        if name in pragmas and str(pragmas[name]).lower() not in allowed:
            raise InvalidInput(
                f"memory.sqlite.pragmas.{name}={pragmas[name]!r}: expected {max(allowed)}; it is always so"
            )
    found: Values = {}
    if "synchronous" in pragmas:
        level = pragmas["synchronous"]
        found["synchronous"] = LEVELS.get(level, level)
    if "busy_timeout" in pragmas:
        found["busy_timeout"] = _milliseconds(pragmas["busy_timeout"])
    if passed_on := {name: pragmas[name] for name in PASSED_ON if name in pragmas}:
        found["sqlite_pragmas"] = passed_on
    return found


def _milliseconds(value: object) -> float:
    try:
        return float(str(value)) / 1000
    except ValueError:
        raise InvalidInput(f"memory.sqlite.pragmas.busy_timeout={value!r}: expected milliseconds") from None


def _address(section: Mapping[str, object], *, port: int) -> str:
    return f"{quote(str(section.get('host', 'localhost')), safe='[]:')}:{section.get('port', port)}"


def _mapping(value: object, *, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidInput(f"{where}: expected names with values, got {value!r}")
    return value


def _refuse_unknown(names: Iterable[str], *, known: Iterable[str], what: str) -> None:
    choices = list(known)
    for name in names:
        if name not in choices:
            near = get_close_matches(name, choices, n=1, cutoff=0)
            raise InvalidInput(f"unknown {what}: {name!r}; the nearest known one is {near[0]!r}")


def _explained(error: ValidationError) -> Iterable[str]:
    for problem in error.errors(include_url=False, include_context=False):
        name = ".".join(map(str, problem["loc"]))
        message = problem["msg"].removeprefix("Value error, ")
        expected = message.replace("Input should be", "expected", 1)
        yield f"{name}={problem['input']!r}: {expected}" if name else expected
