"""What is kept when the service behind fails in the middle, or the client leaves: the user's words, no half reply."""

import asyncio

import anthropic
import httpx2
import openai
import pytest

from tests.agents import wire
from tests.interfaces.http.proxies.conftest import TOOLS, Proxied, Serve

CHAT = {"model": "gpt", "messages": [{"role": "user", "content": TOOLS}], "user": "ana", "stream": True}


async def only_the_user_is_kept(proxied: Proxied) -> bool:
    return await proxied.said("ana") == [("user", TOOLS)]


async def test_a_stream_that_is_cut_is_cut_for_the_client_too(serve: Serve) -> None:
    async with serve(lambda asked: wire.BreakOff("Half a sentence that", cut=True)) as proxied:
        with pytest.raises((openai.APIConnectionError, httpx2.HTTPError)):
            stream = await proxied.openai().chat.completions.create(**CHAT)  # type: ignore[call-overload]
            async for _ in stream:
                pass
        assert await only_the_user_is_kept(proxied)


async def test_a_stream_of_messages_that_is_cut_is_cut_for_the_client_too(serve: Serve) -> None:
    async with serve(lambda asked: wire.BreakOff("Half a sentence that", cut=True)) as proxied:
        with pytest.raises((anthropic.APIConnectionError, httpx2.HTTPError)):
            async with proxied.anthropic().messages.stream(
                model="claude",
                max_tokens=100,
                messages=[{"role": "user", "content": TOOLS}],
                metadata={"user_id": "ana"},
            ) as stream:
                async for _ in stream:
                    pass
        assert await only_the_user_is_kept(proxied)


@pytest.mark.parametrize("reply", [wire.BreakOff("Half a sentence that"), wire.Garble("Half a sentence that")])
async def test_a_stream_that_ends_without_its_end_is_passed_on_and_not_kept(serve: Serve, reply: wire.Reply) -> None:
    async with serve(lambda asked: reply) as proxied:
        answer = await proxied.post("/openai/v1/chat/completions", CHAT)
        assert answer.content == "".join(wire.STREAMS["/chat/completions"](CHAT, reply)).encode()
        assert await only_the_user_is_kept(proxied)


async def test_a_client_that_leaves_in_the_middle_keeps_its_words_and_no_half_reply(serve: Serve) -> None:
    words = " ".join(f"word{number}" for number in range(20_000))
    async with serve(lambda asked: wire.Say(words)) as proxied:
        async with (
            httpx2.AsyncClient() as client,
            client.stream("POST", f"{proxied.url}/openai/v1/chat/completions", json=CHAT, timeout=60) as answer,
        ):
            async for _ in answer.aiter_raw():
                break
        assert await only_the_user_is_kept(proxied)
        other = await proxied.post("/openai/v1/chat/completions", {**CHAT, "user": "ben", "stream": False})
        assert other.status_code == 200


async def test_several_streams_at_once_do_not_mix(serve: Serve) -> None:
    async with serve(lambda asked: wire.Say(f"You said {asked.said}, and that is that.")) as proxied:
        asked = [
            proxied.post(
                "/openai/v1/chat/completions",
                {"model": "gpt", "messages": [{"role": "user", "content": f"w{n}"}], "user": f"u{n}", "stream": True},
            )
            for n in range(8)
        ]
        answers = await asyncio.gather(*asked)
        for n, answer in enumerate(answers):
            assert f"w{n}" in answer.text
            assert await proxied.said(f"u{n}") == [
                ("user", f"w{n}"),
                ("assistant", f"You said w{n}, and that is that."),
            ]


async def test_a_service_behind_that_is_not_there_is_told_and_the_words_are_kept(serve: Serve) -> None:
    async with serve(proxy_openai_url="http://127.0.0.1:9/v1") as proxied:
        answer = await proxied.post("/openai/v1/chat/completions", CHAT)
        assert answer.status_code == 503
        assert answer.headers["content-type"] == "application/problem+json"
        assert "retry-after" in answer.headers
        assert await only_the_user_is_kept(proxied)
