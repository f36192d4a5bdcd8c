"""The wire format of the Gemini API: what a request says, in the shape of the other formats, and what answers it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

ROLES = {"user": "user", "model": "assistant"}
STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}


def asked(body: Mapping[str, Any], *, model: str, stream: bool) -> dict[str, Any]:
    """Return the request with its `messages`, `system`, `model` and `stream`, as others have them."""
    system = body.get("systemInstruction") or {"parts": []}
    messages = [_message(ROLES[one["role"]], one["parts"]) for one in body["contents"]]
    said = "\n".join(part["text"] for part in system["parts"])
    return {**body, "messages": messages, "system": said, "model": model, "stream": stream}


def _message(role: str, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    returned = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    if returned:
        return {"role": "tool", "content": json.dumps(returned[0].get("return_value", returned[0]))}
    return {"role": role, "content": "".join(part.get("text", "") for part in parts)}


def answer(model: str, parts: Sequence[Mapping[str, Any]], finish: str | None = "STOP") -> dict[str, Any]:
    candidate = {"index": 0, "content": {"role": "model", "parts": list(parts)}}
    return {
        "candidates": [candidate if finish is None else {**candidate, "finishReason": finish}],
        "modelVersion": model,
        "responseId": "r1",
        "usageMetadata": {"promptTokenCount": 50, "candidatesTokenCount": 5, "totalTokenCount": 55},
    }


def called(model: str, tool: str, arguments: str) -> dict[str, Any]:
    """Return a call of a tool: Gemini sends objects, and says of itself when what it wrote is none."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return answer(model, [], "MALFORMED_FUNCTION_CALL")
    return answer(model, [{"functionCall": {"name": tool, "args": given}}])


def whole(body: Mapping[str, Any], spoken: dict[str, Any] | str) -> Mapping[str, Any]:
    if isinstance(spoken, str):
        return answer(body["model"], [{"text": spoken}])
    if body.get("tools"):
        return called(body["model"], body["tools"][0]["functionDeclarations"][0]["name"], json.dumps(spoken))
    return answer(body["model"], [{"text": json.dumps(spoken)}])


def texts(body: Mapping[str, Any]) -> list[str]:
    """Return what is to be embedded."""
    return ["".join(part["text"] for part in one["content"]["parts"]) for one in body["requests"]]


def error(status: int) -> Mapping[str, Any]:
    return {"error": {"code": status, "message": "scripted", "status": STATUS.get(status, "UNAVAILABLE")}}
