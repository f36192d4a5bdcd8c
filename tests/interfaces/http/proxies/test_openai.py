"""The openai SDK, pointed at the proxy: it works as before, and the app has a memory."""

import json
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

from tests.agents import wire
from tests.interfaces.http.proxies.conftest import QUESTION, TOOLS, Serve


def user(text: str) -> list[ChatCompletionMessageParam]:
    return [{"role": "user", "content": text}]


async def test_what_was_said_is_known_in_the_next_conversation(serve: Serve) -> None:
    async with serve() as proxied:
        app = proxied.openai()
        await app.chat.completions.create(model="gpt", messages=user(TOOLS), user="ana")
        reply = await app.chat.completions.create(model="gpt", messages=user(QUESTION), user="ana")
        assert reply.choices[0].message.content == "You use Shram and Magnet."
        nobody = await app.chat.completions.create(model="gpt", messages=user(QUESTION), user="ben")
        assert nobody.choices[0].message.content == "Understood."
        assert await proxied.said("ana") == [
            ("user", TOOLS),
            ("assistant", "Understood."),
            ("user", QUESTION),
            ("assistant", "You use Shram and Magnet."),
        ]


async def test_a_stream_is_passed_on_and_kept(serve: Serve) -> None:
    async with serve() as proxied:
        await proxied.memory.add(TOOLS, user="ana")
        stream = await proxied.openai().chat.completions.create(
            model="gpt",
            messages=user(QUESTION),
            safety_identifier="ana",
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        assert text == "You use Shram and Magnet."
        assert chunks[-1].usage is not None
        assert (await proxied.said("ana"))[-1] == ("assistant", text)


@pytest.mark.parametrize("mode", ["off", "on"])
async def test_the_bytes_of_a_stream_are_those_of_the_service_behind(serve: Serve, mode: str) -> None:
    body = {"model": "gpt", "messages": user("Grüße aus Zürich 🏔"), "stream": True, "n": 2}
    async with serve(lambda asked: wire.Say("Ein Satz – mit Ümläuten, 日本語 und 🏔.")) as proxied:
        direct = await proxied.post("/openai/v1/chat/completions", body)
        through = await proxied.post("/openai/v1/chat/completions", body, **{"x-commonplace-memory": mode})
        events = wire.STREAMS["/chat/completions"](body, wire.Say("Ein Satz – mit Ümläuten, 日本語 und 🏔."))
        assert through.content == "".join(events).encode() == direct.content
        assert through.headers["x-commonplace-memory"] == mode


async def test_memory_comes_as_one_message_behind_the_apps_own(serve: Serve) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}, image]},
    ]
    async with serve() as proxied:
        await proxied.memory.add(TOOLS, user="ana")
        body = {"model": "gpt", "messages": messages, "user": "ana", "temperature": 0.25, "n": 3, "made_up": [1]}
        answer = await proxied.post("/openai/v1/chat/completions", body)
        sent = proxied.behind.asked[-1].body
    assert sent["messages"][0] == messages[0]
    assert sent["messages"][1]["role"] == "system"
    assert "Shram" in sent["messages"][1]["content"]
    assert sent["messages"][2:] == messages[1:]
    assert {**sent, "messages": messages} == body
    assert int(answer.headers["x-commonplace-recalled"]) > 0
    assert answer.headers["x-commonplace-recorded"]


async def test_tools_pass_and_what_was_said_before_them_is_kept_once(serve: Serve) -> None:
    script = wire.one_after_another([wire.Call("weather", '{"city": "Oslo"}'), wire.Say("It rains.")])
    tool: ChatCompletionToolParam = {
        "type": "function",
        "function": {"name": "weather", "parameters": {"type": "object"}},
    }
    async with serve(script) as proxied:
        app = proxied.openai()
        messages: list[Any] = user("What is the weather in Oslo?")
        asked = await app.chat.completions.create(model="gpt", messages=messages, tools=[tool], user="ana")
        calls = asked.choices[0].message.tool_calls
        assert calls is not None
        assert calls[0].type == "function"
        assert json.loads(calls[0].function.arguments) == {"city": "Oslo"}
        messages.append(asked.choices[0].message.model_dump(exclude_none=True))
        messages.append({"role": "tool", "tool_call_id": calls[0].id, "content": "rain, as I live in Rome"})
        await app.chat.completions.create(model="gpt", messages=messages, tools=[tool], user="ana")
        assert await proxied.said("ana") == [("user", "What is the weather in Oslo?"), ("assistant", "It rains.")]
        assert not len(await proxied.memory.facts(user="ana"))


