"""Parameters of the address that a route does not know are refused: `?user=` where it belongs into the body would
otherwise be dropped without a word, and the request be about the anonymous user.
"""

from fastapi import Request
from fastapi._compat import ModelField
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel

from commonplace.domain.errors import InvalidInput


async def refuse_strays(request: Request) -> None:
    """Raise InvalidInput for a parameter of the address that nothing would read."""
    if not request.query_params:
        return
    route = request.scope["route"]
    assert isinstance(route, APIRoute)
    known = _known(route.dependant)
    strays = sorted(set(request.query_params) - set(known))
    if strays:
        expected = ", ".join(known) if known else "none: this request is told in its body"
        raise InvalidInput(f"unknown parameters in the address: {', '.join(strays)}; expected {expected}")


def _known(dependant: Dependant) -> list[str]:
    own = [name for parameter in dependant.query_params for name in _names(parameter)]
    return own + [name for below in dependant.dependencies for name in _known(below)]


def _names(parameter: ModelField) -> list[str]:
    """Return its name, or for a model the names of its fields."""
    kind = parameter.field_info.annotation
    return list(kind.model_fields) if isinstance(kind, type) and issubclass(kind, BaseModel) else [parameter.alias]
