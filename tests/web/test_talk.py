"""Chat and the graph, in a browser."""

import math
from datetime import UTC, datetime

from playwright.sync_api import Page, expect

from commonplace.domain.values import Fact, FactId
from commonplace.interfaces.http.pages.drawing import LABEL, MOST, wheel
from tests.interfaces.http.live import Live
from tests.web.conftest import Shoot, check_accessible
from tests.web.story import tell_story

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_turn_shows_its_answer_what_was_recalled_and_what_was_learned(site: Live, page: Page, shoot: Shoot) -> None:
    tell_story(site, "ana chats")
    page.goto(f"{site.url}/talk?user=ana+chats")
    page.keyboard.type("Which productivity tools do I use? I play chess.")
    page.keyboard.press("Enter")
    expect(page.locator("#learned")).to_contain_text("chess")
    expect(page.locator("#recalled")).to_contain_text("Shram")
    expect(page.locator(".said .assistant blockquote")).not_to_be_empty()
    check_accessible(page)
    shoot(page, "chat")
    page.locator("#learned").get_by_role("link").first.click()
    expect(page.locator("mark").first).to_contain_text("chess")


def test_a_key_that_may_read_cannot_chat(guarded: Live, page: Page) -> None:
    page.goto(f"{guarded.url}/login?next=%2Ftalk")
    page.get_by_label("API key").fill(guarded.key(role="read"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Chat")
    expect(page.get_by_role("textbox")).to_have_count(0)
    csrf = page.locator("input[name=csrf]").first.get_attribute("value") or ""
    assert page.request.post(f"{guarded.url}/talk/turn", form={"csrf": csrf, "said": "hello"}).status == 403


def test_the_graph_leads_to_its_facts(site: Live, page: Page, shoot: Shoot) -> None:
    tell_story(site, "ana graph")
    page.goto(f"{site.url}/graph?user=ana+graph")
    expect(page.get_by_role("link", name="Magnet")).to_have_count(0)
    check_accessible(page)
    shoot(page, "graph")
    page.get_by_role("link", name="User lives in Lisbon").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("User lives in Lisbon")


def facts(number: int) -> list[Fact]:
    return [
        Fact(id=FactId(f"f{n}"), text=f"f{n}", said_at=NOW, recorded_at=NOW, attribute="uses", value=f"v{n:04}")
        for n in range(number)
    ]


def test_labels_on_the_rim_have_room_however_many_there_are() -> None:
    drawn = wheel(facts(MOST + 5))
    assert (len(drawn.edges), drawn.left_out) == (MOST, 5)
    first, second = drawn.edges[0].stop, drawn.edges[1].stop
    assert math.dist((first.x, first.y), (second.x, second.y)) >= LABEL * 0.99


def test_a_value_that_is_a_subject_is_one_node() -> None:
    between = Fact(
        id=FactId("f"), text="f", said_at=NOW, recorded_at=NOW, subject="Ben", attribute="knows", value="user"
    )
    drawn = wheel([*facts(2), between])
    assert drawn.edges[0].stop == next(node for node in drawn.subjects if node.name == "user")
    assert wheel([]).edges == ()
