"""Items of a LangGraph store, as a list or as lines: `{"namespace": […], "key": …, "value": {…}, "created_at": …}`.

Each becomes a fact: its text is the value's own, or the value as JSON, and the namespace and the key are its metadata.
"""

import json
from collections.abc import Iterator

from commonplace.care.importers.making import Object, Stated, Wording, an_object, made_id, moment, object_at, text_at
from commonplace.care.importers.source import Source
from commonplace.care.lines import object_of
from commonplace.domain.archive import OfUser
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Bad, Item, Reading, Taken
from commonplace.domain.values import Json

TEXTS = ("content", "text", "memory", "data", "fact")


def read(source: Source, reading: Reading) -> Iterator[Item]:
    yield Taken("the beginning", OfUser(reading.user))
    for place, value in _values(source):
        try:
            item = object_of(value) if isinstance(value, bytes) else an_object(value)
            yield from [Taken(place, record) for record in _stated(item, reading).records()]
        except InvalidInput as error:
            yield Bad(place, str(error))


def _values(source: Source) -> Iterator[tuple[str, Json | bytes]]:
    if source.head().lstrip().startswith(b"["):
        return ((f"item {number}", value) for number, value in enumerate(source.values(), start=1))
    return ((f"line {number}", line) for number, line in source.lines())


def _stated(item: Object, reading: Reading) -> Stated:
    # In the tables of a store in PostgreSQL or SQLite the namespace is the prefix, with dots.
    namespace, key = item.get("namespace", item.get("prefix")), text_at(item, "key")
    value = object_at(item, "value")
    if isinstance(namespace, str):
        namespace = list[Json](namespace.split("."))
    if not isinstance(namespace, list) or key is None or not value:
        raise InvalidInput("expected an item with namespace, key and value")
    text = text_at(value, *TEXTS)
    rest = {name: one for name, one in value.items() if name not in TEXTS}
    since = moment(item.get("updated_at")) or moment(item.get("created_at")) or reading.now
    return Stated(
        id=made_id(namespace, key),
        wordings=[Wording(text=text or json.dumps(value, ensure_ascii=False), since=since)],
        origin="LangGraph",
        metadata={**(rest if text else {}), "namespace": "/".join(map(str, namespace)), "key": key},
    )
