"""Commands that are specified and not there yet: each answers in one sentence. A line leaves when its command comes."""

import typer

from commonplace.domain.errors import NotBuiltYet

UNBUILT = ("migrate",)


def refuse(context: typer.Context) -> None:
    raise NotBuiltYet(f"commonplace {context.info_name}")
