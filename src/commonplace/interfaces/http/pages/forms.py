"""What a form sends, taken only with the token that its page carried.

The token is made from the cookie, so a page of another site can neither read nor guess it. Where no key is needed, it
is made from a secret of this process.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request

from commonplace.domain.errors import InvalidInput
from commonplace.interfaces.http.access import Forbidden
from commonplace.interfaces.http.pages.entry import cookie_of

FIELD = "csrf"
HEADER = "x-csrf-token"
MOST_FIELDS = 50
_OF_THIS_PROCESS = secrets.token_hex(32)


def csrf_token(request: Request) -> str:
    secret = cookie_of(request.headers) or _OF_THIS_PROCESS
    return hmac.digest(secret.encode(), b"commonplace form", hashlib.sha256).hex()


def check_csrf(request: Request, given: str) -> None:
    if not hmac.compare_digest(given.encode(), csrf_token(request).encode()):
        raise Forbidden("this form is out of date, or comes from another site: load its page again")


@dataclass(frozen=True, slots=True)
class Form:
    fields: Mapping[str, str]

    def text(self, name: str) -> str:
        """Return what was written into a field. Raises InvalidInput if it was left empty."""
        if not (value := self.fields.get(name, "").strip()):
            raise InvalidInput(f"{name}: nothing was written; expected some text")
        return value

    def optional(self, name: str) -> str | None:
        return self.fields.get(name, "").strip() or None


async def fields_of(request: Request) -> Form:
    try:
        pairs = parse_qsl((await request.body()).decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise InvalidInput(f"the form could not be read: {error}") from None
    return Form({name: value.replace("\r\n", "\n") for name, value in pairs})


async def _filled(request: Request) -> Form:
    form = await fields_of(request)
    check_csrf(request, form.fields.get(FIELD, ""))
    return form


Filled = Annotated[Form, Depends(_filled)]
