"""The native API: every thing that a memory does, asked over HTTP."""

import asyncio
import json
from typing import Any

from tests.interfaces.http.conftest import Running

PEANUTS = {"text": "Allergic to peanuts", "user": "u1", "importance": 0.9}


async def asked(server: Running, method: str, path: str, status: int = 200, **more: Any) -> Any:
    answer = await server.client.request(method, path, **more)
    assert answer.status_code == status, answer.text
    return answer.json() if answer.content else None


async def test_a_fact_is_written_revised_retracted_and_restored(server: Running) -> None:
    fact = await asked(server, "POST", "/v1/facts", 201, json=PEANUTS)
    path = f"/v1/facts/{fact['id']}"
    revised = await asked(server, "PATCH", path, json={"text": "Allergic to nuts", "user": "u1"})
    assert revised["text"] == "Allergic to nuts"
    await asked(server, "POST", f"{path}/retract", json={"user": "u1", "reason": "a joke"})
    assert (await asked(server, "GET", "/v1/facts", params={"user": "u1"}))["items"] == []
    await asked(server, "POST", f"{path}/restore", json={"user": "u1"})
    (held,) = (await asked(server, "GET", "/v1/facts", params={"user": "u1"}))["items"]
    assert held["text"] == "Allergic to nuts"
    versions = await asked(server, "GET", f"{path}/history", params={"user": "u1"})
    assert [one["fact"]["text"] for one in versions["items"]][:2] == ["Allergic to peanuts", "Allergic to nuts"]


async def test_facts_are_filtered_by_metadata(server: Running) -> None:
    for stars in (1, 5):
        await asked(
            server, "POST", "/v1/facts", 201, json={"text": f"Film {stars}", "user": "u1", "metadata": {"stars": stars}}
        )
    where = {"user": "u1", "where": json.dumps({"stars": {"$gte": 3}})}
    assert [one["text"] for one in (await asked(server, "GET", "/v1/facts", params=where))["items"]] == ["Film 5"]
    await asked(server, "GET", "/v1/facts", 422, params={"where": "no json"})


async def test_if_match_refuses_a_change_to_what_was_not_read(server: Running) -> None:
    made = await server.client.post("/v1/facts", json=PEANUTS)
    path, tag = f"/v1/facts/{made.json()['id']}", made.headers["etag"]
    assert (await server.client.get(path, params={"user": "u1"})).headers["etag"] == tag
    change = {"text": "Allergic to nuts", "user": "u1"}
    done = await server.client.patch(path, json=change, headers={"If-Match": tag})
    assert done.status_code == 200
    late = await server.client.patch(path, json=change | {"text": "Allergic to eggs"}, headers={"If-Match": tag})
    assert late.status_code == 412
    assert late.headers["content-type"] == "application/problem+json"


async def test_blocks_are_set_appended_and_deleted_under_if_match(server: Running) -> None:
    made = await server.client.put("/v1/blocks/profile", json={"text": "Ana", "user": "u1"})
    tag = made.headers["etag"]
    longer = await server.client.post(
        "/v1/blocks/profile/append", json={"text": "works nights", "user": "u1"}, headers={"If-Match": tag}
    )
    assert longer.json()["text"] == "Ana\nworks nights"
    late = await server.client.delete("/v1/blocks/profile", params={"user": "u1"}, headers={"If-Match": tag})
    assert late.status_code == 412
    (listed,) = (await asked(server, "GET", "/v1/blocks", params={"user": "u1"}))["items"]
    assert listed["name"] == "profile"
    await asked(server, "DELETE", "/v1/blocks/profile", 204, params={"user": "u1"})
    await asked(server, "GET", "/v1/blocks/profile", 404, params={"user": "u1"})


async def test_a_user_named_in_the_address_where_the_body_names_one_is_not_taken_for_nobody(server: Running) -> None:
    told = await asked(server, "PUT", "/v1/blocks/profile", 422, params={"user": "u1"}, json={"text": "Ana"})
    assert "user" in told["detail"]
    assert (await asked(server, "GET", "/v1/blocks"))["items"] == []
    told = await asked(server, "GET", "/v1/facts", 422, params={"user": "u1", "sesion": "s1"})
    assert "sesion" in told["detail"] and "valid_at" in told["detail"]


async def test_a_refusal_speaks_of_what_was_meant(server: Running) -> None:
    told = [
        (await asked(server, "POST", "/v1/messages", 422, json={"content": content}))["detail"]
        for content in (None, "", [{"role": "wizard", "content": "x"}], [7])
    ]
    assert told[0] == "body.content: expected a text, a message, or a list of them"
    assert told[1] == "body.content.text: String should have at least 1 character"
    assert told[2].startswith("body.content.messages.0.message.role: Input should be 'user'")
    assert told[3] == "body.content.messages.0: expected a text or a message"


async def test_a_list_may_hold_plain_texts(server: Running) -> None:
    await asked(server, "POST", "/v1/messages", 201, json={"content": ["one", {"content": "two"}], "user": "u1"})
    kept = (await asked(server, "GET", "/v1/messages", params={"user": "u1"}))["items"]
    assert [(one["role"], one["text"]) for one in kept] == [("user", "one"), ("user", "two")]


