"""Prompts are text files beside this one, with `{{name}}` for what is filled in. Nothing is computed at import."""

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from typing import Self

from commonplace.domain.errors import InvalidInput

SLOT = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    text: str

    @classmethod
    def load(cls, name: str) -> Self:
        return cls(name, resources.files(__package__).joinpath(f"{name}.md").read_text("utf-8"))

    @property
    def version(self) -> str:
        """Its name and the hash of its text, to be recorded with whatever it brings."""
        return f"{self.name}-{hashlib.sha256(self.text.encode()).hexdigest()[:10]}"

    def render(self, **values: str) -> str:
        """Fill every slot, in one pass: what is filled in cannot open a slot."""
        if unknown := values.keys() ^ set(SLOT.findall(self.text)):
            raise InvalidInput(f"prompt {self.name!r} and its values disagree about {sorted(unknown)}")
        return SLOT.sub(lambda slot: values[slot[1]], self.text)
