"""Looking after what is kept of a user: profile, forget, receipts, relearn."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from commonplace.domain.receipts import Receipt
from commonplace.domain.results import Profile, Relearned
from commonplace.interfaces.http.access import Forbidden, Reader, Writer
from commonplace.interfaces.http.wire import Body, Moment, Name, User, UserQuery, described, reply

router = APIRouter(prefix="/v1", tags=["care"])


@dataclass(frozen=True, slots=True)
class Receipts:
    """What was forgotten of a user, oldest first."""

    items: list[Receipt]


class ForgetRequest(Body):
    user: User = None
    session: Name | None = None
    before: Annotated[Moment | None, Field(description="What was said before that moment.")] = None
    message: Name | None = None
    fact: Name | None = None
    anonymous: Annotated[bool, Field(description="All of the anonymous user.")] = False
    whole_tenant: Annotated[Name | None, Field(description="All users: the tenant's name, to be sure.")] = None
    dry_run: Annotated[bool, Field(description="Only count what would go.")] = False


class OfUser(Body):
    user: User = None


class RelearnRequest(Body):
    user: User = None
    apply: Annotated[bool, Field(description="Write it. Without it: only show it.")] = False


@router.get("/profile", responses=described(Profile, what="One user at a glance."))
async def profile(access: Reader, user: UserQuery = None) -> Response:
    """Return one user at a glance."""
    return reply(await access.memory.profile(user=access.user(user)))


@router.get("/receipts", responses=described(Receipts, what="Oldest first."))
async def receipts(access: Reader, user: UserQuery = None) -> Response:
    """Return the receipts of what was forgotten of a user."""
    return reply(Receipts(await access.memory.receipts(user=access.user(user))))


@router.post("/forget", responses=described(Receipt, what="The proof that it is gone."))
async def forget(asked: ForgetRequest, access: Writer) -> Response:
    """Remove a user, or the part that is named, from every store, and look that it is gone."""
    if asked.whole_tenant is not None:
        access.everybody()
        if not access.caller.may("admin"):
            raise Forbidden("this key may not forget a whole tenant: that needs one that may admin")
    if asked.anonymous and access.caller.user is not None:
        raise Forbidden("this key opens the memory of one user only, and the request names the anonymous user")
    named = asked.user, asked.session, asked.before, asked.message, asked.fact
    about_user = any(one is not None for one in named)  # else nothing is named, which is refused below
    receipt = await access.memory.forget(
        user=access.user(asked.user) if about_user else None,
        session=asked.session,
        before=asked.before,
        message=asked.message,
        fact=asked.fact,
        anonymous=asked.anonymous,
        whole_tenant=asked.whole_tenant,
        dry_run=asked.dry_run,
    )
    return reply(receipt)


@router.post("/relearn", responses=described(Relearned, what="What it changes."))
async def relearn(asked: RelearnRequest, access: Writer) -> Response:
    """Learn everything anew from what a user has said."""
    return reply(await access.memory.relearn(user=access.user(asked.user), apply=asked.apply))
