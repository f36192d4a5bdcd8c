"""How a hosted model is reached: its address and the keys of the settings."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import SecretStr

    from commonplace.adapters.models.reaching import Access
    from commonplace.settings import Settings


def access_to(settings: "Settings", *, url: str | None, retries: int) -> "Access":
    from commonplace.adapters.models.reaching import Access

    keys = {
        "anthropic": secret(settings.anthropic_api_key),
        "cohere": secret(settings.cohere_api_key),
        "google": secret(settings.google_api_key),
        "openai": secret(settings.openai_api_key),
    }
    return Access(base_url=url, keys=keys, retries=retries, timeout=settings.agent_timeout)


def secret(value: "SecretStr | None") -> str | None:
    return None if value is None else value.get_secret_value()
