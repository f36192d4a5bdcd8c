"""A language model on loopback: it speaks the wire formats of OpenAI and Anthropic, and says what a test tells it."""

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from commonplace.adapters.rules import RuleExtractor
from commonplace.domain.claims import Claim
from commonplace.domain.values import Message, MessageId


@dataclass(frozen=True, slots=True)
class Failing:
    """An answer that is an error."""

    status: int
    after: float = 0.0


Answer = dict[str, Any] | str | Failing
"""The arguments of the reply, some text that is none, or a failure."""
Script = Callable[[str], Answer]


@dataclass
class ScriptedModel:
    answer: Script
    url: str = ""
    prompts: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    held: threading.Event = field(default_factory=threading.Event)
    """Answers wait for it."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # who asked was killed, as in the chaos
            super().handle_error(request, client_address)


@contextmanager
def serving(answer: Script) -> Iterator[ScriptedModel]:
    model = ScriptedModel(answer)
    model.held.set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # an answer in two pieces would wait 40 ms for its second

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            speak = WIRES[self.path.removeprefix("/v1")]
            prompt = _text_of(body)
            model.prompts.append(prompt)
            model.keys.append(self.headers.get("x-api-key") or self.headers.get("authorization"))
            model.held.wait(30)
            answered = model.answer(prompt)
            if isinstance(answered, Failing):
                self._reply(answered.status, {"error": {"type": "scripted", "message": "scripted failure"}})
            else:
                self._reply(200, speak(body, answered))

        def _reply(self, status: int, body: Mapping[str, Any]) -> None:
            payload = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield model
    finally:
        model.held.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _text_of(body: Mapping[str, Any]) -> str:
    """Return the last thing that the user said, in any of the formats."""
    said = [one for one in body.get("messages", body.get("input", [])) if one.get("role") == "user"]
    content = said[-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _chat(body: Mapping[str, Any], answer: dict[str, Any] | str) -> Mapping[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if body.get("tools") and not isinstance(answer, str):
        name = body["tools"][0]["function"]["name"]
        call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(answer)}}
        message["tool_calls"] = [call]
    else:
        message["content"] = answer if isinstance(answer, str) else json.dumps(answer)
    return {
        "id": "r1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def _responses(body: Mapping[str, Any], answer: dict[str, Any] | str) -> Mapping[str, Any]:
    if body.get("tools") and not isinstance(answer, str):
        name = body["tools"][0]["name"]
        item = {"type": "function_call", "id": "f1", "call_id": "c1", "name": name, "arguments": json.dumps(answer)}
    else:
        text = answer if isinstance(answer, str) else json.dumps(answer)
        part = {"type": "output_text", "text": text, "annotations": []}
        item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]}
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "completed",
        "model": body["model"],
        "output": [item],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 100,
            "output_tokens": 10,
            "total_tokens": 110,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _messages(body: Mapping[str, Any], answer: dict[str, Any] | str) -> Mapping[str, Any]:
    if isinstance(answer, str):
        content: dict[str, Any] = {"type": "text", "text": answer}
    else:
        content = {"type": "tool_use", "id": "t1", "name": body["tools"][0]["name"], "input": answer}
    return {
        "id": "r1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [content],
        "stop_reason": "end_turn" if isinstance(answer, str) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


Speak = Callable[[Mapping[str, Any], dict[str, Any] | str], Mapping[str, Any]]
WIRES: Mapping[str, Speak] = {"/chat/completions": _chat, "/responses": _responses, "/messages": _messages}


def reading(prompt: str) -> tuple[Message, list[Message]]:
    """Return the message that a prompt is about, and those before it."""
    day = re.search(r"written on \w+, (\S+ \S+) UTC", prompt)
    said = re.search(r"<message>\n(.*)\n</message>", prompt, re.DOTALL)
    before = re.search(r"<before>\n(.*?)\n</before>", prompt, re.DOTALL)
    assert day and said and before
    at = datetime.fromisoformat(day[1]).replace(tzinfo=UTC)
    lines = [line.partition(": ") for line in before[1].splitlines() if ": " in line]
    return _message(said[1], at), [_message(text, at, role) for role, _, text in lines]


def by_rules(prompt: str) -> Answer:
    """Answer what the rules read out of the message."""
    message, before = reading(prompt)
    claims = RuleExtractor().claims(message, before=before)
    return {"claims": [_found(claim, message.text) for claim in claims]}


def _message(text: str, at: datetime, role: str = "user") -> Message:
    return Message(id=MessageId("m"), role=role, text=text, at=at, recorded_at=at)  # type: ignore[arg-type]


def _found(claim: Claim, text: str) -> dict[str, Any]:
    return {
        "quote": text[claim.start : claim.stop] or text,
        "text": claim.text,
        "subject": claim.subject,
        "attribute": claim.attribute,
        "value": claim.value,
        "standing": claim.standing,
        "confidence": claim.confidence,
        "importance": claim.importance,
        "valid_from": claim.valid_from.isoformat() if claim.valid_from else None,
        "valid_to": claim.valid_to.isoformat() if claim.valid_to else None,
    }
