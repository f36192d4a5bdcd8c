"""What counts beside likeness: who is asked about and when, how much a message says, whether it answers or only asks.

Each sign has a name; what it weighs is in Weights under the same name. A sign against a message is negative.
"""

import numpy as np
from numpy.typing import NDArray

from commonplace.recall.corpus import KINDS, MESSAGE, NOBODY, ROLES, Corpus
from commonplace.recall.features import Has
from commonplace.recall.packed import asks
from commonplace.recall.understand import Asks, Question
from commonplace.recall.when import Window

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Slots = NDArray[np.int64]
DAY = 86_400_000_000
USER, ASSISTANT = ROLES.index("user"), ROLES.index("assistant")
PREFERENCE = KINDS.index("preference")
USUAL = 20
"""Words in a usual message: neither for it nor against it."""
ENOUGH = 60
"""More words than this say no more."""
LONG = 90

FITS: dict[Asks, tuple[Has, float]] = {
    "when": (Has.TIME, 1.0),
    "where": (Has.PLACE, 0.5),
    "how many": (Has.NUMBER, 0.35),
    "why": (Has.REASON, 0.35),
}


def signs(corpus: Corpus, slots: Slots, question: Question) -> dict[str, Floats]:
    """Return how much of each sign each row shows."""
    message = corpus.rows.kind.cells[slots] == MESSAGE
    found = {
        **_of_text(corpus, slots, question),
        **_of_place(corpus, slots, question),
        "speaker": said_by(corpus.rows.speaker.cells[slots], question.speakers),
        "date": date_window(corpus.rows.at.cells[slots], question.window),
    }
    parts = {name: (sign * message).astype(np.float32) for name, sign in found.items()}
    wishes = standing(corpus, slots) & question.requests
    return parts | {"fact": (~message).astype(np.float32), "standing": wishes.astype(np.float32)}


def standing(corpus: Corpus, slots: Slots) -> Flags:
    """Return which rows say how somebody wants to be answered: a user's words, or a preference that was learned."""
    asked_for = asks(corpus.rows.has.cells[slots], Has.STANDING) & (corpus.rows.role.cells[slots] == USER)
    found: Flags = asked_for | (corpus.rows.kind.cells[slots] == PREFERENCE)
    return found


def _of_text(corpus: Corpus, slots: Slots, question: Question) -> dict[str, Floats]:
    has, words = corpus.rows.has.cells[slots], corpus.rows.words.cells[slots].astype(np.float32)
    flag, share = FITS.get(question.asks, (Has.NOTHING, 0.0))
    specific = [asks(has, each).astype(np.float32) for each in (Has.TIME, Has.NUMBER, Has.NAME)]
    return {
        "asks": -np.float32(1) * asks(has, Has.ASKS),
        "length": np.log1p(np.minimum(words, ENOUGH)) - np.log(np.float32(1 + USUAL)),
        "specific": np.sum(specific, axis=0),
        "fits": np.float32(share) * asks(has, flag),
    }


def _of_place(corpus: Corpus, slots: Slots, question: Question) -> dict[str, Floats]:
    """Return the signs that depend on the session a message stands in."""
    role = corpus.rows.role.cells[slots]
    assisted = in_sessions(corpus, slots, assistants(corpus))
    whole = np.maximum(corpus.rows.whole.cells[slots], 1)
    towards = -1 if question.about_assistant else 1
    one = np.float32(1)
    return {
        "opens": one * (corpus.threads.before(slots) < 0),
        "thread": one * in_sessions(corpus, slots, said_by(corpus.rows.speaker.cells, question.speakers)),
        "long": -np.maximum(0, np.log(whole / LONG)).astype(np.float32) * (not question.about_assistant),
        "role": np.float32(towards) * assisted * (one * (role == USER) - one * (role == ASSISTANT)),
    }


def assistants(corpus: Corpus) -> Flags:
    """Return which rows are a model's. An assistant with a name of its own may be a person: they are taken as one."""
    found: Flags = (corpus.rows.role.cells == ASSISTANT) & (corpus.rows.speaker.cells == NOBODY)
    return found


def said_by(speakers: NDArray[np.int64], codes: frozenset[int]) -> Flags:
    """Return which of the speakers are among these: one or two, for which np.isin takes five times as long."""
    found = np.zeros(len(speakers), np.bool_)
    for code in codes:
        found |= speakers == code
    return found


def in_sessions(corpus: Corpus, slots: Slots, rows: Flags) -> Flags:
    """Return which slots are of a session that one of these rows belongs to."""
    sessions = corpus.rows.session.cells
    there = np.zeros(corpus.sessions + 1, np.bool_)
    there[sessions[rows & corpus.rows.live.cells]] = True  # no session is -1: the last cell
    return there[sessions[slots]]


def date_window(at: NDArray[np.int64], window: Window | None) -> Floats:
    """Return 1 inside the window and up to 14 days after it, then half as much every 14 days; 0 before it."""
    if window is None:
        return np.zeros(len(at), np.float32)
    late = np.maximum(0, at - window.stop) / (14 * DAY)
    return np.where(at < window.start, 0, np.exp2(-np.maximum(0, late - 1))).astype(np.float32)
