"""The interaction form with the real SDKs over the real wires: openai and anthropic, blocking and async, streamed."""

from collections.abc import Iterator

import anthropic
import openai
import pytest

from commonplace import AsyncMemory, InvalidInput, Memory, ModelUnavailable
from commonplace.agents import AsyncInteractions, Interactions
from tests.agents.wire import BreakOff, Fail, Service, service
from tests.learning.test_stories import apart

KINDS = ["openai", "anthropic"]
TOLD, ASKED = "I use Shram and Magnet as productivity tools", "Which tools do I use?"


@pytest.fixture
def spoken() -> Iterator[Service]:
    with service() as spoken:
        yield spoken


def blocking(kind: str, spoken: Service) -> openai.OpenAI | anthropic.Anthropic:
    if kind == "openai":
        return openai.OpenAI(api_key="k", base_url=f"{spoken.url}/v1", max_retries=0)
    return anthropic.Anthropic(api_key="k", base_url=spoken.url, max_retries=0)


def awaited(kind: str, spoken: Service) -> openai.AsyncOpenAI | anthropic.AsyncAnthropic:
    if kind == "openai":
        return openai.AsyncOpenAI(api_key="k", base_url=f"{spoken.url}/v1", max_retries=0)
    return anthropic.AsyncAnthropic(api_key="k", base_url=spoken.url, max_retries=0)


@pytest.mark.parametrize("kind", KINDS)
def test_blocking_it_answers_streams_and_keeps_both_sides(kind: str, spoken: Service) -> None:
    with Memory.ephemeral(embedder=apart) as memory, blocking(kind, spoken) as client:
        talk = Interactions(memory, client, model="m", user="u1", session="s")
        talk.store_interaction(TOLD, "Good choice.", {"topic": "work"})
        assert "Shram" in " ".join(item.text for item in talk.relevant_context(ASKED, 3))
        reply, prompt = talk.respond(ASKED, "Be brief.")
        assert reply == "You use Shram and Magnet."
        assert prompt.startswith("Be brief.\n\n<memory>")
        assert "".join(talk.stream(ASKED, "Be brief.")) == reply
        assert talk.last is not None and talk.last.reply == reply
        assert [one.role for one in memory.messages(user="u1", session="s")] == ["user", "assistant"] * 3
        assert spoken.asked[-1].system.strip() == talk.last.prompt


@pytest.mark.parametrize("kind", KINDS)
async def test_async_it_does_the_same(kind: str, spoken: Service) -> None:
    async with AsyncMemory.ephemeral(embedder=apart) as memory, awaited(kind, spoken) as client:
        talk = AsyncInteractions(memory, client, model="m", user="u1", session="s")
        await talk.store_interaction(TOLD, "Good choice.")
        assert len(await talk.relevant_context(ASKED, 2)) == 2
        reply, _ = await talk.respond(ASKED)
        assert [piece async for piece in talk.stream(ASKED)] == ["You ", "use ", "Shram ", "and ", "Magnet."]
        assert talk.last is not None and talk.last.reply == reply


@pytest.mark.parametrize("kind", KINDS)
def test_what_fails_keeps_the_users_message_alone(kind: str, spoken: Service) -> None:
    with Memory.ephemeral(embedder=apart) as memory, blocking(kind, spoken) as client:
        talk = Interactions(memory, client, model="m", user="u1")
        spoken.script = lambda asked: Fail(500)
        with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)):
            talk.respond("Hello one")
        spoken.script = lambda asked: BreakOff("Half of")
        with pytest.raises(ModelUnavailable, match="broke off"):
            list(talk.stream("Hello two"))
        assert [(one.role, one.text) for one in memory.messages(user="u1")] == [
            ("user", "Hello one"),
            ("user", "Hello two"),
        ]


def test_something_that_is_no_client_is_refused_and_nothing_is_kept() -> None:
    with Memory.ephemeral(embedder=apart) as memory:
        with pytest.raises(InvalidInput, match="expected a client of the openai or the anthropic SDK"):
            Interactions(memory, object()).respond("Hello")
        assert list(memory.messages()) == []
