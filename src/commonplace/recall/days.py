"""Days as people write them."""

from datetime import datetime


def day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b} {moment.year}"