async def test_a_request_that_is_sent_again_is_kept_once(serve: Serve) -> None:
    script = wire.one_after_another([wire.Fail(503), wire.Say("Noted.")])
    async with serve(script) as proxied:
        app = proxied.openai().with_options(max_retries=2)
        await app.chat.completions.create(model="gpt", messages=user(TOOLS), user="ana")
        assert await proxied.said("ana") == [("user", TOOLS), ("assistant", "Noted.")]


async def test_an_error_of_the_service_behind_is_passed_through(serve: Serve) -> None:
    async with serve(lambda asked: wire.Fail(429, retry_after="7")) as proxied:
        with pytest.raises(openai.RateLimitError) as error:
            await proxied.openai().chat.completions.create(model="gpt", messages=user(TOOLS), user="ana")
        assert error.value.body == {"type": "scripted", "message": "scripted"}
        assert error.value.response.headers["retry-after"] == "7"
        assert await proxied.said("ana") == [("user", TOOLS)]


@pytest.mark.parametrize("mode", ["off", "read", "write", "on"])
async def test_the_header_says_what_memory_may_do(serve: Serve, mode: str) -> None:
    async with serve() as proxied:
        await proxied.memory.add(TOOLS, user="ana", learn=True)
        app = proxied.openai(default_headers={"X-Commonplace-Memory": mode, "X-Commonplace-User": "ana"})
        raw = await app.chat.completions.with_raw_response.create(model="gpt", messages=user(QUESTION))
        reply = raw.parse().choices[0].message.content
        assert (reply == "You use Shram and Magnet.") == (mode in {"read", "on"})
        assert ("x-commonplace-recalled" in raw.headers) == (mode in {"read", "on"})
        assert (len(await proxied.said("ana")) == 3) == (mode in {"write", "on"})
        assert ("x-commonplace-recorded" in raw.headers) == (mode in {"write", "on"})


async def test_an_unknown_mode_is_refused(serve: Serve) -> None:
    async with serve() as proxied:
        app = proxied.openai(default_headers={"X-Commonplace-Memory": "maybe"})
        with pytest.raises(openai.UnprocessableEntityError) as error:
            await app.chat.completions.create(model="gpt", messages=user(TOOLS))
        assert "maybe" in error.value.response.text
        assert proxied.behind.asked == []


async def test_a_session_of_its_own_is_left_out_of_what_is_told(serve: Serve) -> None:
    async with serve() as proxied:
        app = proxied.openai(default_headers={"X-Commonplace-Session": "s1"})
        await app.chat.completions.create(model="gpt", messages=user("The password is Wombat"), user="ana")
        await app.chat.completions.create(model="gpt", messages=user("What is the password?"), user="ana")
        assert "Wombat" not in json.dumps(proxied.behind.asked[-1].body)
        assert [one.session for one in await proxied.memory.messages(user="ana")] == ["s1"] * 4


@pytest.mark.parametrize(
    "body", ["[]", "{}", '{"messages": 1}', '{"messages": [1]}', "nonsense", '{"messages": [{"role": "user"}]}', '"x"']
)
async def test_what_cannot_be_understood_is_passed_on_as_it_is(serve: Serve, body: str) -> None:
    async with serve() as proxied:
        async with openai.DefaultAsyncHttpxClient() as client:
            answer = await client.post(
                f"{proxied.url}/openai/v1/chat/completions", content=body, headers={"content-type": "application/json"}
            )
        # The scripted service hangs up on nonsense; a real one answers 400, which is passed on.
        assert answer.status_code in {200, 503}
        assert await proxied.said(None) == []


async def test_models_are_those_of_the_service_behind(serve: Serve) -> None:
    async with serve() as proxied:
        assert [model.id async for model in proxied.openai().models.list()] == ["gpt"]


async def test_embeddings_are_the_memorys_own_or_those_of_the_service_behind(serve: Serve) -> None:
    async with serve() as proxied:
        app = proxied.openai()
        packed = await app.embeddings.create(model="commonplace", input=["tea", "coffee"])
        plain = await app.embeddings.create(model="commonplace", input="tea", encoding_format="float")
        assert len(packed.data[0].embedding) == len(plain.data[0].embedding) == 64
        assert packed.data[0].embedding == pytest.approx(plain.data[0].embedding)
        assert proxied.behind.embedded == []
        passed = await app.embeddings.create(model="text-embedding-3-small", input="tea")
        assert passed.data[0].embedding == pytest.approx(wire.vector_of("tea"))


@pytest.mark.parametrize(
    "asked", [{"input": []}, {"input": [[1, 2]]}, {"input": ""}, {"input": "x", "dimensions": 3}, {}], ids=str
)
async def test_a_wrong_request_for_embeddings_is_refused(serve: Serve, asked: dict[str, Any]) -> None:
    async with serve() as proxied:
        answer = await proxied.post("/openai/v1/embeddings", {"model": "commonplace", **asked})
        assert answer.status_code == 422
