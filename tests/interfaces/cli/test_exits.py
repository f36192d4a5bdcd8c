import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.domain import errors
from commonplace.domain.errors import CommonplaceError, InvalidInput, LedgerTooNew, LedgerUnavailable, NotFound
from commonplace.interfaces.cli.exits import Exit, code_of

PAGE = Path(__file__).parents[3] / "docs" / "cli.md"
TREE = [error for error in vars(errors).values() if isinstance(error, type) and issubclass(error, CommonplaceError)]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotFound("fact", "f1"), 1),
        (InvalidInput("limit=-1"), 2),
        (errors.NotBuiltYet("chat"), 3),
        (LedgerUnavailable("locked"), 4),
        (errors.Conflict("changed"), 4),
        (LedgerTooNew("version 9"), 5),
        (errors.LedgerCorrupt("malformed"), 5),
        (ZeroDivisionError(), 70),
    ],
)
def test_each_kind_of_error_has_its_code(error: Exception, code: int) -> None:
    assert code_of(error) == code


SPECIAL: dict[type[CommonplaceError], Callable[[], CommonplaceError]] = {
    NotFound: lambda: NotFound("what", "id"),
    errors.OnHold: lambda: errors.OnHold("ana", since=datetime(2026, 5, 12, tzinfo=UTC)),
}


@pytest.mark.parametrize("error", [error for error in TREE if error not in {CommonplaceError, errors.Closed}])
def test_no_error_that_a_user_can_meet_looks_like_a_bug(error: type[CommonplaceError]) -> None:
    raised = SPECIAL[error]() if error in SPECIAL else error("message")
    assert code_of(raised) is not Exit.BUG


def test_every_code_is_documented() -> None:
    documented = {int(code) for code in re.findall(r"^\| `(\d+)` \|", PAGE.read_text(), re.MULTILINE)}
    assert documented == set(Exit)
