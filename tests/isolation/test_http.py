"""Ways to reach another user's or tenant's memory over HTTP. None works, and nothing of the victim's changes."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.isolation.conftest import SECRET, House, everything_of, with_ids

pytestmark = pytest.mark.backends("pairwise")

Try = tuple[str, str, dict[str, Any]]
"""A method, a path, and the rest of the request; `{fact}`, `{message}` and `{cursor}` are the victim's."""


def body(**values: Any) -> dict[str, Any]:
    return {"json": values}


QUERY = f"{SECRET} code dog street"
NAMED: Sequence[Try] = [
    # Naming the victim where a user can be named
    ("POST", "/v1/recall", body(query=QUERY, user="victim")),
    ("POST", "/v1/context", body(query=QUERY, user="victim")),
    ("GET", "/v1/facts?user=victim", {}),
    ("GET", "/v1/messages?user=victim", {}),
    ("GET", "/v1/messages?user=victim&session=s1", {}),
    ("GET", "/v1/messages?user=intruder&user=victim", {}),
    ("GET", "/v1/messages?user=victim&user=intruder", {}),
    ("GET", "/v1/blocks?user=victim", {}),
    ("GET", "/v1/blocks/profile?user=victim", {}),
    ("GET", "/v1/sessions?user=victim", {}),
    ("GET", "/v1/sessions/s1?user=victim", {}),
    ("GET", "/v1/sessions/s1/state?user=victim", {}),
    ("GET", "/v1/sessions/s1/recent?user=victim", {}),
    ("GET", "/v1/profile?user=victim", {}),
    ("GET", "/v1/export?user=victim", {}),
    ("GET", "/v1/receipts?user=victim", {}),
    ("GET", "/v1/facts/{fact}?user=victim", {}),
    ("GET", "/v1/facts/{fact}/history?user=victim", {}),
    ("POST", "/v1/relearn", body(user="victim")),
    ("GET", "/v1/sessions/s1/window?user=victim", {}),
    ("GET", "/v1/messages/{message}?user=victim", {}),
    ("POST", "/v1/why-not", body(id="{fact}", query="code", user="victim")),
    ("GET", "/v1/attachments/{attachment}?user=victim", {}),
    ("GET", "/v1/attachments/{attachment}/content?user=victim", {}),
    ("POST", "/v1/messages", body(content="Mine", user="victim", attachments=[{"id": "{attachment}"}])),
    ("POST", "/v1/consolidate", body(user="victim", dry_run=True)),
    ("POST", "/chat", body(user_input=QUERY, user_id="victim")),
    ("POST", "/chat", body(user_input=QUERY, user_id="victim", session_id="s1", stream=True)),
]
UNNAMED: Sequence[Try] = [
    # Ids and cursors of the victim, under one's own name
    ("GET", "/v1/attachments/{attachment}", {}),
    ("GET", "/v1/attachments/{attachment}/content", {}),
    ("POST", "/v1/messages", body(content="Mine", attachments=[{"id": "{attachment}"}])),
    ("GET", "/v1/facts/{fact}", {}),
    ("GET", "/v1/facts/{fact}/history", {}),
    ("GET", "/v1/messages?cursor={cursor}", {}),
    ("GET", "/v1/facts?cursor={facts_cursor}", {}),
    ("GET", "/v1/messages?cursor={cursor}&session=s1", {}),
    ("GET", "/v1/facts?cursor={cursor}", {}),
    ("GET", "/v1/messages/{message}", {}),
    ("POST", "/v1/why-not", body(id="{fact}", query="code")),
    ("POST", "/v1/why-not", body(id="{message}", query="dog", session="s1")),
    ("POST", "/v1/messages/{message}/proposals", body(proposals=[])),
    # Sessions and blocks of the same name
    ("GET", "/v1/sessions/s1", {}),
    ("GET", "/v1/sessions/s1/window", {}),
    ("POST", "/v1/sessions/s1/touch", body()),
    ("POST", "/chat", body(user_input=QUERY, session_id="s1")),
    ("GET", "/v1/messages?session=s1", {}),
    ("GET", "/v1/sessions/s1/state", {}),
    ("GET", "/v1/sessions/s1/recent", {}),
    ("GET", "/v1/blocks/profile", {}),
    ("POST", "/v1/recall", body(query=QUERY, session="s1")),
    ("POST", "/v1/context", body(query=QUERY, session="s1")),
    # Filters that try to reach beyond
    ("POST", "/v1/recall", body(query=QUERY, where={"$or": [{"user": "victim"}, {"topic": SECRET.lower()}]})),
    ("POST", "/v1/recall", body(query=QUERY, where={"$not": {"user": "intruder"}})),
    ("POST", "/v1/recall", body(query=QUERY, where={"tenant": "acme", "partition": 1})),
    ("POST", "/v1/recall", body(query=QUERY, where={"topic": {"$in": [SECRET.lower()]}})),
    ("POST", "/v1/recall", body(query="", limit=10_000)),
    ("POST", "/v1/recall", body(query="' or 1=1 --", session="' or '1'='1")),
    ("GET", '/v1/facts?where={{"user":"victim"}}', {}),
    ("GET", '/v1/facts?where={{"$or":[{{"topic":{{"$ne":"x"}}}}]}}', {}),
    # Wildcards and odd values as a user
    ("POST", "/v1/recall", body(query=QUERY, user="*")),
    ("POST", "/v1/recall", body(query=QUERY, user="%")),
    ("POST", "/v1/recall", body(query=QUERY, user="")),
    ("POST", "/v1/recall", body(query=QUERY, user=None)),
    ("POST", "/v1/recall", body(query=QUERY, user=["victim"])),
    ("POST", "/v1/recall", body(query=QUERY, user={"$ne": None})),
    ("POST", "/v1/recall", body(query=QUERY, user="victim\u0000")),
    ("POST", "/v1/recall", body(query=QUERY, user="acme/victim")),
    # Fields and headers that nobody has asked for
    ("POST", "/v1/recall", body(query=QUERY, tenant="acme")),
    ("POST", "/v1/recall?user=victim&tenant=acme", body(query=QUERY)),
    (
        "POST",
        "/v1/recall",
        {**body(query=QUERY), "headers": {"X-Tenant": "acme", "X-User": "victim", "X-User-ID": "victim"}},
    ),
    ("POST", "/v1/recall", {**body(query=QUERY), "headers": {"X-Forwarded-User": "victim", "Forwarded": "for=victim"}}),
    (
        "POST",
        "/v1/recall",
        {**body(query=QUERY), "headers": {"X-HTTP-Method-Override": "GET", "X-Original-URL": "/v1/export"}},
    ),
    ("POST", "/v1/recall", {"content": b'{"query": "code", "user": "intruder", "user": "victim"}'}),
    # Tricks with the path
    ("GET", "/v1/blocks/..%2f..%2fvictim%2fprofile", {}),
    ("GET", "/v1/blocks/profile%00?user=victim", {}),
    ("GET", "/v1/../v1/export?user=victim", {}),
    ("GET", "/v1//export?user=victim", {}),
    ("GET", "/v1/%65xport?user=victim", {}),
    ("GET", "//v1/export?user=victim", {}),
    ("GET", "/V1/export?user=victim", {}),
    ("GET", "/v1/export;user=victim", {}),
    ("GET", "/v1/export%3Fuser=victim", {}),
    ("GET", "/v1/facts/{fact}%2Fhistory", {}),
    ("GET", "/v1/sessions/s1%2Fstate", {}),
    # What is about everybody
    ("GET", "/stats?tenant=acme", {}),
    ("GET", "/v1/stats", {}),
    ("GET", "/v1/users", {}),
    ("GET", "/v1/holds", {}),
    ("GET", "/v1/snapshots", {}),
    ("POST", "/v1/snapshots/latest/verify", body()),
    ("POST", "/v1/consolidate", body(everyone=True, dry_run=True)),
    ("POST", "/v1/purge", body(dry_run=True)),
    ("GET", "/v1/jobs", {}),
    ("GET", "/v1/jobs/follow", {}),
    ("POST", "/v1/doctor", body(repair=False)),
    ("GET", "/healthz", {}),
    ("GET", "/readyz", {}),
    ("GET", "/metrics", {}),
]
CHANGES: Sequence[Try] = [
    ("POST", "/v1/messages", body(content="Planted", user="victim", session="s1")),
    ("POST", "/v1/messages", body(content=[{"content": "Planted", "id": "{message}"}], user="victim")),
    ("POST", "/v1/facts", body(text="Planted", user="victim")),
    ("PATCH", "/v1/facts/{fact}", body(text="Planted")),
    ("PATCH", "/v1/facts/{fact}", body(text="Planted", user="victim")),
    ("POST", "/v1/facts/{fact}/retract", body()),
    ("POST", "/v1/facts/{fact}/retract", body(user="victim")),
    ("PUT", "/v1/blocks/profile", body(text="Planted", user="victim")),
    ("POST", "/v1/blocks/profile/append", body(text="Planted", user="victim")),
    ("DELETE", "/v1/blocks/profile?user=victim", {}),
    ("PATCH", "/v1/sessions/s1/state", body(values={"secret": "Planted"}, user="victim")),
    ("POST", "/v1/sessions/s1/end", body(user="victim")),
    ("POST", "/v1/forget", body(user="victim")),
    ("POST", "/v1/forget", body(fact="{fact}")),
    ("POST", "/v1/forget", body(message="{message}")),
    ("POST", "/v1/forget", body(session="s1", user="victim")),
    ("POST", "/v1/forget", body(before="2100-01-01T00:00:00+00:00", user="victim")),
    ("POST", "/v1/forget", body(whole_tenant="acme")),
    ("POST", "/v1/forget", body()),
    ("POST", "/chat", body(user_input="I live in Planted", user_id="victim")),
    ("POST", "/chat", body(user_input="I live in Planted", session_id="s1")),
    ("POST", "/v1/import?user=victim", {"content": b'{"content": "Planted"}'}),
    ("POST", "/v1/import", {"content": b'{"content": "Planted", "user": "victim"}'}),
    ("POST", "/v1/import?anonymous=true", {"content": b'{"content": "Planted", "user": "victim"}'}),
    ("POST", "/v1/import?tenant=acme", {"content": b'{"content": "Planted", "user": "victim"}'}),
    ("POST", "/v1/messages", body(content=[{"content": "Planted", "id": "{message}"}], session="s1")),
    (
        "POST",
        "/v1/messages/{message}/proposals",
        body(proposals=[dict.fromkeys(("quote", "text", "subject", "attribute", "value"), "Planted")], user="victim"),
    ),
    ("POST", "/v1/facts/{fact}/restore", body()),
    ("PATCH", "/v1/sessions/s1/state", body(values={"secret": "Planted"})),
    ("POST", "/v1/sessions/s1/end", body()),
    ("PUT", "/v1/blocks/profile", body(text="Planted")),
    ("DELETE", "/v1/blocks/profile", {}),
    ("POST", "/v1/holds", body(user="victim")),
    ("DELETE", "/v1/holds?user=victim", {}),
    ("POST", "/v1/relearn", body(user="victim", apply=True)),
]