async def test_two_who_change_a_block_they_both_read_are_not_both_told_yes(server: Running) -> None:
    tag = (await server.client.put("/v1/blocks/b", json={"text": "one"})).headers["etag"]
    answers = await asyncio.gather(
        *(
            server.client.put("/v1/blocks/b", json={"text": f"from {number}"}, headers={"If-Match": tag})
            for number in range(8)
        )
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 7


async def test_a_name_may_hold_anything(server: Running) -> None:
    for name in ("a/b", "a%2Fb", "..", "ü?x=1#y", "state", "a/append"):
        path = "/v1/blocks/" + "".join(f"%{byte:02X}" for byte in name.encode())
        await asked(server, "PUT", path, json={"text": name})
        assert (await asked(server, "GET", path))["name"] == name
    assert len((await asked(server, "GET", "/v1/blocks"))["items"]) == 6


async def test_a_session_has_state_for_a_while_and_messages_for_good(server: Running) -> None:
    await asked(server, "POST", "/v1/messages", 201, json={"content": "Hello there", "user": "u1", "session": "s/1"})
    path = "/v1/sessions/s%2F1"
    state = await asked(server, "PATCH", f"{path}/state", json={"values": {"step": 2}, "user": "u1", "ttl": 60})
    assert state == {"state": {"step": 2}}
    assert await asked(server, "GET", f"{path}/state", params={"user": "u1"}) == state
    assert (await asked(server, "GET", path, params={"user": "u1"}))["messages"] == 1
    await asked(server, "POST", f"{path}/touch", json={"user": "u1"})
    assert len((await asked(server, "GET", "/v1/sessions", params={"user": "u1"}))["items"]) == 1
    await asked(server, "POST", f"{path}/end", 204, json={"user": "u1"})
    assert await asked(server, "GET", f"{path}/state", params={"user": "u1"}) == {"state": {}}
    (message,) = (await asked(server, "GET", f"{path}/recent", params={"user": "u1"}))["items"]
    assert message["text"] == "Hello there"
    await asked(server, "GET", "/v1/sessions/unknown", 404)


async def test_what_is_forgotten_is_gone_and_there_is_a_receipt(server: Running) -> None:
    await asked(server, "POST", "/v1/messages", 201, json={"content": "I live in Berlin", "user": "u1"})
    await asked(server, "POST", "/v1/forget", 422, json={})
    receipt = await asked(server, "POST", "/v1/forget", json={"user": "u1"})
    assert receipt["counts"]["ledger"]["messages"] == 1
    assert (await asked(server, "POST", "/v1/recall", json={"query": "Berlin", "user": "u1"}))["items"] == []
    (kept,) = (await asked(server, "GET", "/v1/receipts", params={"user": "u1"}))["items"]
    assert kept["id"] == receipt["id"]


async def test_a_tenant_is_looked_after(server: Running) -> None:
    await asked(server, "POST", "/v1/messages", 201, json={"content": "I live in Berlin", "user": "u1"})
    assert (await asked(server, "GET", "/stats"))["counts"]["messages"] == 1
    assert await asked(server, "GET", "/v1/stats")
    assert [one["user"] for one in (await asked(server, "GET", "/v1/users"))["items"]] == ["u1"]
    assert (await asked(server, "POST", "/v1/doctor", json={"repair": True}))["findings"] == []
    assert (await asked(server, "POST", "/v1/reindex", json={}))["rows"] > 0
    assert (await asked(server, "GET", "/v1/jobs"))["items"] == []
    assert (await asked(server, "POST", "/v1/jobs/replay", json={})) == {"replayed": 0}
    assert (await asked(server, "GET", "/v1/profile", params={"user": "u1"}))["messages"] == 1
    assert (await asked(server, "POST", "/v1/relearn", json={"user": "u1"}))["applied"] is False


async def test_a_chat_without_a_model_answers_from_memory_and_says_so(server: Running) -> None:
    first = {"user_input": "I use Shram and Magnet as productivity tools", "user_id": "u1", "session_id": "s1"}
    told = await asked(server, "POST", "/chat", json=first)
    assert told["memories_created"] >= 1
    assert told["model"] is None
    then = await asked(
        server, "POST", "/chat", json={"user_input": "Which productivity tools do I use?", "user_id": "u1"}
    )
    assert "Shram" in then["response"]
    assert "model" in " ".join([then["response"], *then["notes"]])
    assert then["memories_retrieved"] == len(then["retrieved"]) > 0


async def test_an_export_is_all_that_is_held_on_a_user(server: Running) -> None:
    await asked(server, "POST", "/v1/messages", 201, json={"content": "I live in Berlin", "user": "u1"})
    await asked(server, "POST", "/v1/messages", 201, json={"content": "I live in Rome", "user": "u2"})
    answer = await server.client.get("/v1/export", params={"user": "u1"})
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert "Berlin" in answer.text
    assert "Rome" not in answer.text
    assert len(lines) > 2


def events(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.strip().split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


async def test_a_chat_can_be_streamed(server: Running) -> None:
    request = {"user_input": "I live in Berlin", "user_id": "u1", "stream": True}
    answer = await server.client.post("/chat", json=request)
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = events(answer.text)
    assert told[0][0] == "retrieved"
    assert "".join(value["text"] for name, value in told if name == "delta") == told[-1][1]["response"]
    assert told[-1][0] == "done"


async def test_jobs_can_be_followed_to_their_end(server: Running) -> None:
    answer = await server.client.get("/v1/jobs/follow")
    assert [name for name, _ in events(answer.text)] == ["jobs", "done"]
