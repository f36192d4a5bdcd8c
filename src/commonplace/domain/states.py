"""How the state of a session changes: values are merged in, or nothing is where it is not what it was read as."""

from collections.abc import Mapping

from commonplace.domain.errors import Conflict
from commonplace.domain.values import Json

State = Mapping[str, Json]
Expected = State | None
"""What some keys must still hold, None for a key that must not be there; None: whatever they hold."""


def merged(state: State, values: State, expected: Expected) -> dict[str, Json]:
    """Return the state with the values in it; None removes a key. Raises Conflict unless it is what is expected."""
    for key, value in (expected or {}).items():
        if state.get(key) != value:
            raise Conflict(f"{key!r} of this session has changed since it was read")
    return {key: value for key, value in {**state, **values}.items() if value is not None}
