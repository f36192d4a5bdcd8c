"""OpenAI's responses through the proxy, with the unmodified SDK."""

import json
from typing import Any

import openai
import pytest

from tests.agents import wire
from tests.interfaces.http.proxies.conftest import QUESTION, TOOLS, Serve

PATH = "/openai/v1/responses"
WEATHER: Any = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}


async def test_an_app_remembers_without_a_change(serve: Serve) -> None:
    async with serve() as proxied:
        app = proxied.openai()
        await app.responses.create(model="gpt", input=TOOLS, user="ana")
        reply = await app.responses.create(model="gpt", input=QUESTION, safety_identifier="ana")
        assert reply.output_text == "You use Shram and Magnet."
        nobody = await app.responses.create(model="gpt", input=QUESTION, user="ben")
        assert nobody.output_text == "Understood."
        assert await proxied.said("ana") == [
            ("user", TOOLS),
            ("assistant", "Understood."),
            ("user", QUESTION),
            ("assistant", "You use Shram and Magnet."),
        ]


async def test_a_stream_is_passed_on_and_kept(serve: Serve) -> None:
    async with serve() as proxied:
        await proxied.memory.add(TOOLS, user="ana")
        stream = await proxied.openai().responses.create(model="gpt", input=QUESTION, user="ana", stream=True)
        events = [event async for event in stream]
        text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        assert text == "You use Shram and Magnet."
        assert events[-1].type == "response.completed"
        assert (await proxied.said("ana"))[-1] == ("assistant", text)


@pytest.mark.parametrize("mode", ["off", "on"])
async def test_the_bytes_of_a_stream_are_those_of_the_service_behind(serve: Serve, mode: str) -> None:
    body = {"model": "gpt", "input": "Grüße aus Zürich 🏔", "stream": True}
    said = wire.Say("Ein Satz – mit Ümläuten, 日本語 und 🏔.")
    async with serve(lambda asked: said) as proxied:
        through = await proxied.post(PATH, body, **{"x-commonplace-memory": mode})
        assert through.content == "".join(wire.STREAMS["/responses"](body, said)).encode()
        assert through.headers["x-commonplace-memory"] == mode


async def test_memory_comes_with_the_instructions_and_the_rest_is_as_it_was(serve: Serve) -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    body = {
        "model": "gpt",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": QUESTION}, image]}],
        "user": "ana",
        "store": False,
        "reasoning": {"effort": "low"},
        "made_up": [1],
    }
    async with serve() as proxied:
        await proxied.memory.add(TOOLS, user="ana")
        answer = await proxied.post(PATH, body)
        sent = proxied.behind.asked[-1].body
    assert sent["instructions"].startswith("Be brief.\n\n")
    assert "Shram" in sent["instructions"]
    assert {**sent, "instructions": "Be brief."} == body
    assert int(answer.headers["x-commonplace-recalled"]) > 0
    assert answer.headers["x-commonplace-recorded"]


@pytest.mark.parametrize("kept_behind", [True, False])
async def test_tools_pass_and_what_was_said_before_them_is_kept_once(serve: Serve, *, kept_behind: bool) -> None:
    """The app goes on with the response that the service behind has kept, or sends everything again."""
    script = wire.one_after_another([wire.Call("weather", '{"city": "Oslo"}'), wire.Say("It rains.")])
    async with serve(script) as proxied:
        app = proxied.openai()
        said: list[Any] = [{"role": "user", "content": "What is the weather in Oslo?"}]
        asked = await app.responses.create(model="gpt", input=said, tools=[WEATHER], user="ana")
        call = asked.output[0]
        assert call.type == "function_call"
        assert json.loads(call.arguments) == {"city": "Oslo"}
        result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "rain, as I live in Rome"}
        if kept_behind:
            await app.responses.create(
                model="gpt", input=[result], previous_response_id=asked.id, tools=[WEATHER], user="ana"
            )
            assert await proxied.said("ana") == [("user", "What is the weather in Oslo?")]
        else:
            again: list[Any] = [*said, call.model_dump(), result]
            await app.responses.create(model="gpt", input=again, tools=[WEATHER], user="ana")
            assert (await proxied.said("ana"))[-1] == ("assistant", "It rains.")
        assert not len(await proxied.memory.facts(user="ana"))


@pytest.mark.parametrize("reply", [wire.BreakOff("Half a sentence that"), wire.Garble("Half a sentence that")])
async def test_a_stream_that_ends_without_its_end_is_passed_on_and_not_kept(serve: Serve, reply: wire.Reply) -> None:
    body = {"model": "gpt", "input": TOOLS, "user": "ana", "stream": True}
    async with serve(lambda asked: reply) as proxied:
        answer = await proxied.post(PATH, body)
        assert answer.content == "".join(wire.STREAMS["/responses"](body, reply)).encode()
        assert await proxied.said("ana") == [("user", TOOLS)]


async def test_an_error_of_the_service_behind_is_passed_through(serve: Serve) -> None:
    async with serve(lambda asked: wire.Fail(429, retry_after="7")) as proxied:
        with pytest.raises(openai.RateLimitError) as error:
            await proxied.openai().responses.create(model="gpt", input=TOOLS, user="ana")
        assert error.value.response.headers["retry-after"] == "7"
        assert await proxied.said("ana") == [("user", TOOLS)]


async def test_with_the_operators_key_nobody_goes_on_with_the_response_of_another(serve: Serve) -> None:
    async with serve() as proxied:
        own, other = await proxied.key(user="ana", role="write"), await proxied.key(user="ben", role="write")
        elsewhere = await proxied.key(tenant="other", role="write")
        first = await proxied.openai(own).responses.create(model="gpt", input=TOOLS)
        asked = len(proxied.behind.asked)
        for key in (other, elsewhere):
            with pytest.raises(openai.PermissionDeniedError):
                await proxied.openai(key).responses.create(model="gpt", input="And?", previous_response_id=first.id)
            with pytest.raises(openai.PermissionDeniedError):
                await proxied.openai(key).responses.retrieve(first.id)
            with pytest.raises(openai.PermissionDeniedError):
                await proxied.openai(key).responses.create(model="gpt", input="And?", conversation="conv_1")
        assert len(proxied.behind.asked) == asked
        await proxied.openai(own).responses.create(model="gpt", input="And?", previous_response_id=first.id)
        await proxied.openai(own).responses.retrieve(first.id)
        app = proxied.openai("sk-mine", default_headers={"X-Commonplace-Key": other})
        await app.responses.create(model="gpt", input="And?", previous_response_id=first.id)


@pytest.mark.parametrize("body", ["[]", "{}", '{"input": 1}', '{"input": [1]}', '{"input": "x", "instructions": 7}'])
async def test_what_cannot_be_understood_is_passed_on_as_it_is(serve: Serve, body: str) -> None:
    async with serve() as proxied:
        async with openai.DefaultAsyncHttpxClient() as client:
            await client.post(f"{proxied.url}{PATH}", content=body, headers={"content-type": "application/json"})
        assert await proxied.said(None) == []
