"""The names of keys: digests, so that a name says nothing about anybody.

A user's keys share a slot of a cluster, and vectors share another: scripts need that.
"""

import hashlib
import json

from commonplace.domain.scope import Scope
from commonplace.domain.values import SessionId


class Keys:
    def __init__(self, ledger: str) -> None:
        """`ledger` is the ledger's own name: several may share a server."""
        self.base = f"commonplace:{ledger}"

    def of(self, scope: Scope) -> str:
        """What the names of all keys of a user begin with."""
        return f"{self.base}:{{{digest(scope.tenant, scope.user)}}}"

    def edition(self, scope: Scope) -> str:
        return f"{self.of(scope)}:edition"

    def active(self, scope: Scope) -> str:
        return f"{self.of(scope)}:active"

    def session(self, scope: Scope, session: SessionId) -> str:
        return f"{self.of(scope)}:session:{digest(session)}"

    def ring(self, scope: Scope, session: SessionId) -> str:
        return f"{self.of(scope)}:ring:{digest(session)}"

    def embeddings(self, identity: str = "") -> str:
        """What the names of the vectors of a model begin with; of all models, if none is named."""
        return f"{self.base}:{{vector}}:" + (f"{digest(identity)}:" if identity else "")

    @property
    def token(self) -> str:
        """What says which vectors may be used."""
        return f"{self.base}:{{vector}}:token"

    @property
    def news(self) -> str:
        """The channel on which changes are told."""
        return f"{self.base}:news"


def digest(*parts: str | None) -> str:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()
