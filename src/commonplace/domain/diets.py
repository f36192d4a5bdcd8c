"""Which diet forbids what, as data: who begins to keep to one gives it up, and who eats it again has given up that."""

from collections.abc import Mapping
from types import MappingProxyType

_MEAT = ("meat", "beef", "pork", "chicken", "steak", "bacon", "ham", "lamb", "turkey", "burgers", "sausages")
_SEA = ("fish", "seafood", "salmon", "tuna", "sushi", "shrimp", "shellfish")
_MILK = ("dairy", "milk", "cheese", "eggs", "butter", "yoghurt", "yogurt", "honey")

FORBIDDEN_BY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(_MEAT, ("vegan", "vegetarian", "pescatarian")),
        **dict.fromkeys(_SEA, ("vegan", "vegetarian")),
        **dict.fromkeys(_MILK, ("vegan",)),
    }
)
"""The food, in lower case, with the diets that know nothing of it."""
