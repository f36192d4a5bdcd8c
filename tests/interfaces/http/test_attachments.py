"""Files over HTTP: kept, carried by a message, had again, and never run."""

import pytest

from tests.interfaces.http.conftest import Running
from tests.interfaces.http.test_api import asked

PNG = b"\x89PNG\r\n\x1a\n"


async def carried(server: Running, data: bytes, name: str, media_type: str = "application/octet-stream") -> str:
    kept = await asked(
        server,
        "POST",
        "/v1/attachments",
        201,
        params={"user": "u1", "name": name},
        content=data,
        headers={"Content-Type": media_type},
    )
    body = {"content": "See", "user": "u1", "attachments": [{"id": kept["id"], "name": name, "caption": "a thing"}]}
    await asked(server, "POST", "/v1/messages", 201, json=body)
    return str(kept["id"])


async def test_a_file_is_kept_found_and_had_again(server: Running) -> None:
    id_ = await carried(server, b"The ferry to Quillon leaves at seven.", 'trip "7".md')
    (found,) = (await asked(server, "POST", "/v1/recall", json={"query": "ferry to Quillon", "user": "u1"}))["items"]
    assert found["attachments"][0] == {
        "id": id_,
        "type": "text/markdown",
        "size": 37,
        "name": 'trip "7".md',
        "caption": "a thing",
        "text": "",
    }
    assert (await asked(server, "GET", f"/v1/attachments/{id_}", params={"user": "u1"}))["size"] == 37
    answer = await server.client.get(f"/v1/attachments/{id_}/content", params={"user": "u1"})
    assert answer.content == b"The ferry to Quillon leaves at seven."
    for path in (f"/v1/attachments/{id_}", f"/v1/attachments/{id_}/content"):
        await asked(server, "GET", path, 404, params={"user": "u2"})
    await asked(server, "POST", "/v1/forget", json={"user": "u1"})
    await asked(server, "GET", f"/v1/attachments/{id_}/content", 404, params={"user": "u1"})


@pytest.mark.parametrize(
    ("data", "name", "shown_as", "how"),
    [
        (PNG + b"1", "a.png", "image/png", "inline"),
        (b"<script>alert(1)</script>", "a.html", "application/octet-stream", "attachment"),
        (b"<svg onload='alert(1)'/>", "a.svg", "application/octet-stream", "attachment"),
        (b"%PDF-1.4", "a.pdf", "application/octet-stream", "attachment"),
        (b"hello", "a.png\r\nX-Evil: 1.txt", "application/octet-stream", "attachment"),
    ],
)
async def test_only_images_that_hold_no_script_are_shown(
    server: Running, data: bytes, name: str, shown_as: str, how: str
) -> None:
    id_ = await carried(server, data, name)
    for path, params in (
        (f"/v1/attachments/{id_}/content", {"user": "u1"}),
        ("/conversations/attachment", {"user": "u1", "id": id_}),
    ):
        answer = await server.client.get(path, params=params)
        assert answer.content == data
        assert answer.headers["content-type"] == shown_as
        assert answer.headers["content-disposition"].startswith(f"{how}; filename*=UTF-8''")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]
        assert "x-evil" not in answer.headers


async def test_what_may_not_be_kept_is_refused(server: Running) -> None:
    for data, media_type in ((b"", "text/plain"), (b"x", "image/png"), (b"x", "nonsense"), (b"\0\1", "")):
        await asked(server, "POST", "/v1/attachments", 422, content=data, headers={"Content-Type": media_type})
    for wrong in ({"path": "/etc/passwd"}, {"id": "../x"}, {"id": "0" * 64, "data": "x"}, {}):
        await asked(server, "POST", "/v1/messages", 422, json={"content": "See", "attachments": [wrong]})
    await asked(server, "POST", "/v1/messages", 404, json={"content": "See", "attachments": [{"id": "0" * 64}]})
    assert (await asked(server, "GET", "/v1/messages"))["items"] == []
    answer = await server.client.get("/conversations/attachment", params={"id": "../../ledger.db"})
    assert answer.status_code == 422


async def test_the_page_shows_images_and_names_files_without_running_them(server: Running) -> None:
    await carried(server, PNG + b"1", "<b>sea.png")
    await carried(server, b"<script>alert(1)</script>", "page.html")
    text = (await server.client.get("/conversations/one", params={"user": "u1"})).text
    assert text.count("<img ") == 1
    assert "&lt;b&gt;sea.png" in text
    assert "<script>alert" not in text
