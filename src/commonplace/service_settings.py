"""The settings of the HTTP service, apart from those of the memory behind it."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode

from commonplace.setting_types import fitting

Rate = Annotated[str, fitting("[1-9][0-9]{0,8}/(second|minute|hour|day)", "a number and a time, as 100/minute")]
Address = Annotated[str, fitting("https?://.*", "an address that begins with http:// or https://")]


def _listed(value: object) -> object:
    """Take `a, b` too, which is what fits into a variable."""
    return [part for part in re.split(r"[,\s]+", value) if part] if isinstance(value, str) else value


class ServiceSettings(BaseSettings):
    api_host: str = Field(
        "127.0.0.1",
        min_length=1,
        description="The address the service listens on. One that others can reach needs a key (`commonplace key`).",
    )
    api_port: int = Field(8000, ge=0, le=65_535, description="The port of the service. 0: any that is free.")
    api_workers: int = Field(
        1, ge=1, le=256, description="How many processes serve, on one port. SIGHUP replaces them one by one."
    )
    api_cors_origins: Annotated[Sequence[str], NoDecode, BeforeValidator(_listed)] = Field(
        (), description="Sites whose pages may call the service, as `https://a.example, https://b.example`."
    )
    api_max_body: int = Field(4_000_000, ge=1, description="Most bytes of a request.")
    api_timeout: float = Field(60.0, gt=0, description="Seconds a request may take until its answer begins.")
    api_max_import: int = Field(100_000_000, ge=1, description="Most bytes of a file that is imported in one request.")
    api_import_timeout: float = Field(600.0, gt=0, description="Seconds such a request may take.")
    api_grace: float = Field(
        10.0, ge=0, description="Seconds that requests under way are given to finish when the service is told to end."
    )
    api_limit_read: Rate = Field("6000/minute", description="How often a key may read.")
    api_limit_write: Rate = Field("3000/minute", description="How often a key may write.")
    api_limit_costly: Rate = Field("120/minute", description="How often a key may chat, export, forget, or look after.")
    proxy_openai_url: Address = Field("https://api.openai.com/v1", description="What `/openai/v1` stands before.")
    proxy_anthropic_url: Address = Field("https://api.anthropic.com", description="What `/anthropic` stands before.")
    proxy_budget: int = Field(800, ge=1, le=1_000_000, description="Most tokens of memory in a request to a model.")
    proxy_timeout: float = Field(600.0, gt=0, description="Seconds a model behind a proxy may take.")
    proxy_max_body: int = Field(50_000_000, ge=1, description="Most bytes of a request to a model: images are large.")
