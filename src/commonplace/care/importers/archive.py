"""The lines of an export."""

from collections.abc import Iterator
from dataclasses import replace

from commonplace.care.importers.source import Source
from commonplace.care.lines import Ended, record_of
from commonplace.domain.archive import OfUser, Opened
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Bad, Item, Reading, Taken

CUT_SHORT = "the file has no end: it was cut short, and there may be more"


def read(source: Source, reading: Reading) -> Iterator[Item]:
    """Yield the records. With a user in `reading`, all of it becomes theirs. Raises Incompatible for a newer form."""
    ended = opened = False
    for number, line in source.lines():
        place = f"line {number}"
        try:
            record = record_of(line)
        except InvalidInput as error:
            yield Bad(place, str(error))
            continue
        ended = isinstance(record, Ended)
        opened = opened or isinstance(record, Opened)
        if isinstance(record, OfUser) and (reading.user is not None or reading.anonymous):
            record = replace(record, user=reading.user)
        if not isinstance(record, Ended):
            yield Taken(place, record)
    if opened and not ended:
        yield Bad("the end", CUT_SHORT)
