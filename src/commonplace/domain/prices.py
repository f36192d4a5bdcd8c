"""What models cost, as their users set it: a list of prices that came with the program would soon be wrong."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from commonplace.domain.errors import InvalidInput
from commonplace.domain.usage import Usage

ONE = re.compile(r"(?P<model>[^\s=]+)=(?P<read>[0-9]+(\.[0-9]+)?)/(?P<written>[0-9]+(\.[0-9]+)?)")
EXPECTED = "expected the price of a million tokens read and written, like openai:gpt-4o-mini=0.15/0.60"


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens that a model reads, and of a million that it writes; in whatever money."""

    read: float
    written: float

    def of(self, usage: Usage) -> float:
        return (usage.input_tokens * self.read + usage.output_tokens * self.written) / 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """By the name of the model, as it is set."""

    by_model: Mapping[str, Price] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Read `openai:gpt-4o-mini=0.15/0.60, anthropic:claude=3/15`. Raises InvalidInput."""
        prices: dict[str, Price] = {}
        for item in (part.strip() for part in (text or "").split(",")):
            if not item:
                continue
            found = ONE.fullmatch(item)
            if found is None:
                raise InvalidInput(f"model_prices={item!r}: {EXPECTED}")
            prices[found["model"]] = Price(float(found["read"]), float(found["written"]))
        return cls(prices)

    def of(self, model: str | None) -> Price | None:
        return None if model is None else self.by_model.get(model)
