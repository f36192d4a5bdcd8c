"""What is known as a graph: subjects, and the values of the facts about them."""

from fastapi import APIRouter
from starlette.responses import Response

from commonplace.interfaces.http.access import Reader
from commonplace.interfaces.http.pages.drawing import wheel
from commonplace.interfaces.http.pages.looking import look
from commonplace.interfaces.http.pages.shell import PageRoute, Whose, page

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/graph")
async def graph(access: Reader, user: Whose = "") -> Response:
    seen = look(access, user)
    now = [fact for fact in await seen.believed() if fact.valid_to is None or fact.valid_to > seen.now]
    return page(access, "graph.html", user=seen.user, wheel=wheel(now))
