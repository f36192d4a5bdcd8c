"""The story that must always work, told over HTTP."""

from tests.interfaces.http.conftest import Running


async def test_what_was_said_is_recalled_in_another_conversation(server: Running) -> None:
    said = {"content": "I use Shram and Magnet as productivity tools", "user": "u1", "session": "s1"}
    added = await server.client.post("/v1/messages", json=said)
    assert added.status_code == 201, added.text
    assert len(added.json()["messages"]) == 1
    found = await server.client.post("/v1/recall", json={"query": "What productivity tools do I use?", "user": "u1"})
    assert found.status_code == 200, found.text
    texts = " ".join(item["text"] for item in found.json()["items"])
    assert "Shram" in texts
    assert "Magnet" in texts
    nobody = await server.client.post("/v1/recall", json={"query": "What productivity tools do I use?", "user": "u2"})
    assert nobody.json()["items"] == []


async def test_messages_come_back_in_pages(server: Running) -> None:
    for number in range(5):
        await server.client.post("/v1/messages", json={"content": f"line {number}", "user": "u1", "session": "s"})
    page = (await server.client.get("/v1/messages", params={"user": "u1", "limit": 2})).json()
    assert [item["text"] for item in page["items"]] == ["line 3", "line 4"]
    before = {"user": "u1", "limit": 2, "cursor": page["next_cursor"]}
    page = (await server.client.get("/v1/messages", params=before)).json()
    assert [item["text"] for item in page["items"]] == ["line 1", "line 2"]
