"""The settings of vector search: who answers, and where the indexes are."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings

from commonplace.setting_types import Place, fitting

IndexName = Literal["chroma", "pgvector", "qdrant", "milvus"]


def _by_namespace(value: object) -> object:
    """Take `acme=openai:…, acme/ana=local` too, which is what fits into a variable."""
    pairs = [pair.strip().partition("=")[::2] for pair in value.split(",")] if isinstance(value, str) else None
    return value if pairs is None else {name.strip(): model.strip() for name, model in pairs}


Namespace = Annotated[str, fitting("[^/]+(/.*)?", "a tenant, or tenant/user")]
ModelName = Annotated[str, fitting("local|[^:]+:.+", "`local` or provider:model, as openai:text-embedding-3-large")]
CollectionName = Annotated[
    str, fitting("[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}", "letters, digits, '.', '_' and '-', at most 128")
]


class IndexSettings(BaseSettings):
    embedding_models: Annotated[Mapping[Namespace, ModelName], BeforeValidator(_by_namespace)] = Field(
        {},
        description="Embedding models that tenants or users have of their own, as "
        "`acme=openai:text-embedding-3-large, acme/ana=local`.",
    )
    index: Literal["auto", "exact", "chroma", "pgvector", "qdrant", "milvus"] = Field(
        "auto",
        description="What searches vectors: `exact` search, an index by its name for everybody, or `auto`: the one of "
        "`index_beyond` where a user has more than `exact_up_to` items.",
    )
    index_beyond: IndexName = Field(
        "chroma", description="The index of `auto`: `chroma`, `pgvector`, `qdrant` or `milvus`."
    )
    exact_up_to: int = Field(30_000, ge=0, description="Up to how many candidates `auto` searches exactly.")
    cache_bytes: int = Field(2**30, ge=0, description="Most RAM for the matrices of users that were searched lately.")
    chroma_url: str | None = Field(
        None, repr=False, description="A Chroma server, as `http://host:port`. Unset: Chroma runs in this process."
    )
    chroma_token: SecretStr | None = Field(None, description="What that server is shown, as a bearer token.")
    chroma_ca_file: Place | None = Field(
        None, description="Certificates that vouch for an `https://` server. Unset: those that the system trusts."
    )
    chroma_path: Place | None = Field(
        None, description="The folder of the Chroma in this process. Unset: `chroma` in `home`."
    )
    chroma_collection: CollectionName | None = Field(
        None, description="What the names of collections begin with, for a Chroma server that others use too."
    )
    pgvector_url: str | None = Field(
        None, repr=False, description="The database of the index `pgvector`. Unset: that of `database_url`."
    )
    pgvector_graph_from: int = Field(
        50_000, ge=0, description="Rows of a user from which on pgvector searches by a graph (HNSW) of its own."
    )
    qdrant_url: str | None = Field(
        None, repr=False, description="The server of the index `qdrant`, as `http://host:port`."
    )
    qdrant_key: SecretStr | None = Field(None, description="The key for that server.")
    qdrant_ca_file: Place | None = Field(
        None, description="Certificates that vouch for an `https://` server. Unset: those that the system trusts."
    )
    milvus_url: str | None = Field(
        None,
        repr=False,
        description="The server of the index `milvus`, as `http://host:port` or `http://host:port/database`.",
    )
    milvus_token: SecretStr | None = Field(None, description="What that server is shown: a key, or `user:password`.")
    milvus_ca_file: Place | None = Field(
        None, description="Certificates that vouch for an `https://` server. Unset: those that gRPC brings with it."
    )
