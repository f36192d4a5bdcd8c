"""How OpenAI's chat completions put a turn, and how their answers are read."""

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

LEADING = ("system", "developer")
RESULTS = ("tool", "function")


def read(body: bytes) -> Turn | None:
    asked = object_of(body)
    messages = objects_of(asked.get("messages")) if asked else []
    places = [place for place, message in enumerate(messages) if message.get("role") == "user"]
    if asked is None or not places:
        return None
    last = places[-1]
    return Turn(
        body=asked,
        said=text_of(messages[last].get("content")),
        fresh=not any(message.get("role") in RESULTS for message in messages[last:]),
        thread=thread_of(messages[: last + 1]),
        user=name_of(asked.get("user")) or name_of(asked.get("safety_identifier")),
        model=name_of(asked.get("model")) or "",
    )


def with_memory(turn: Turn, memory: str) -> Object:
    """Put the memory in one message, behind what the app says to the model itself."""
    messages = turn.body["messages"]
    lead = next((place for place, one in enumerate(messages) if one.get("role") not in LEADING), len(messages))
    return {**turn.body, "messages": [*messages[:lead], {"role": "system", "content": memory}, *messages[lead:]]}


def reply_of(answer: Object) -> str:
    choices = objects_of(answer.get("choices"))
    message = choices[0].get("message") if choices else None
    return text_of(message.get("content")) if isinstance(message, dict) else ""


class Hearing:
    """Of several choices the first is the reply."""

    def __init__(self) -> None:
        self.complete, self.id = False, ""
        self._pieces: list[str] = []
        self._finished = False

    def event(self, data: str) -> None:
        if data == "[DONE]":
            self.complete = self._finished
            return
        chunk = object_of(data) or {}
        for choice in objects_of(chunk.get("choices")):
            if choice.get("index") != 0:
                continue
            delta = choice.get("delta")
            if isinstance(delta, dict) and isinstance(delta.get("content"), str):
                self._pieces.append(delta["content"])
            self._finished = self._finished or choice.get("finish_reason") is not None

    def text(self) -> str:
        return "".join(self._pieces)


CHAT = Wire(name="openai", read=read, with_memory=with_memory, reply_of=reply_of, hearing=Hearing)
