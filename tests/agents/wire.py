"""A model service on loopback that streams: the wire formats of OpenAI, Anthropic, Google and Cohere, scripted."""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.agents import gemini
from tests.agents.embedding_wires import EMBEDDINGS
from tests.learning.scripted_model import WIRES as OLDER
from tests.learning.scripted_model import Speak, by_rules

DIMENSIONS = 8
WIRES: Mapping[str, Speak] = {**OLDER, "/gemini": gemini.whole}
GEMINI = re.compile(r"/v1beta/models/([^:]+):(\w+)")


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool. The arguments are a string, so that they can be wrong."""

    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Fail:
    status: int
    retry_after: str | None = None


@dataclass(frozen=True, slots=True)
class BreakOff:
    """Some words, and then the line is dead: closed as if all were said, or cut."""

    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """The first words at once, and the others when somebody opens the gate."""

    text: str
    gate: threading.Event


@dataclass(frozen=True, slots=True)
class Garble:
    """Some words, and then something that is no JSON."""

    text: str


@dataclass(frozen=True, slots=True)
class Sleep:
    seconds: float


Reply = Say | Call | Fail | BreakOff | Pause | Garble | Sleep


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, in any of the formats."""

    body: Mapping[str, Any]

    @property
    def said(self) -> str:
        """The last thing that the user said."""
        return _texts(self.messages, "user")[-1]

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        given = self.body.get("messages", self.body.get("input"))
        return [{"role": "user", "content": given}] if isinstance(given, str) else given or []

    @property
    def system(self) -> str:
        system = self.body.get("system") or self.body.get("instructions") or ""
        given = system if isinstance(system, str) else "\n".join(part["text"] for part in system)
        return "\n".join([given, *_texts(self.messages, "system"), *_texts(self.messages, "developer")])

    @property
    def results(self) -> list[str]:
        """What tools have returned."""
        return [
            json.dumps(one.get("content"))
            for one in self.body["messages"]
            if one["role"] == "tool" or "tool_result" in json.dumps(one.get("content", ""))
        ]


def _texts(messages: Sequence[Mapping[str, Any]], role: str) -> list[str]:
    found = []
    for message in messages:
        content = message.get("content") or ""
        text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        if message.get("role") == role and text:
            found.append(text)
    return found


Script = Callable[[Asked], Reply]


def from_memory(asked: Asked) -> Reply:
    """Answer with the names of things that hold now, as they stand in the memory part of the prompt."""
    facts = [line for line in asked.system.splitlines() if line.startswith("- ") and "(said " in line]
    names = re.findall(r"[A-Z][a-z]+", " ".join(line.partition(" (said")[0] for line in facts))
    known = sorted({"Shram", "Magnet", "Paris", "Rome"} & set(names), reverse=True)
    return Say(f"You use {' and '.join(known)}." if known else "Understood.")


