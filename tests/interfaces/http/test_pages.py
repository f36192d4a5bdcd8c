"""What holds for every page, asked without a browser: cookies, forms, headers."""

from http.cookies import SimpleCookie

import pytest

from commonplace.interfaces.http.pages.entry import COOKIE
from tests.interfaces.http.conftest import Running


async def cookie(running: Running, **given: object) -> dict[str, str]:
    token = (await running.key(**given))["Authorization"].removeprefix("Bearer ")
    answer = await running.client.post("/login", data={"key": token, "next": "/"})
    assert answer.status_code == 303
    set_cookie = SimpleCookie(answer.headers["set-cookie"])
    running.client.cookies.clear()
    return {"Cookie": f"{COOKIE}={set_cookie[COOKIE].value}"}


async def test_a_cookie_opens_pages_and_nothing_of_the_api(guarded: Running) -> None:
    shown = await cookie(guarded)
    assert (await guarded.client.get("/", headers=shown)).status_code == 200
    assert (await guarded.client.get("/v1/facts", headers=shown)).status_code == 401
    assert (await guarded.client.get("/stats", headers=shown)).status_code == 401


async def test_a_key_that_was_revoked_leads_back_to_the_login(guarded: Running) -> None:
    shown = await cookie(guarded)
    for key in await guarded.service.keys.keys():
        await guarded.service.keys.revoke_key(key.id, at=guarded.service.now())
    answer = await guarded.client.get("/facts?user=a%26b", headers=shown)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Ffacts%3Fuser%3Da%2526b")
    assert "Max-Age=0" in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    "wanted",
    [
        "//evil.example/",
        "https://evil.example/",
        "/\\evil.example",
        "/v1/facts",
        "x",
        "//[",
        "http://[x",
        "javascript:/facts",
    ],
)
async def test_the_login_leads_to_no_other_place(guarded: Running, wanted: str) -> None:
    token = (await guarded.key())["Authorization"].removeprefix("Bearer ")
    answer = await guarded.client.post("/login", data={"key": token, "next": wanted})
    assert answer.headers["location"] == "/"


async def test_a_form_without_its_token_is_refused(guarded: Running) -> None:
    shown = await cookie(guarded)
    answer = await guarded.client.post("/logout", headers=shown, data={"csrf": "0" * 64})
    assert answer.status_code == 403
    assert "another site" in answer.text


async def test_forms_of_another_site_are_refused(guarded: Running) -> None:
    token = (await guarded.key())["Authorization"].removeprefix("Bearer ")
    for origin in ("http://evil.example", "http://["):
        foreign = {"Origin": origin}
        assert (await guarded.client.post("/login", data={"key": token}, headers=foreign)).status_code == 403
        shown = await cookie(guarded)
        assert (await guarded.client.post("/logout", data={}, headers=shown | foreign)).status_code == 403


async def test_pages_let_nothing_foreign_run_and_are_kept_nowhere(server: Running) -> None:
    answer = await server.client.get("/")
    assert "default-src 'none'; script-src 'self'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    assert " style=" not in answer.text
    assert "<script>" not in answer.text


async def test_scripts_and_style_may_be_kept_and_nothing_else_is_served(server: Running) -> None:
    page = (await server.client.get("/")).text
    address = page.partition('<link rel="stylesheet" href="')[2].partition('"')[0]
    answer = await server.client.get(address)
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/css")
    assert (await server.client.get("/static/x/..%2fshell.py")).status_code == 404


async def test_what_is_wrong_is_told_on_a_page(server: Running) -> None:
    answer = await server.client.get("/", params={"page": "<b>"})
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith("text/html")
    assert "<b>" not in answer.text


async def test_the_facts_on_a_page_are_those_of_now_also_when_it_was_looked_at_before(server: Running) -> None:
    memory = await server.service.memory("default")
    fact = await memory.remember("Ana plays chess", user="ana")
    for _ in range(2):
        assert "Ana plays chess" in (await server.client.get("/facts", params={"user": "ana"})).text
    await memory.revise(fact.id, "Ana plays go", user="ana")
    assert "Ana plays go" in (await server.client.get("/facts", params={"user": "ana"})).text
    await memory.forget(user="ana")
    text = (await server.client.get("/facts", params={"user": "ana"})).text
    assert "Ana plays" not in text
    assert "Ana plays" not in (await server.client.get("/facts", params={"user": "ben"})).text


NONSENSE = [
    "/fact?id=nope",
    "/fact",
    "/facts?user=%00",
    "/facts?user=%ED%A0%80",
    "/facts?kind=zzz",
    "/facts?confidence=nan",
    "/facts?as_of=soon",
    "/facts?step=-1",
    "/facts/lane?attribute=%F0%9F%8D%B5&page=99999",
    "/playground?q=%ED%A0%80&why_not=%00",
    "/playground?q=x&as_of=9999-99-99",
    "/conversations/one?cursor=nonsense",
    "/conversations/one?session=%00%0a",
    "/talk/learned?fact=%00&fact=%ED%A0%80",
    "/graph?user=" + "x" * 1_001,
    "/care/export?user=%0d%0aSet-Cookie:x",
    "/login?next=%00",
    "/login?next=//[",
]


@pytest.mark.parametrize("address", NONSENSE)
async def test_nonsense_in_an_address_is_refused_or_shows_nothing(server: Running, address: str) -> None:
    answer = await server.client.get(address)
    assert answer.status_code < 500
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"csrf=&id=", b"a=1&" * 100, b"key=" + b"x" * 100_000])
async def test_nonsense_in_a_form_is_refused(guarded: Running, body: bytes) -> None:
    shown = await cookie(guarded)
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    for path in ("/login", "/fact/revise", "/care/forget", "/talk/turn", "/blocks/set", "/care/keys/create"):
        answer = await guarded.client.post(path, content=body, headers=shown | kind)
        assert 400 <= answer.status_code < 500, path


@pytest.mark.parametrize("value", ["", "x" * 5_000, '"', "a;b=c", "\u00ff", "cp__"])
async def test_a_cookie_that_is_no_key_leads_to_the_login(guarded: Running, value: str) -> None:
    answer = await guarded.client.get("/", headers={b"Cookie": f"{COOKIE}={value}".encode("latin-1")})
    assert answer.status_code == 303
