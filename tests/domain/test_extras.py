"""What is said when a package of an extra is missing; and that a mistake of our own is not taken for one."""

import sys

import pytest

from commonplace.domain.errors import LedgerUnavailable
from commonplace.domain.extras import needing


def test_a_missing_package_is_told_in_one_sentence_with_the_command() -> None:
    with pytest.raises(LedgerUnavailable) as told, needing("postgres", "postgresql://", LedgerUnavailable):
        import no_such_package.inside  # type: ignore[import-not-found]  # noqa: F401
    assert str(told.value) == "postgresql:// needs more packages: pip install 'commonplace[postgres]'"
    assert isinstance(told.value.__cause__, ModuleNotFoundError)


def test_a_package_that_is_there_and_cannot_work_is_told_alike() -> None:
    with pytest.raises(LedgerUnavailable, match="needs more packages"), needing("postgres", "it", LedgerUnavailable):
        raise ImportError("no pq wrapper available")


@pytest.mark.parametrize("name", ["commonplace.adapters.nowhere", "commonplace"])
def test_a_broken_import_of_our_own_comes_as_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "commonplace.adapters.nowhere", None)
    with pytest.raises(ImportError, match="commonplace") as raised, needing("postgres", "it", LedgerUnavailable):
        if name == "commonplace":
            from commonplace import no_such_name  # noqa: F401
        else:
            __import__(name)
    assert raised.type in (ImportError, ModuleNotFoundError)