@dataclass
class Service:
    script: Script
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    embedded: list[list[str]] = field(default_factory=list)
    bodies: list[Mapping[str, Any]] = field(default_factory=list)
    """What asked for embeddings, word for word."""
    learning: bool = True
    """Whether it reads facts out of messages; it fails where it does not."""
    embedding: Callable[[Sequence[str]], "Fail | Sleep | list[list[float]]"] = lambda texts: [
        vector_of(text) for text in texts
    ]


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    digest = hashlib.sha256(text.encode()).digest()
    return [float(byte) - 127.0 for byte in digest[:dimensions]]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # an answer in two pieces would wait 40 ms for its second
    server: "Server"

    def do_GET(self) -> None:
        self.server.spoken.headers.append({key.lower(): value for key, value in self.headers.items()})
        self._json(200, {"object": "list", "data": [{"id": "gpt", "object": "model", "created": 1, "owned_by": "us"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.spoken.headers.append({key.lower(): value for key, value in self.headers.items()})
        path = self.path.removeprefix("/v1").partition("?")[0]
        if google := GEMINI.fullmatch(self.path.partition("?")[0]):
            path = "/google/embeddings" if google[2] == "batchEmbedContents" else "/gemini"
            if path == "/gemini":
                body = gemini.asked(body, model=google[1], stream=google[2] == "streamGenerateContent")
        if path in EMBEDDINGS:
            self._embed(path, body)
        elif "You read what a user wrote" in json.dumps(body):
            if not self.server.spoken.learning:
                self._fail(path, Fail(500))
                return
            prompt = _texts(body["messages"], "user")[-1]
            self._json(200, WIRES[path](body, by_rules(prompt)))  # type: ignore[arg-type]
        else:
            self.server.spoken.asked.append(Asked(body))
            self._answer(path, body, self.server.spoken.script(Asked(body)))

    def _answer(self, path: str, body: Mapping[str, Any], reply: Reply) -> None:
        match reply:
            case Fail():
                self._fail(path, reply)
            case Sleep(seconds):
                self.server.gone.wait(seconds)
                self._fail(path, Fail(503))
            case _ if body.get("stream"):
                self._stream(STREAMS[path](body, reply), reply)
            case Call(tool, arguments):
                named = {**body, "tools": [_named(path, tool)]}
                self._json(200, WIRES[path](named, json.loads(arguments)))
            case Say(text) | BreakOff(text) | Pause(text) | Garble(text):
                self._json(200, WIRES[path](body, text))

    def _stream(self, events: Iterator[str], reply: Reply) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            self.wfile.write(f"{len(event.encode()):x}\r\n{event}\r\n".encode())
            self.wfile.flush()
        if not (isinstance(reply, BreakOff) and reply.cut):
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def _embed(self, path: str, body: Mapping[str, Any]) -> None:
        read, told = EMBEDDINGS[path]
        texts = read(body)
        self.server.spoken.embedded.append(texts)
        self.server.spoken.bodies.append(body)
        vectors = self.server.spoken.embedding(texts)
        match vectors:
            case Fail():
                self._fail(path, vectors)
            case Sleep(seconds):
                self.server.gone.wait(seconds)
                self._fail(path, Fail(503))
            case _:
                self._json(200, told(body, vectors, sum(len(text.split()) for text in texts)))

    def _fail(self, path: str, failing: Fail) -> None:
        told: Mapping[str, Any] = {"error": {"type": "scripted", "message": "scripted"}}
        if path in ("/gemini", "/google/embeddings"):
            told = gemini.error(failing.status)
        elif path == "/v2/embed":
            told = {"message": "scripted"}
        self._json(failing.status, told, failing.retry_after)

    def _json(self, status: int, body: Mapping[str, Any], retry_after: str | None = None) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        if retry_after is not None:
            self.send_header("retry-after", retry_after)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        return


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, spoken: Service) -> None:
        self.spoken, self.gone = spoken, threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        return  # a client that has left


@contextmanager
def service(script: Script = from_memory) -> Iterator[Service]:
    spoken = Service(script)
    server = Server(spoken)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    spoken.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield spoken
    finally:
        server.gone.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _named(path: str, tool: str) -> Mapping[str, Any]:
    if path == "/gemini":
        return {"functionDeclarations": [{"name": tool}]}
    return {"name": tool} if path != "/chat/completions" else {"type": "function", "function": {"name": tool}}


def _pieces(text: str) -> list[str]:
    return re.findall(r"\S+\s*", text)


def _paced(text: str, reply: Reply) -> Iterator[str]:
    for place, piece in enumerate(_pieces(text)):
        if isinstance(reply, Pause) and place == 1:
            reply.gate.wait(60)
        yield piece


def _chat(body: Mapping[str, Any], reply: Reply) -> Iterator[str]:
    def chunk(delta: Mapping[str, Any] | None, finish: str | None = None, **more: Any) -> str:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        payload = {"id": "c1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": body["model"]}
        return f"data: {json.dumps({**payload, 'choices': choices, **more})}\n\n"

    yield chunk({"role": "assistant", "content": ""})
    match reply:
        case Call(tool, arguments):
            call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": tool, "arguments": ""}}
            yield chunk({"tool_calls": [call]})
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]})
            yield chunk({}, "tool_calls")
        case Say(text) | BreakOff(text) | Pause(text) | Garble(text):
            for piece in _paced(text, reply):
                yield chunk({"content": piece})
            if isinstance(reply, BreakOff):
                return
            if isinstance(reply, Garble):
                yield "data: {not json at all\n\n"
                return
            yield chunk({}, "stop")
    if (body.get("stream_options") or {}).get("include_usage"):
        yield chunk(None, usage={"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55})
    yield "data: [DONE]\n\n"


def _responses(body: Mapping[str, Any], reply: Reply) -> Iterator[str]:
    def event(kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    assert isinstance(reply, Say | Call | BreakOff | Garble)
    spoken = json.loads(reply.arguments) if isinstance(reply, Call) else reply.text
    named = {**body, "tools": [{"name": reply.tool}]} if isinstance(reply, Call) else body
    whole = {**WIRES["/responses"](named, spoken)}
    started = {**whole, "status": "in_progress", "output": []}
    yield event("response.created", sequence_number=0, response=started)
    item = whole["output"][0]
    yield event("response.output_item.added", sequence_number=1, output_index=0, item={**item, "content": []})
    for number, piece in enumerate(_pieces("" if isinstance(reply, Call) else reply.text), 2):
        place = {"item_id": "m1", "output_index": 0, "content_index": 0, "logprobs": []}
        yield event("response.output_text.delta", sequence_number=number, delta=piece, **place)
    if isinstance(reply, BreakOff):
        return
    if isinstance(reply, Garble):
        yield "event: response.output_text.delta\ndata: {not json at all\n\n"
        return
    yield event("response.output_item.done", sequence_number=98, output_index=0, item=item)
    yield event("response.completed", sequence_number=99, response=whole)


def _messages(body: Mapping[str, Any], reply: Reply) -> Iterator[str]:
    def event(kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    usage = {"input_tokens": 50, "output_tokens": 1}
    start = {"id": "m1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    yield event("message_start", message={**start, "stop_reason": None, "stop_sequence": None, "usage": usage})
    if isinstance(reply, Call):
        block = {"type": "tool_use", "id": "t1", "name": reply.tool, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": reply.arguments}]
    else:
        assert isinstance(reply, Say | BreakOff | Garble)
        block = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(reply.text)]
    yield event("content_block_start", index=0, content_block=block)
    for delta in deltas:
        yield event("content_block_delta", index=0, delta=delta)
    if isinstance(reply, BreakOff):
        return
    if isinstance(reply, Garble):
        yield "event: content_block_delta\ndata: {not json at all\n\n"
        return
    yield event("content_block_stop", index=0)
    reason = "tool_use" if isinstance(reply, Call) else "end_turn"
    yield event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 5})
    yield event("message_stop")


def _gemini(body: Mapping[str, Any], reply: Reply) -> Iterator[str]:
    def event(told: Mapping[str, Any]) -> str:
        return f"data: {json.dumps(told)}\n\n"

    model = body["model"]
    if isinstance(reply, Call):
        yield event(gemini.called(model, reply.tool, reply.arguments))
        return
    assert isinstance(reply, Say | BreakOff | Pause | Garble)
    for piece in _paced(reply.text, reply):
        yield event(gemini.answer(model, [{"text": piece}], None))
    if isinstance(reply, Garble):
        yield "data: {not json at all\n\n"
    elif not isinstance(reply, BreakOff):
        yield event(gemini.answer(model, [{"text": ""}]))


STREAMS: Mapping[str, Callable[[Mapping[str, Any], Reply], Iterator[str]]] = {
    "/chat/completions": _chat,
    "/responses": _responses,
    "/messages": _messages,
    "/gemini": _gemini,
}


def one_after_another(replies: Sequence[Reply]) -> Script:
    """Give the replies in their order, the last one for ever."""
    waiting = list(replies)

    def script(asked: Asked) -> Reply:
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    return script
