"""What may be left out of recall to see what it brings: never a setting, for nobody is served worse on purpose."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from commonplace.recall.weights import Weights

SHIPPED = Weights()
SIGNS = ("speaker", "date", "asks", "length", "specific", "fits", "opens", "thread", "long", "role", "standing")


@dataclass(frozen=True, slots=True)
class Without:
    """How a part is left out: by other weights, by hiding what the embedder shows, or by taking whatever comes."""

    weights: Weights = SHIPPED
    tokens: bool = True
    """Whether the embedder shows the vectors of its word pieces."""
    model: bool = True
    """Whether there is an embedder at all."""
    threshold: bool = True


def _zeroed(*names: str, **others: Any) -> Without:
    nothing: dict[str, Any] = {name: _nothing(getattr(SHIPPED, name)) for name in names}
    return Without(replace(SHIPPED, **nothing, **others))


def _nothing(value: object) -> object:
    return (0.0,) * len(value) if isinstance(value, tuple) else type(value)()


NEIGHBOURS = ("before", "before_asking", "after", "dense_before", "dense_after", "aftermath")
PARTS: Mapping[str, Without] = {
    "neighbours": _zeroed(*NEIGHBOURS),
    "lexical": _zeroed("lexical", "lexical_alone", "lexical_candidates"),
    "dense": _zeroed("context", "context_alone", "dense_candidates", "plain_candidates"),
    "late": Without(tokens=False),
    "model": Without(model=False),
    "priors": _zeroed(*SIGNS),
    "dates": _zeroed("date"),
    "name cap": Without(replace(SHIPPED, name_cap=1e9)),
    "aftermath": _zeroed("aftermath"),
    "threshold": Without(threshold=False),
    **{sign: _zeroed(sign) for sign in SIGNS if sign != "date"},
}
"""Each part by its name. `dense` and `late` are the two things that a model brings; `model` is both of them."""
NOTHING = Without()
