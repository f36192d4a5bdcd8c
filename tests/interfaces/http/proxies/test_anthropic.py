"""The anthropic SDK, pointed at the proxy: it works as before, and the app has a memory."""

from typing import Any

import anthropic
import pytest
from anthropic.types import MessageParam, TextBlock, ToolParam, ToolUseBlock

from tests.agents import wire
from tests.interfaces.http.proxies.conftest import QUESTION, TOOLS, Serve


def user(text: str) -> list[MessageParam]:
    return [{"role": "user", "content": text}]


async def test_what_was_said_is_known_in_the_next_conversation(serve: Serve) -> None:
    async with serve() as proxied:
        app = proxied.anthropic()
        ana: Any = {"model": "claude", "max_tokens": 100, "metadata": {"user_id": "ana"}}
        await app.messages.create(messages=user(TOOLS), **ana)
        reply = await app.messages.create(messages=user(QUESTION), system="Be brief.", **ana)
        assert isinstance(reply.content[0], TextBlock)
        assert reply.content[0].text == "You use Shram and Magnet."
        system = proxied.behind.asked[-1].body["system"]
        assert system[0] == {"type": "text", "text": "Be brief."}
        assert len(system) == 2
        assert await proxied.said("ana") == [
            ("user", TOOLS),
            ("assistant", "Understood."),
            ("user", QUESTION),
            ("assistant", "You use Shram and Magnet."),
        ]


async def test_a_stream_is_passed_on_byte_for_byte_and_kept(serve: Serve) -> None:
    async with serve() as proxied:
        await proxied.memory.add(TOOLS, user="ana")
        body = {
            "model": "claude",
            "max_tokens": 100,
            "messages": user(QUESTION),
            "stream": True,
            "metadata": {"user_id": "ana"},
        }
        answer = await proxied.post("/anthropic/v1/messages?beta=true", body)
        events = wire.STREAMS["/messages"](body, wire.Say("You use Shram and Magnet."))
        assert answer.content == "".join(events).encode()
        assert (await proxied.said("ana"))[-1] == ("assistant", "You use Shram and Magnet.")
        async with proxied.anthropic().messages.stream(
            model="claude", max_tokens=100, messages=user("And again?"), metadata={"user_id": "ana"}
        ) as stream:
            text = "".join([piece async for piece in stream.text_stream])
        assert (await proxied.said("ana"))[-1] == ("assistant", text)


async def test_tools_pass_and_their_results_are_not_taken_for_the_users_words(serve: Serve) -> None:
    script = wire.one_after_another([wire.Call("weather", '{"city": "Oslo"}'), wire.Say("It rains.")])
    tool: ToolParam = {"name": "weather", "input_schema": {"type": "object"}}
    async with serve(script) as proxied:
        app = proxied.anthropic(default_headers={"X-Commonplace-User": "ana"})
        messages: list[Any] = user("What is the weather in Oslo?")
        asked = await app.messages.create(model="claude", max_tokens=100, messages=messages, tools=[tool])
        call = asked.content[0]
        assert isinstance(call, ToolUseBlock)
        messages.append({"role": "assistant", "content": [call.model_dump(exclude_none=True)]})
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "rain, as I live in Rome"}
        messages.append({"role": "user", "content": [result]})
        await app.messages.create(model="claude", max_tokens=100, messages=messages, tools=[tool])
        assert await proxied.said("ana") == [("user", "What is the weather in Oslo?"), ("assistant", "It rains.")]


async def test_an_error_of_the_service_behind_is_passed_through(serve: Serve) -> None:
    async with serve(lambda asked: wire.Fail(529)) as proxied:
        with pytest.raises(anthropic.APIStatusError) as error:
            await proxied.anthropic().messages.create(
                model="claude", max_tokens=100, messages=user(TOOLS), metadata={"user_id": "ana"}
            )
        assert error.value.status_code == 529
        assert await proxied.said("ana") == [("user", TOOLS)]


async def test_words_before_a_reply_that_the_app_begins_itself_are_kept(serve: Serve) -> None:
    async with serve() as proxied:
        begun: list[MessageParam] = [*user(TOOLS), {"role": "assistant", "content": "Well,"}]
        await proxied.anthropic().messages.create(
            model="claude", max_tokens=100, messages=begun, metadata={"user_id": "ana"}
        )
        assert await proxied.said("ana") == [("user", TOOLS), ("assistant", "Understood.")]
