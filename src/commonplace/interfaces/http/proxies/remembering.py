"""What memory does for a turn: it tells the model, keeps what was said, and keeps the reply when that is complete."""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from starlette.datastructures import Headers

from commonplace.domain.errors import CommonplaceError, InvalidInput
from commonplace.interfaces.http.access import Access, Forbidden
from commonplace.interfaces.http.proxies.turn import Turn
from commonplace.memory import AsyncMemory

LOG = logging.getLogger("commonplace.http")
Mode = Literal["off", "read", "write", "on"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembering:
    """One turn's memory."""

    memory: AsyncMemory
    user: str | None
    session: str | None
    mode: Mode
    via: str
    day: str

    @property
    def reads(self) -> bool:
        return self.mode in ("read", "on")

    @property
    def writes(self) -> bool:
        return self.mode in ("write", "on")

    async def recall(self, turn: Turn, *, budget: int) -> tuple[str, int]:
        """Return what to tell the model, and how many things that are; nothing where nothing is relevant."""
        context = await self.memory.context(turn.said, user=self.user, session=self.session, budget=budget)
        count = len(context.items) + len(context.blocks)
        return (str(context), count) if count else ("", 0)

    async def keep_said(self, turn: Turn) -> str:
        """Keep what the user said, and return its id. A request that is sent again says it once."""
        id_ = self._id(turn.thread)
        await self._add("user", turn.said, id_, turn)
        return id_

    async def keep_reply(self, turn: Turn, text: str) -> None:
        """Keep a complete reply. It is on its way already: a memory that fails now cannot take it back."""
        if not text.strip():
            return
        try:
            await self._add("assistant", text, self._id(turn.thread, text), turn)
        except CommonplaceError as error:
            LOG.warning("a reply was passed on and could not be kept: %s", type(error).__name__)

    async def _add(self, role: str, text: str, id_: str, turn: Turn) -> None:
        message = {"role": role, "content": text, "id": id_, "metadata": {"via": self.via, "model": turn.model}}
        await self.memory.add(message, user=self.user, session=self.session)

    def _id(self, *parts: str) -> str:
        """The same words on another day, or in another session, are another message."""
        whole = "\0".join((self.via, self.user or "", self.session or "", self.day, *parts))
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def remembering_of(access: Access, headers: Headers, *, named: str | None, via: str, day: str) -> Remembering:
    """Return what memory may do for a request. The header names the user before the fields do; the key limits both."""
    return Remembering(
        memory=access.memory,
        user=access.user(_name(headers, "x-commonplace-user") or named),
        session=_name(headers, "x-commonplace-session"),
        mode=_mode(access, headers.get("x-commonplace-memory")),
        via=via,
        day=day,
    )


def _name(headers: Headers, name: str) -> str | None:
    """Return a name in a header, read as UTF-8 where it is that: it must be the same user as in a field."""
    value = headers.get(name) or ""
    try:
        return value.encode("latin-1").decode() or None
    except UnicodeDecodeError:
        return value


def _mode(access: Access, asked: str | None) -> Mode:
    may_write = access.caller.may("write")
    if asked is None:
        return "on" if may_write else "read"
    mode = asked.strip().lower()
    if mode not in get_args(Mode):
        raise InvalidInput(f"X-Commonplace-Memory: {asked[:80]!r}: expected off, read, write or on")
    if mode in ("write", "on") and not may_write:
        raise Forbidden(f"X-Commonplace-Memory: {mode}: this key may only read")
    return cast(Mode, mode)


def told(remembering: Remembering, *, recalled: int | None, recorded: str | None) -> Mapping[str, str]:
    """Return the headers that say what memory did."""
    headers: dict[str, str] = {"x-commonplace-memory": remembering.mode}
    if recalled is not None:
        headers["x-commonplace-recalled"] = str(recalled)
    if recorded is not None:
        headers["x-commonplace-recorded"] = recorded
    return headers
