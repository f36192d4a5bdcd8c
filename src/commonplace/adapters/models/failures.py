"""What went wrong with a model, in our words. Others' words are left out: they may quote what the user said."""

from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelHTTPError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelTimeoutError,
    RunTimedOut,
    UnexpectedModelBehavior,
)
from pydantic_ai.usage import RunUsage

from commonplace.domain.errors import CommonplaceError, ModelRefused, ModelUnavailable, UnreadableReply
from commonplace.domain.usage import Usage

TOO_LATE = (ModelTimeoutError, ModelRequestTimeout, RunTimedOut)


def failure(error: AgentRunError, *, name: str) -> CommonplaceError:
    """Return what to raise for a failed run of the model called `name`."""
    if isinstance(error, ContentFilterError):
        return ModelRefused(f"{name} declined to answer this")
    if isinstance(error, UnexpectedModelBehavior):
        return UnreadableReply(f"{name} gave an answer that cannot be used: {_unusable(error)}")
    if isinstance(error, TOO_LATE):
        return ModelUnavailable(f"{name} did not answer in time")
    status = f" with status {error.status_code}" if isinstance(error, ModelHTTPError) else ""
    kind = type(error).__name__.removeprefix("_HTTP")
    if isinstance(error, ModelRequestRejectedError):
        return ModelRefused(f"{name} refused the request{status}: {kind}")
    if isinstance(error, ModelAPIError) and error.in_stream:
        return ModelUnavailable(f"{name} broke off in the middle of its answer{status}: {kind}")
    wait = error.retry_after if isinstance(error, ModelAPIError) else None
    return ModelUnavailable(f"{name} did not answer{status}: {kind}", retry_after=wait)


def _unusable(error: UnexpectedModelBehavior) -> str:
    """Its message may quote the answer, so only what kind of trouble it was is told."""
    told = str(error).lower()
    if "tool" in told:
        return "it called a tool in a way that does not exist"
    return "it is empty" if "empty" in told else "it is not what the protocol says"


def usage_of(spent: RunUsage) -> Usage:
    return Usage(requests=spent.requests, input_tokens=spent.input_tokens, output_tokens=spent.output_tokens)
