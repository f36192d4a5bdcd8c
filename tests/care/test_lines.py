"""Every record has a line, and a line that is not right is refused by its field."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.adapters.inmemory import InMemoryLedger
from commonplace.care.lines import Ended, line_of, record_of
from commonplace.domain.archive import KeptFact, KeptMessage, Opened, Passage, Spent
from commonplace.domain.errors import Incompatible, InvalidInput
from commonplace.domain.keys import new_key
from commonplace.domain.usage import Usage
from tests.contracts.ledger.archive import everything, fill, forgot
from tests.contracts.ledger.values import ANA, START, a_fact, a_message, added, any_text, json_values


async def test_every_record_comes_back_from_its_line() -> None:
    ledger = InMemoryLedger()
    await fill(ledger)
    await ledger.write(ANA, added("m7"))
    await forgot(ledger, "m7")
    key, _ = new_key(tenant="acme", user=None, role="read", label="", now=START)
    usage = Spent(day=START.date(), usage=Usage(requests=1))
    for record in [*await everything(ledger), key, usage, Ended(records=7)]:
        line = line_of(record)
        assert record_of(line) == record
        assert line.isascii()
        assert "\n" not in line


@settings(max_examples=50)
@given(any_text.filter(bool), st.dictionaries(any_text, json_values, max_size=2), st.binary(max_size=8))
def test_any_text_metadata_and_bytes_survive(text: str, metadata: dict[str, object], blob: bytes) -> None:
    kept = KeptMessage(
        message=a_message("m1", text, metadata=metadata),  # type: ignore[arg-type]
        passages=(Passage(start=0, stop=len(text), terms=blob, vector=blob, tokens=None),),
    )
    assert record_of(line_of(kept).encode()) == kept


def test_a_line_is_flat_and_says_its_type() -> None:
    said = json.loads(line_of(KeptMessage(message=a_message())))
    assert (said["type"], said["text"], said["at"]) == ("message", "I use Shram", "2026-05-12T09:30:00+00:00")
    assert "passages" not in said
    assert json.loads(line_of(KeptFact(fact=a_fact())))["type"] == "fact"


def test_fields_that_are_not_known_are_ignored() -> None:
    body = json.loads(line_of(KeptMessage(message=a_message()))) | {"colour": "blue"}
    assert record_of(json.dumps(body)) == KeptMessage(message=a_message())


def test_a_newer_format_is_refused() -> None:
    with pytest.raises(Incompatible, match="format 3"):
        record_of(line_of(Opened(format=3, ledger="x", embedder=None)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "letter"}, "type='letter': expected one of commonplace"),
        ({"type": ["message"]}, "type="),
        ({"id": 7}, "id=7: expected str"),
        ({"role": "boss"}, "role='boss': expected one of user"),
        ({"at": "yesterday"}, "at='yesterday'"),
        ({"at": "2026-05-12T09:30:00"}, "has no time zone"),
        ({"metadata": [1]}, "metadata=.*expected an object"),
        ({"passages": {}}, "passages=.*expected a list"),
        ({"passages": [{"start": True, "stop": 1, "terms": ""}]}, "start=True: expected int"),
        ({"passages": [{"start": 0, "stop": 1, "terms": "?"}]}, "terms='\\?': expected base64"),
    ],
)
def test_a_wrong_value_is_named(change: dict[str, object], message: str) -> None:
    body = json.loads(line_of(KeptMessage(message=a_message()))) | change
    with pytest.raises(InvalidInput, match=message):
        record_of(json.dumps(body))


@pytest.mark.parametrize("line", ["", "{", "[1]", "null", "\x00", "[" * 100_000, '{"type":"message"}'])
def test_what_is_no_record_is_refused(line: str) -> None:
    with pytest.raises(InvalidInput):
        record_of(line)
