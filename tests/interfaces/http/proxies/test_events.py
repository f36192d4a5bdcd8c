"""Server-sent events are read the same, however the bytes are cut."""

from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.interfaces.http.proxies.events import Events

STREAM = 'event: a\r\ndata: {"x": "ü日"}\r\n\r\n: a comment\ndata: one\ndata: two\n\nid: 7\n\ndata:[DONE]\n\n'.encode()
EVENTS = ['{"x": "ü日"}', "one\ntwo", "[DONE]"]


@settings(max_examples=50)
@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_do_not_depend_on_how_the_bytes_are_cut(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    events = Events()
    found = [data for start, stop in zip(places, places[1:], strict=False) for data in events.feed(STREAM[start:stop])]
    assert found == EVENTS
