"""One fact: its history, the words it came from, why it was decided; and how to correct it."""

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from commonplace.domain.values import FactId, FactVersion, Message
from commonplace.interfaces.http.access import Access, Reader, Writer
from commonplace.interfaces.http.pages.forms import Filled
from commonplace.interfaces.http.pages.looking import Look, look
from commonplace.interfaces.http.pages.quoting import Piece, pieces
from commonplace.interfaces.http.pages.shell import PageRoute, Whose, back_to, page

router = APIRouter(route_class=PageRoute, include_in_schema=False)

FactNamed = Annotated[str, Query(alias="id", min_length=1, max_length=1_000)]


@dataclass(frozen=True, slots=True)
class Quote:
    message: Message
    role: Literal["said", "ended"]
    pieces: list[Piece]


@router.get("/fact")
async def fact(access: Reader, id_: FactNamed, user: Whose = "") -> Response:
    seen = look(access, user)
    return await _shown(access, seen, id_)


@router.post("/fact/revise")
async def revise(access: Writer, form: Filled) -> Response:
    user, id_ = access.user(form.optional("user")), form.text("id")
    await access.memory.revise(id_, form.text("text"), user=user, reason=form.fields.get("reason", ""))
    return back_to("/fact", user=user, id=id_)


@router.post("/fact/retract")
async def retract(access: Writer, form: Filled) -> Response:
    user, id_ = access.user(form.optional("user")), form.text("id")
    await access.memory.retract(id_, user=user, reason=form.fields.get("reason", ""))
    return back_to("/fact", user=user, id=id_)


@router.post("/fact/restore")
async def restore(access: Writer, form: Filled) -> Response:
    user, id_ = access.user(form.optional("user")), form.text("id")
    await access.memory.restore(id_, user=user, reason=form.fields.get("reason", ""))
    return back_to("/fact", user=user, id=id_)


@router.post("/fact/forget")
async def forget(access: Writer, form: Filled) -> Response:
    """Show what would go; and when that was seen, let it go and show the receipt."""
    user, id_ = access.user(form.optional("user")), form.text("id")
    sure = form.optional("sure") is not None
    receipt = await access.memory.forget(user=user, fact=id_, dry_run=not sure)
    hidden = {"user": user or "", "id": id_}
    return page(access, "receipt.html", user=user, receipt=receipt, again="/fact/forget", hidden=hidden)


async def _shown(access: Access, seen: Look, id_: str) -> Response:
    history = await access.memory.history(id_, user=seen.user)
    latest = history[-1].fact
    replaced = [version.fact.replaced_by for version in history if version.fact.replaced_by not in (None, latest.id)]
    ids = [one for one in dict.fromkeys(replaced) if one is not None]
    return page(
        access,
        "fact.html",
        user=seen.user,
        fact=latest,
        history=list(reversed(history)),
        quotes=await _quotes(seen, latest.id),
        wordings=_wordings(history),
        successors=list((await seen.facts(ids)).values()),
    )


def _wordings(history: list[FactVersion]) -> list[str]:
    """Return the wordings that were given up, the last one first."""
    used = dict.fromkeys(version.text for version in reversed(history))
    return [text for text in used if text != history[-1].text]


async def _quotes(seen: Look, fact: FactId) -> list[Quote]:
    sources = await seen.sources(fact)
    messages = await seen.messages([source.message for source in sources])
    quotes = []
    for id_, role in dict.fromkeys((source.message, source.role) for source in sources):
        if (message := messages.get(id_)) is not None:
            spans = [(one.start, one.stop) for one in sources if (one.message, one.role) == (id_, role)]
            quotes.append(Quote(message, role, pieces(message.text, spans)))
    return quotes