def filled(house: House, trial: Try) -> tuple[str, str, dict[str, Any]]:
    method, path, more = trial
    request = {key: value for key, value in more.items() if key != "json"}
    told = {"json": with_ids(house, more["json"])} if "json" in more else {}
    return method, path.format(**house.ids()), request | told


def named(trial: Try) -> str:
    return f"{trial[0]} {trial[1]} {json.dumps(trial[2].get('json', {}))}"[:90]


async def test_no_request_shows_what_another_user_holds(house: House) -> None:
    wrong: list[tuple[str, int, str]] = []
    for trial in [*NAMED, *UNNAMED]:
        method, path, more = filled(house, trial)
        for key in house.strangers:
            answer = await house.ask(method, path, key, **dict(more))
            # What an intruder asks may be quoted back to them; what the victim holds may not.
            shown = answer.text.replace(QUERY, "").replace(json.dumps(QUERY), "")
            if SECRET in shown or answer.status_code >= 500:
                wrong.append((named(trial), answer.status_code, answer.text))
    assert wrong == []


async def test_naming_another_user_of_the_tenant_is_refused(house: House) -> None:
    told: dict[str, int] = {}
    for trial in NAMED:
        method, path, more = filled(house, trial)
        told[named(trial)] = (await house.ask(method, path, house.same_tenant, **more)).status_code
    last_counts = next(name for name in told if "user=victim&user=intruder" in name)  # for everybody who reads it
    assert told == dict.fromkeys(told, 403) | {last_counts: 200}


