"""Whose memory a proxied request reaches, and whose key the service behind is shown."""

from typing import Any

import anthropic
import httpx2
import openai
import pytest

from tests.interfaces.http.proxies.conftest import QUESTION, TOOLS, Proxied, Serve


def chat(**more: Any) -> dict[str, Any]:
    return {"model": "gpt", "messages": [{"role": "user", "content": QUESTION}], **more}


async def told(proxied: Proxied) -> str:
    return proxied.behind.asked[-1].system


async def test_a_key_of_one_user_is_that_users_whatever_the_request_leaves_out(serve: Serve) -> None:
    async with serve() as proxied:
        await proxied.memory.add(TOOLS, user="ana")
        key = await proxied.key(user="ana", role="write")
        reply = await proxied.openai(key).chat.completions.create(**chat())
        assert reply.choices[0].message.content == "You use Shram and Magnet."
        assert proxied.behind.headers[-1]["authorization"] == "Bearer sk-operator"
        assert key not in str(proxied.behind.headers)
        assert len(await proxied.said("ana")) == 3


@pytest.mark.parametrize(
    ("fields", "headers"),
    [
        ({"user": "ana"}, {}),
        ({"safety_identifier": "ana"}, {}),
        ({}, {"X-Commonplace-User": "ana"}),
        ({"user": "ben"}, {"X-Commonplace-User": "ana"}),
    ],
)
async def test_a_key_of_one_user_does_not_reach_another(
    serve: Serve, fields: dict[str, Any], headers: dict[str, str]
) -> None:
    async with serve() as proxied:
        await proxied.memory.add(TOOLS, user="ana")
        key = await proxied.key(user="ben", role="write")
        with pytest.raises(openai.PermissionDeniedError):
            await proxied.openai(key, default_headers=headers).chat.completions.create(**chat(**fields))
        with pytest.raises(anthropic.PermissionDeniedError):
            await proxied.anthropic(key, default_headers=headers).messages.create(
                model="claude",
                max_tokens=9,
                messages=[{"role": "user", "content": QUESTION}],
                metadata={"user_id": "ana"},
            )
        assert proxied.behind.asked == []
        assert await proxied.said("ana") == [("user", TOOLS)]
        assert await proxied.said("ben") == []


async def test_tenants_do_not_meet_behind_the_same_user(serve: Serve) -> None:
    async with serve() as proxied:
        await proxied.memory.add(TOOLS, user="ana")
        elsewhere = await proxied.key(tenant="other", role="write")
        await proxied.openai(elsewhere).chat.completions.create(**chat(user="ana"))
        assert "Shram" not in await told(proxied)
        assert len(await proxied.said("ana")) == 1


async def test_a_key_that_may_only_read_writes_nothing(serve: Serve) -> None:
    async with serve() as proxied:
        await proxied.memory.add(TOOLS, user="ana")
        key = await proxied.key(role="read")
        raw = await proxied.openai(key).chat.completions.with_raw_response.create(**chat(user="ana"))
        assert raw.headers["x-commonplace-memory"] == "read"
        assert "Shram" in await told(proxied)
        with pytest.raises(openai.PermissionDeniedError):
            await proxied.openai(key, default_headers={"X-Commonplace-Memory": "write"}).chat.completions.create(
                **chat(user="ana")
            )
        assert len(await proxied.said("ana")) == 1


async def test_the_callers_own_key_is_passed_on_beside_ours(serve: Serve) -> None:
    async with serve() as proxied:
        key = await proxied.key(role="write")
        app = proxied.openai("sk-mine", default_headers={"X-Commonplace-Key": key})
        await app.chat.completions.create(**chat(user="ana"))
        assert proxied.behind.headers[-1]["authorization"] == "Bearer sk-mine"
        claude = proxied.anthropic("sk-ant-mine", default_headers={"X-Commonplace-Key": key})
        await claude.messages.create(model="claude", max_tokens=9, messages=[{"role": "user", "content": QUESTION}])
        assert proxied.behind.headers[-1]["authorization"] == "Bearer sk-ant-mine"
        assert "x-api-key" not in proxied.behind.headers[-1]
        await proxied.post("/anthropic/v1/messages", chat(), **{"x-api-key": "sk-old", "x-commonplace-key": key})
        assert proxied.behind.headers[-1]["x-api-key"] == "sk-old"
        await proxied.post("/anthropic/v1/messages", chat(), **{"x-api-key": key})
        assert proxied.behind.headers[-1]["x-api-key"] == "sk-ant-operator"
        assert key not in str(proxied.behind.headers)
        assert not [name for one in proxied.behind.headers for name in one if name.startswith("x-commonplace")]


async def test_nobody_comes_in_without_a_key_once_there_is_one(serve: Serve) -> None:
    async with serve() as proxied:
        await proxied.key(role="write")
        with pytest.raises(openai.AuthenticationError):
            await proxied.openai("sk-mine").chat.completions.create(**chat(user="ana"))
        assert proxied.behind.asked == []


async def test_a_user_in_a_header_is_the_user_of_the_same_name_in_a_field(serve: Serve) -> None:
    async with serve() as proxied:
        await proxied.memory.add(TOOLS, user="Zoë 日本")
        headers = {b"x-commonplace-user": "Zoë 日本".encode()}
        async with httpx2.AsyncClient() as client:
            await client.post(f"{proxied.url}/openai/v1/chat/completions", json=chat(), headers=headers, timeout=60)
        assert "Shram" in await told(proxied)
        await proxied.openai().chat.completions.create(**chat(user="Zoë 日本"))
        assert "Shram" in await told(proxied)
