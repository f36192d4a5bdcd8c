"""Kinds of values that several groups of settings have."""

import os
import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator


def _expanded(value: object) -> object:
    return os.path.expanduser(value) if isinstance(value, str) else value


Place = Annotated[Path, BeforeValidator(_expanded)]
"""A file or folder; `~` is the home of whoever runs it."""


def fitting(pattern: str, expected: str) -> AfterValidator:
    """Let through what fits the pattern, and say of anything else what was expected: nobody reads a pattern."""

    def check(value: str) -> str:
        if re.fullmatch(pattern, value) is None:
            raise ValueError(f"expected {expected}")
        return value

    return AfterValidator(check)
