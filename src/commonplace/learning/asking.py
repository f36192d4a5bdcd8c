"""What a model is asked about a message. The prompt is a file; its version is recorded with each fact it brings."""

from functools import cache

from commonplace.domain.attributes import ATTRIBUTES
from commonplace.domain.values import Message
from commonplace.ports.extractor import Said
from commonplace.prompts import Prompt

LONGEST = 8_000
"""Characters of a message that a model is shown. What comes after them is a document, not a statement."""
LONGEST_BEFORE = 500


@cache
def extract_prompt() -> Prompt:
    return Prompt.load("extract")


def ask(said: Said) -> str:
    """Return the prompt for one message. Only the user's words are to be read; the rest is there to understand them."""
    return extract_prompt().render(
        attributes=", ".join(ATTRIBUTES),
        date=f"{said.message.at:%A, %Y-%m-%d %H:%M %Z}",
        before="\n".join(map(_spoken, said.before)) or "(nothing)",
        known="\n".join(f"- {_inside(fact.text)}" for fact in said.known) or "(nothing)",
        message=_inside(said.message.text[:LONGEST]),
    )


def _spoken(message: Message) -> str:
    return f"{message.role}: {_inside(' '.join(message.text[:LONGEST_BEFORE].split()))}"


def _inside(text: str) -> str:
    """Keep the text from opening or closing one of the parts."""
    return text.replace("<", "‹").replace(">", "›")