async def test_no_request_changes_what_another_user_holds(house: House) -> None:
    before = await everything_of(house)
    for trial in CHANGES:
        method, path, more = filled(house, trial)
        for key in house.strangers:
            assert (await house.ask(method, path, key, **dict(more))).status_code < 500, named(trial)
    assert await everything_of(house) == before


async def test_the_victim_is_not_locked_out(house: House) -> None:
    found = await house.ask("POST", "/v1/recall", house.victim, json={"query": QUERY})
    assert SECRET in found.text


async def test_an_idempotency_key_of_another_does_not_give_their_answer(house: House) -> None:
    asked = {"json": {"query": QUERY}, "headers": {"Idempotency-Key": "k"}}
    assert SECRET in (await house.ask("POST", "/v1/recall", house.victim, **dict(asked))).text
    for key in (house.same_tenant, house.other_tenant):
        answer = await house.ask("POST", "/v1/recall", key, **dict(asked))
        assert answer.status_code == 200
        assert "idempotent-replayed" not in answer.headers
        assert SECRET not in answer.text.replace(QUERY, "")


async def test_an_answer_kept_for_another_is_theirs_alone(fresh_house: House) -> None:
    """Who sends the same request with the same key is answered anew, and changes their own memory only."""
    house = fresh_house
    for path, asked in (
        ("/v1/messages", {"content": f"I live in {SECRET}", "session": "kept"}),
        ("/v1/facts", {"text": f"The third code is {SECRET}"}),
        ("/chat", {"user_input": "What is the code?"}),
    ):
        again = {"json": asked, "headers": {"Idempotency-Key": path}}
        first = await house.ask("POST", path, house.victim, **dict(again))
        before = await everything_of(house)
        for key in (house.same_tenant, house.other_tenant):
            answer = await house.ask("POST", path, key, **dict(again))
            assert answer.is_success
            assert "idempotent-replayed" not in answer.headers
            assert first.json() != answer.json()
        assert await everything_of(house) == before


