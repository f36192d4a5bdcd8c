"""Prices are set by those who pay them."""

import pytest

from commonplace.domain.errors import InvalidInput
from commonplace.domain.prices import Price, Prices
from commonplace.domain.usage import Usage


def test_a_price_is_found_by_the_name_of_its_model() -> None:
    prices = Prices.parse("openai:gpt-4o-mini=0.15/0.60, anthropic:claude=3/15,")
    assert prices.of("anthropic:claude") == Price(3, 15)
    assert prices.of("ollama:mine") is None
    assert prices.of(None) is None
    assert Prices.parse(None) == Prices.parse("") == Prices()


def test_a_million_tokens_cost_their_price() -> None:
    usage = Usage(requests=1, input_tokens=2_000_000, output_tokens=500_000)
    assert Price(0.15, 0.60).of(usage) == pytest.approx(0.60)


@pytest.mark.parametrize("text", ["gpt", "gpt=1", "gpt=1/x", "gpt=-1/2", "=1/2", "a=1/2;b=1/2"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="model_prices"):
        Prices.parse(text)
