"""mem0: what `get_all` and `history` return, together in one list, or as `{"results": […], "history": […]}`.

Each memory becomes a fact; its history, where the file has it, becomes the versions of that fact.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from commonplace.care.importers.making import Object, Stated, Wording, an_object, moment, object_at, objects_at, text_at
from commonplace.care.importers.source import Source
from commonplace.domain.archive import OfUser
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Bad, Item, Reading, Taken
from commonplace.domain.values import Json

KEPT = ("agent_id", "run_id", "categories")


def read(source: Source, reading: Reading) -> Iterator[Item]:
    memories: dict[str, Object] = {}
    history: dict[str, list[Object]] = {}
    for number, value in enumerate(source.values(), start=1):
        try:
            for one in _each(an_object(value)):
                _sort(one, memories, history)
        except InvalidInput as error:
            yield Bad(f"memory {number}", str(error))
    ids = sorted({*memories, *history}, key=lambda id_: _whose(memories.get(id_, {}), reading) or "")
    for user, group in groupby(ids, key=lambda id_: _whose(memories.get(id_, {}), reading)):
        yield Taken("the beginning", OfUser(user))
        for id_ in group:
            yield from _fact(id_, memories.get(id_, {}), history.get(id_, []), reading)


def _each(value: Object) -> Sequence[Object]:
    if "results" in value or "history" in value or "memories" in value:
        return [*objects_at(value, "results"), *objects_at(value, "memories"), *objects_at(value, "history")]
    return [value]


def _sort(one: Object, memories: dict[str, Object], history: dict[str, list[Object]]) -> None:
    id_ = text_at(one, "memory_id")
    if id_ is not None and "event" in one:
        history.setdefault(id_, []).append(one)
        return
    id_ = text_at(one, "id")
    if id_ is None or text_at(one, "memory", "text") is None:
        raise InvalidInput("has no id or no memory: expected what get_all or history of mem0 returns")
    memories[id_] = one


def _whose(memory: Object, reading: Reading) -> str | None:
    return reading.user if reading.user is not None or reading.anonymous else text_at(memory, "user_id")


def _fact(id_: str, memory: Object, events: Sequence[Object], reading: Reading) -> Iterator[Item]:
    place = f"memory {id_}"
    try:
        wordings = _wordings(events, reading) or _only(memory, reading)
        stated = Stated(id=id_, wordings=wordings, origin="mem0", metadata=_metadata(memory))
        yield from [Taken(place, record) for record in stated.records()]
    except InvalidInput as error:
        yield Bad(place, str(error))


def _only(memory: Object, reading: Reading) -> Sequence[Wording]:
    since = moment(memory.get("updated_at")) or moment(memory.get("created_at")) or reading.now
    return [Wording(text=text_at(memory, "memory", "text") or "", since=since)]


def _wordings(events: Sequence[Object], reading: Reading) -> Sequence[Wording]:
    """Return what it said, and until when, by what happened to it."""
    wordings: list[Wording] = []
    dated = [(moment(one.get("updated_at")) or moment(one.get("created_at")) or reading.now, one) for one in events]
    for at, event in sorted(dated, key=lambda pair: pair[0]):
        if wordings and wordings[-1].until is None:
            wordings[-1] = Wording(text=wordings[-1].text, since=wordings[-1].since, until=at)
        text = text_at(event, "new_memory")
        if event.get("event") != "DELETE" and text is not None:
            wordings.append(Wording(text=text, since=at))
    return wordings


def _metadata(memory: Object) -> Mapping[str, Json]:
    kept = {key: value for key in KEPT if (value := memory.get(key)) is not None}
    return {**object_at(memory, "metadata"), **kept}
