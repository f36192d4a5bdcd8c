"""The pages of a service that has a language model, scripted and over the wire, and a place for snapshots."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, expect
from pydantic_ai import models

from tests.agents import wire
from tests.interfaces.http.live import Live, live
from tests.web.conftest import Shoot, check_accessible
from tests.web.story import run, tell_story


@dataclass(slots=True)
class Script:
    """What the model says next."""

    reply: wire.Reply = field(default_factory=lambda: wire.Say("Understood."))

    def __call__(self, asked: wire.Asked) -> wire.Reply:
        return self.reply


@dataclass(frozen=True, slots=True)
class Modelled:
    site: Live
    script: Script
    behind: wire.Service


@pytest.fixture(scope="module")
def modelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Modelled]:
    home, script = tmp_path_factory.mktemp("modelled"), Script()
    with (
        models.override_allow_model_requests(True),
        wire.service(script) as behind,
        live(
            home / "memory",
            agent_model="openai:gpt",
            agent_base_url=f"{behind.url}/v1",
            agent_retries=0,
            openai_api_key="sk-any",
            learning_attempts=1,
            snapshot_to=str(home / "snapshots"),
        ) as site,
    ):
        yield Modelled(site, script, behind)


def test_an_answer_is_shown_as_it_comes(modelled: Modelled, page: Page) -> None:
    tell_story(modelled.site, "ana streams")
    gate = threading.Event()
    modelled.script.reply = wire.Pause("You use Shram.", gate)
    page.goto(f"{modelled.site.url}/talk?user=ana+streams")
    page.get_by_label("Your message").fill("Which productivity tools do I use? I play chess.")
    page.get_by_role("button", name="Send").click()
    answer = page.locator(".said .assistant blockquote")
    expect(answer).to_have_text("You")  # the rest is not said yet
    expect(page.locator("#recalled")).to_contain_text("Shram")
    gate.set()
    expect(answer).to_have_text("You use Shram.")
    expect(page.get_by_role("button", name="Send")).to_be_enabled()
    assert "Shram" in modelled.behind.asked[-1].system
    check_accessible(page)


def test_a_model_that_fails_is_told_of(modelled: Modelled, page: Page) -> None:
    modelled.script.reply = wire.Fail(401)
    page.goto(f"{modelled.site.url}/talk?user=ana+fails")
    page.get_by_label("Your message").fill("Hello?")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).not_to_be_empty()
    modelled.script.reply = wire.Say("Hello.")
    page.get_by_label("Your message").fill("Hello again?")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".said .assistant blockquote").last).to_have_text("Hello.")


def test_what_failed_for_good_is_tried_again(modelled: Modelled, page: Page, shoot: Shoot) -> None:
    async def fail() -> None:
        memory = await modelled.site.service.memory("default")
        modelled.behind.learning = False
        added = await memory.add("I play the cello.", user="ana again")
        await memory.settle(added)
        modelled.behind.learning = True

    run(modelled.site, fail())
    page.goto(f"{modelled.site.url}/care?user=ana+again")
    expect(page.get_by_role("cell", name="dead")).to_be_visible()
    check_accessible(page)
    shoot(page, "dead-jobs")
    page.get_by_role("button", name="Try again what failed").click()
    expect(page.get_by_role("cell", name="dead")).to_have_count(0)
    expect(page.get_by_text("cello")).to_have_count(0)
    page.goto(f"{modelled.site.url}/facts?user=ana+again")
    for _ in range(50):
        if page.locator("#number").text_content() != "0":
            break
        page.wait_for_timeout(200)
        page.reload()
    expect(page.get_by_role("link", name="cello").first).to_be_visible()


def test_snapshots_are_listed(modelled: Modelled, page: Page) -> None:
    async def keep() -> str:
        memory = await modelled.site.service.memory("default")
        await memory.add("I live in Porto.", user="ana kept", learn=False)
        return (await memory.snapshot()).name

    name = run(modelled.site, keep())
    page.goto(f"{modelled.site.url}/care?user=ana+kept")
    shown = page.get_by_role("region", name="Snapshots")
    expect(shown.get_by_role("listitem")).to_have_count(1)
    expect(shown).to_contain_text(name)
