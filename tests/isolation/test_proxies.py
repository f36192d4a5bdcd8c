"""Ways to have a model told what another user holds, by the fields and headers of a proxied request. None works."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.isolation.conftest import SECRET, House, everything_of, with_ids

Try = tuple[str, dict[str, Any], dict[str, str]]
"""A path, the fields beside the question, and headers."""
QUESTION = "What is the code, and on which street does the dog live?"
CHAT, RESPONSES, MESSAGES = "/openai/v1/chat/completions", "/openai/v1/responses", "/anthropic/v1/messages"
ALL = (CHAT, RESPONSES, MESSAGES)

NAMED: Sequence[Try] = [
    (CHAT, {"user": "victim"}, {}),
    (CHAT, {"safety_identifier": "victim"}, {}),
    (CHAT, {"user": "victim", "safety_identifier": "intruder"}, {}),
    (CHAT, {"user": "victim", "stream": True}, {}),
    (CHAT, {"user": "intruder"}, {"X-Commonplace-User": "victim"}),
    (RESPONSES, {"user": "victim"}, {}),
    (RESPONSES, {"safety_identifier": "victim", "stream": True}, {}),
    (RESPONSES, {}, {"X-Commonplace-User": "victim"}),
    (MESSAGES, {"metadata": {"user_id": "victim"}}, {}),
    (MESSAGES, {"metadata": {"user_id": "victim"}, "stream": True}, {}),
    (MESSAGES, {}, {"X-Commonplace-User": "victim"}),
    (MESSAGES, {"metadata": {"user_id": "intruder"}}, {"X-Commonplace-User": "victim"}),
]
"""These name the victim where a user can be named, and are refused."""
UNNAMED: Sequence[Try] = [
    *((path, {}, {"X-Commonplace-Session": "s1"}) for path in ALL),
    *((path, {}, {"X-Commonplace-Tenant": "acme", "X-Tenant": "acme", "X-User": "victim"}) for path in ALL),
    *((path, {}, {"X-Forwarded-User": "victim", "OpenAI-Organization": "acme"}) for path in ALL),
    *((path, {}, {"X-Commonplace-User": "*"}) for path in ALL),
    *((path, {}, {"X-Commonplace-User": "acme/victim"}) for path in ALL),
    *((path, {"metadata": {"user": "victim", "tenant": "acme", "session": "s1"}}, {}) for path in ALL),
    *((path, {"tenant": "acme", "session": "s1", "session_id": "s1"}, {}) for path in ALL),
    *((path, {"previous_response_id": "{message}", "conversation": "s1", "store": True}, {}) for path in ALL),
    *((path, {"prompt_cache_key": "victim", "id": "{fact}"}, {}) for path in ALL),
    (CHAT, {"user": ["victim"]}, {}),
    (CHAT, {"user": {"$ne": None}}, {}),
    (CHAT, {"user": ""}, {}),
    (CHAT, {"metadata": {"user_id": "victim"}}, {}),
    (MESSAGES, {"user": "victim", "safety_identifier": "victim"}, {}),
    (MESSAGES, {"metadata": {"user_id": ["victim"]}}, {}),
    (MESSAGES, {"metadata": "victim"}, {}),
]


def body_of(path: str, fields: dict[str, Any]) -> dict[str, Any]:
    if path == RESPONSES:
        return {"model": "m", "input": QUESTION, **fields}
    return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": QUESTION}], **fields}


async def ask(house: House, key: dict[str, str], trial: Try) -> tuple[int, str]:
    """Ask, and return what came back together with what the model was told for it."""
    path, fields, headers = trial
    seen = len(house.behind.asked)
    answer = await house.post(path, with_ids(house, body_of(path, fields)), headers | key)
    told = json.dumps([one.body for one in house.behind.asked[seen:]])
    return answer.status_code, f"{answer.text} {dict(answer.headers)} {told}"


def named(trial: Try) -> str:
    return f"{trial[0]} {json.dumps(trial[1])} {json.dumps(trial[2])}"[:100]


@pytest.mark.parametrize("trial", [*NAMED, *UNNAMED], ids=named)
async def test_no_model_is_told_what_another_user_holds(house: House, trial: Try) -> None:
    before = await everything_of(house)
    for key in (house.same_tenant, house.other_tenant, {}):
        status, shown = await ask(house, key, trial)
        assert status < 500
        assert SECRET not in shown
    assert await everything_of(house) == before


@pytest.mark.parametrize("trial", NAMED, ids=named)
async def test_naming_another_user_of_the_tenant_is_refused(house: House, trial: Try) -> None:
    seen = len(house.behind.asked)
    assert (await ask(house, house.same_tenant, trial))[0] == 403
    assert len(house.behind.asked) == seen


@pytest.mark.parametrize("path", ALL)
async def test_the_victims_own_model_is_told(fresh_house: House, path: str) -> None:
    status, shown = await ask(fresh_house, fresh_house.victim, (path, {}, {}))
    assert status == 200
    assert SECRET in shown


@pytest.mark.parametrize("path", ALL)
async def test_an_idempotency_key_of_another_does_not_give_their_answer(fresh_house: House, path: str) -> None:
    again = {"Idempotency-Key": "k-proxy"}
    assert SECRET in (await ask(fresh_house, fresh_house.victim, (path, {}, again)))[1]
    for key in (fresh_house.same_tenant, fresh_house.other_tenant):
        status, shown = await ask(fresh_house, key, (path, {}, again))
        assert status == 200
        assert SECRET not in shown