async def test_an_etag_of_another_opens_nothing(house: House) -> None:
    tag = (await house.ask("GET", f"/v1/facts/{house.fact}", house.victim)).headers["etag"]
    change = {"json": {"text": "Planted"}, "headers": {"If-Match": tag}}
    assert (await house.ask("PATCH", f"/v1/facts/{house.fact}", house.same_tenant, **change)).status_code == 404


async def test_two_keys_in_one_request_are_not_added_up(house: House) -> None:
    own = house.same_tenant["Authorization"].removeprefix("Bearer ")
    theirs = {"Authorization": "Bearer cp_000000000000_x", "X-Commonplace-Key": own}
    answer = await house.ask("POST", "/v1/recall", theirs, json={"query": QUERY, "user": "victim"})
    assert answer.status_code == 403


async def test_a_key_with_the_id_of_another_and_ones_own_secret_opens_nothing(house: House) -> None:
    victim = house.victim["Authorization"].removeprefix("Bearer ")
    own = house.same_tenant["Authorization"].removeprefix("Bearer ")
    mixed = "_".join(["cp", victim.split("_", 2)[1], own.split("_", 2)[2]])
    assert (await house.ask("GET", "/v1/profile", {"Authorization": f"Bearer {mixed}"})).status_code == 401


async def test_names_are_of_one_tenant_and_the_anonymous_user_is_a_user_like_any_other(fresh_house: House) -> None:
    house = fresh_house
    answer = await house.ask("POST", "/v1/recall", house.other_tenant, json={"query": "", "user": "victim"})
    texts = [item["text"] for item in answer.json()["items"]]
    assert texts
    assert all("Ordinary" in text for text in texts)
    answer = await house.ask("POST", "/v1/forget", house.same_tenant, json={"anonymous": True})
    assert answer.status_code == 403
    found = await house.ask("POST", "/v1/recall", house.other_tenant, json={"query": ""})
    assert found.json()["items"] == []
