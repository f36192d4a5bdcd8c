"""How OpenAI's responses put a turn, and how their answers are read.

Memory goes into `instructions`, which count for one response: an item of the input would stay in a conversation that
the service behind keeps, and be there again with every later turn.
"""

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

ENDS = ("response.completed", "response.incomplete")


def read(body: bytes) -> Turn | None:
    asked = object_of(body)
    items = _items(asked.get("input")) if asked else []
    places = [place for place, item in enumerate(items) if item.get("role") == "user"]
    if asked is None or not isinstance(asked.get("instructions", ""), str | None):
        return None
    last = places[-1] if places else -1  # results of tools alone go on with a response: nobody has said anything
    return Turn(
        body=asked,
        said=text_of(items[last].get("content")) if places else "",
        fresh=not any(str(item.get("type", "")).endswith("_output") for item in items[last:]),
        thread=thread_of([{"after": previous_of(asked)}, *items[: last + 1]]),
        user=name_of(asked.get("user")) or name_of(asked.get("safety_identifier")),
        model=name_of(asked.get("model")) or "",
    )


def _items(given: object) -> list[Object]:
    return [{"role": "user", "content": given}] if isinstance(given, str) else objects_of(given)


def previous_of(asked: Object) -> list[str]:
    """Return what of the service behind a request goes on with: a response, a conversation."""
    conversation = asked.get("conversation")
    held = conversation.get("id") if isinstance(conversation, dict) else conversation
    named = (asked.get("previous_response_id"), held)
    return [str(one) for one in named if one is not None]


def with_memory(turn: Turn, memory: str) -> Object:
    given = turn.body.get("instructions")
    return {**turn.body, "instructions": f"{given}\n\n{memory}" if given else memory}


def reply_of(answer: Object) -> str:
    said = [item for item in objects_of(answer.get("output")) if item.get("type") == "message"]
    return "\n".join(text for item in said if (text := text_of(item.get("content"))))


def id_of(answer: Object) -> str:
    return name_of(answer.get("id")) or ""


class Hearing:
    """The last event holds the whole response."""

    def __init__(self) -> None:
        self.complete, self.id = False, ""
        self._text = ""

    def event(self, data: str) -> None:
        event = object_of(data) or {}
        response = event.get("response")
        if isinstance(response, dict):
            self.id = id_of(response) or self.id
            if event.get("type") in ENDS:
                self.complete, self._text = True, reply_of(response)

    def text(self) -> str:
        return self._text


RESPONSES = Wire(
    name="openai",
    read=read,
    with_memory=with_memory,
    reply_of=reply_of,
    hearing=Hearing,
    id_of=id_of,
    previous_of=previous_of,
)
