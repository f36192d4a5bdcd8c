"""How Anthropic's messages put a turn, and how their answers are read."""

from commonplace.interfaces.http.proxies.turn import (
    Object,
    Turn,
    Wire,
    name_of,
    object_of,
    objects_of,
    text_of,
    thread_of,
)


def read(body: bytes) -> Turn | None:
    asked = object_of(body)
    messages = objects_of(asked.get("messages")) if asked else []
    # What a tool returned comes as the user's, too: only a message with text in it was said by the user.
    places = [
        place
        for place, message in enumerate(messages)
        if message.get("role") == "user" and (text_of(message.get("content")) or not _has_results(message))
    ]
    if asked is None or not places:
        return None
    last, metadata = places[-1], asked.get("metadata")
    return Turn(
        body=asked,
        said=text_of(messages[last].get("content")),
        fresh=not any(_has_results(message) for message in messages[last + 1 :]),
        thread=thread_of(messages[: last + 1]),
        user=name_of(metadata.get("user_id")) if isinstance(metadata, dict) else None,
        model=name_of(asked.get("model")) or "",
    )


def _has_results(message: Object) -> bool:
    return any(part.get("type") == "tool_result" for part in objects_of(message.get("content")))


def with_memory(turn: Turn, memory: str) -> Object:
    """Put the memory in one block of the system prompt, behind the app's own, so that a cached beginning stays one."""
    given = turn.body.get("system")
    before = [{"type": "text", "text": given}] if isinstance(given, str) and given else objects_of(given)
    return {**turn.body, "system": [*before, {"type": "text", "text": memory}]}


def reply_of(answer: Object) -> str:
    return text_of(answer.get("content"))


class Hearing:
    def __init__(self) -> None:
        self.complete, self.id = False, ""
        self._pieces: list[str] = []

    def event(self, data: str) -> None:
        event = object_of(data) or {}
        if event.get("type") == "message_stop":
            self.complete = True
        delta = event.get("delta")
        if event.get("type") == "content_block_delta" and isinstance(delta, dict) and delta.get("type") == "text_delta":
            self._pieces.append(str(delta.get("text", "")))

    def text(self) -> str:
        return "".join(self._pieces)


MESSAGES = Wire(name="anthropic", read=read, with_memory=with_memory, reply_of=reply_of, hearing=Hearing)
