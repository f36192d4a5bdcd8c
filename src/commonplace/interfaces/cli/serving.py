"""Commands of the service: run it, and make, list and revoke the keys that open it."""

import asyncio
import json
import logging
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeVar
from urllib.parse import urlencode

import typer

from commonplace.domain.errors import NotFound
from commonplace.domain.keys import Key, new_key
from commonplace.domain.times import parse_optional_moment
from commonplace.interfaces.cli.opening import settings_of
from commonplace.interfaces.cli.options import Everywhere, OfUser
from commonplace.interfaces.cli.output import Output
from commonplace.interfaces.cli.times import shown

if TYPE_CHECKING:
    from commonplace.interfaces.cli.screen import Screen
    from commonplace.ports.keys import KeyRing

T = TypeVar("T")


def serve(
    call: Everywhere,
    host: Annotated[str | None, typer.Option(help="The address to listen on. Default: this machine alone.")] = None,
    port: Annotated[int | None, typer.Option(help="The port. 0: any that is free.")] = None,
    workers: Annotated[int | None, typer.Option(help="How many processes serve.")] = None,
) -> None:
    """Run the HTTP service."""
    output, given = Output(call), {"api_host": host, "api_port": port, "api_workers": workers}
    named = {name: value for name, value in given.items() if value is not None}
    _serve(call, named, lambda url: output.note(f"Serving on {url}. SIGTERM or Ctrl-C ends it."))


def open_page(call: OfUser) -> None:
    """Open the web page on this memory in the browser.

    It is served on a free port of this machine, until Ctrl-C. With --user it opens on that user.
    """
    output = Output(call)
    query = f"/user?{urlencode({'user': call.user})}" if call.user else "/"

    def show(url: str) -> None:
        output.note(f"The page is at {url}{query}. Ctrl-C ends it.")
        # A browser in the terminal would not give the control back.
        threading.Thread(target=webbrowser.open, args=(url + query,), daemon=True).start()

    _serve(call, {"api_host": "127.0.0.1", "api_port": 0, "api_workers": 1}, show)


def _serve(call: Everywhere, named: Mapping[str, object], told: Callable[[str], None]) -> None:
    from commonplace.interfaces.http.running import run
    from commonplace.wiring import Location

    log_in_lines()
    run(Location(), call.overrides() | dict(named), told=told, prepare=log_in_lines)


def log_in_lines() -> None:
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger().handlers[0].setFormatter(_Lines())


class _Lines(logging.Formatter):
    """One JSON object a line. What a request was about is never in it."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "told", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownKey:
    """A key as it is listed: without what opens anything."""

    id: str
    tenant: str
    user: str | None
    role: str
    label: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    token: str | None = None
    """What a caller sends: shown once, when the key is made."""


def create_key(
    call: OfUser,
    role: Annotated[str, typer.Option(help="read, write or admin.")] = "write",
    expires: Annotated[str | None, typer.Option(metavar="WHEN", help="When it ends. Without it: never.")] = None,
    label: Annotated[str, typer.Option(help="What it is for.")] = "",
) -> None:
    """Make a key. It is shown this once.

    With --user it opens that user's memory only.
    """
    now = datetime.now(UTC)
    expires_at = parse_optional_moment(expires, name="--expires")
    tenant = settings_of(call).tenant
    key, token = new_key(tenant=tenant, user=call.user, role=role, label=label, now=now, expires_at=expires_at)
    _with_keys(call, lambda keys: keys.add_key(key))
    made, output = _shown(key, token=str(token)), Output(call)
    output.answer(made, lambda screen: screen.say(str(token)))
    output.note("Keep it: it is not shown again.")


def list_keys(call: Everywhere) -> None:
    """List the keys of every tenant; with --tenant, of one."""
    keys = [_shown(key) for key in _with_keys(call, lambda keys: keys.keys(call.tenant))]
    Output(call).answer(keys, lambda screen: _tell_keys(screen, keys))


def revoke_key(
    call: Everywhere,
    key: Annotated[str, typer.Argument(help="Its id, as `key list` shows it.", metavar="ID")],
) -> None:
    """Revoke a key, for good. It opens nothing from now on."""
    if not _with_keys(call, lambda keys: keys.revoke_key(key, at=datetime.now(UTC))):
        raise NotFound("key", key)
    Output(call).answer({"revoked": key}, lambda screen: screen.say(f"Revoked {key}."))


def _tell_keys(screen: "Screen", keys: list[ShownKey]) -> None:
    if not keys:
        screen.say("No keys. Without one the service answers on this machine only.")
        return
    rows = [[key.id, key.tenant, key.user or "(every user)", key.role, _state(key), key.label or ""] for key in keys]
    screen.table(["id", "tenant", "user", "role", "state", "label"], rows, fixed=["id", "role"])


def _state(key: ShownKey) -> str:
    if key.revoked_at is not None:
        return f"revoked {shown(key.revoked_at)}"
    return "good" if key.expires_at is None else f"until {shown(key.expires_at)}"


def _shown(key: Key, *, token: str | None = None) -> ShownKey:
    return ShownKey(
        id=key.id,
        tenant=key.tenant,
        user=key.user,
        role=key.role,
        label=key.label,
        created_at=key.created_at,
        expires_at=key.expires_at,
        revoked_at=key.revoked_at,
        token=token,
    )


def _with_keys(call: Everywhere, use: "Callable[[KeyRing], Awaitable[T]]") -> T:
    from commonplace.wiring import open_keys

    async def run() -> T:
        async with open_keys(settings_of(call)) as keys:
            return await use(keys)

    return asyncio.run(run())
