"""The playground in a browser: as you type, with its numbers, at another moment, and why not."""

from playwright.sync_api import Page, expect

from tests.interfaces.http.live import Live
from tests.web.conftest import Shoot, check_accessible, check_fits
from tests.web.story import tell_story


def test_results_come_as_you_type_with_their_numbers_and_the_context(site: Live, page: Page, shoot: Shoot) -> None:
    tell_story(site, "ana recalls")
    page.goto(f"{site.url}/playground?user=ana+recalls")
    page.keyboard.type("which productivity tool do I use?")
    found = page.locator(".found li").first
    expect(found).to_contain_text("Shram")
    expect(found.get_by_role("img", name="Score")).to_be_visible()
    expect(found).to_contain_text("rank 1")
    expect(page.get_by_text("/ 800 tokens")).to_be_visible()
    check_accessible(page)
    check_fits(page)
    shoot(page, "playground")


def test_why_not_this_fact_is_answered_for_its_exact_text(site: Live, page: Page) -> None:
    tell_story(site, "ana why not")
    page.goto(f"{site.url}/playground?user=ana+why+not&q=which+productivity+tool+do+I+use%3F")
    page.get_by_label("Why not this fact?").fill("User uses Magnet as a productivity tool")
    expect(page.get_by_role("heading", name="Why not this fact?")).to_be_visible()
    expect(page.locator("section.card strong")).to_have_text("ended")


def test_another_moment_shows_the_difference(site: Live, page: Page) -> None:
    tell_story(site, "ana then")
    page.goto(f"{site.url}/playground?user=ana+then&q=which+productivity+tool+do+I+use%3F")
    page.get_by_label("True at").fill("2026-03-01")
    expect(page.get_by_role("heading", name="Only with these moments")).to_be_visible()
    expect(page.locator("section.card ul")).to_contain_text(["Magnet"])
    answer = page.goto(f"{site.url}/playground?user=ana+then&q=x&valid_at=soon")
    assert answer is not None
    assert answer.status == 422
