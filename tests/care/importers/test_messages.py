import contextlib
import json
from collections import Counter
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.care.importers.messages import Owner, parse_line
from commonplace.domain.errors import InvalidInput
from commonplace.domain.imports import Reading

NOBODY = Owner(None, None, None)
READING = Reading(now=datetime(2026, 5, 12, tzinfo=UTC))


def test_the_same_words_twice_are_two_messages_and_the_same_again_next_time() -> None:
    line = b'{"content": "ok"}'
    once, again = Counter[bytes](), Counter[bytes]()
    ids = [parse_line(line, NOBODY, once, READING)[1].id for _ in range(2)]
    assert len(set(ids)) == 2
    assert [parse_line(line, NOBODY, again, READING)[1].id for _ in range(2)] == ids
    assert parse_line(line, Owner("ana", None, None), again, READING)[1].id not in ids


@settings(max_examples=100)
@given(
    st.binary()
    | st.text().map(str.encode)
    | st.recursive(st.none() | st.text(), st.lists).map(json.dumps).map(str.encode)
)
def test_any_line_is_a_message_or_a_named_error(text: bytes) -> None:
    with contextlib.suppress(InvalidInput):
        assert parse_line(text, NOBODY, Counter(), READING)[1].text
