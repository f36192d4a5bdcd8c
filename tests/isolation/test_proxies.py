"""Ways to have a model told what another user holds, by the fields and headers of a proxied request. None works."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.isolation.conftest import SECRET, House, everything_of, with_ids

pytestmark = pytest.mark.backends("pairwise")

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
    answer = await house.ask("POST", path, key, json=with_ids(house, body_of(path, fields)), headers=headers)
    told = json.dumps([one.body for one in house.behind.asked[seen:]])
    return answer.status_code, f"{answer.text} {dict(answer.headers)} {told}"


def named(trial: Try) -> str:
    return f"{trial[0]} {json.dumps(trial[1])} {json.dumps(trial[2])}"[:100]


async def test_no_model_is_told_what_another_user_holds(open_house: House) -> None:
    before = await everything_of(open_house)
    wrong: list[tuple[str, int, str]] = []
    for trial in [*NAMED, *UNNAMED]:
        for key in open_house.strangers:
            status, shown = await ask(open_house, key, trial)
            if SECRET in shown or status >= 500:
                wrong.append((named(trial), status, shown))
    assert wrong == []
    assert await everything_of(open_house) == before


async def test_naming_another_user_of_the_tenant_is_refused(open_house: House) -> None:
    seen = len(open_house.behind.asked)
    told = {named(trial): (await ask(open_house, open_house.same_tenant, trial))[0] for trial in NAMED}
    assert told == dict.fromkeys(told, 403)
    assert len(open_house.behind.asked) == seen


async def test_only_the_victims_own_model_is_told_and_no_kept_answer_is_given_to_another(open_house: House) -> None:
    for path in ALL:
        trial: Try = (path, {}, {"Idempotency-Key": path})
        status, shown = await ask(open_house, open_house.victim, trial)
        assert status == 200
        assert SECRET in shown
        for key in (open_house.same_tenant, open_house.other_tenant):
            status, shown = await ask(open_house, key, trial)
            assert status == 200
            assert SECRET not in shown
