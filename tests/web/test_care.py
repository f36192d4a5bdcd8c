"""Conversations, blocks, care and keys, in a browser."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.interfaces.http.live import Live
from tests.web.conftest import Shoot, check_accessible
from tests.web.story import tell_story


def test_a_conversation_shows_what_each_message_taught(site: Live, page: Page, shoot: Shoot) -> None:
    tell_story(site, "ana talks")
    page.goto(f"{site.url}/conversations?user=ana+talks")
    check_accessible(page)
    page.get_by_role("link", name="story").click()
    first = page.locator(".said > li").first
    expect(first).to_contain_text("I use Shram and Magnet")
    check_accessible(page)
    shoot(page, "conversation")
    first.get_by_role("link", name="Shram").click()
    expect(page.locator("mark").first).to_contain_text("Shram")


def test_a_message_is_forgotten_with_what_only_it_taught(site: Live, page: Page) -> None:
    tell_story(site, "ana unsaid")
    page.goto(f"{site.url}/conversations/one?user=ana+unsaid&session=story")
    said = page.locator(".said > li", has_text="green tea")
    said.get_by_role("button", name="Forget this message").click()
    page.get_by_role("button", name="Yes, forget it").click()
    expect(page.get_by_role("status")).to_contain_text("It is forgotten")
    page.goto(f"{site.url}/facts?user=ana+unsaid")
    expect(page.get_by_role("link", name="Shram").first).to_be_visible()
    expect(page.get_by_role("link", name="green tea")).to_have_count(0)


def test_blocks_are_written_changed_brought_back_and_deleted(site: Live, page: Page, shoot: Shoot) -> None:
    page.goto(f"{site.url}/blocks?user=ana+blocks")
    page.get_by_label("Name").fill("profile")
    page.get_by_label("Text").fill("Works nights.")
    page.get_by_role("button", name="Save").click()
    block = page.get_by_role("region", name="profile")
    block.get_by_label("Text").fill("Works days.\nLikes tea.")
    block.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="profile").get_by_label("Text")).to_have_value("Works days.\nLikes tea.")
    page.get_by_text("What it said before (1)").click()
    check_accessible(page)
    shoot(page, "blocks")
    page.get_by_role("button", name="Bring it back").click()
    expect(page.get_by_role("region", name="profile").get_by_label("Text")).to_have_value("Works nights.")
    expect(page.get_by_text("What it said before (2)")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("region", name="profile")).to_have_count(0)


def test_a_user_is_exported_and_then_forgotten_with_a_receipt(site: Live, page: Page, shoot: Shoot) -> None:
    tell_story(site, "ana leaves")
    page.goto(f"{site.url}/care?user=ana+leaves")
    check_accessible(page)
    shoot(page, "care")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert "I use Shram and Magnet" in Path(download.value.path()).read_text()
    page.get_by_label("everything of this user").check()
    page.get_by_role("button", name="Show what would go").click()
    expect(page.get_by_text("ledger: messages")).to_be_visible()
    page.get_by_role("button", name="Yes, forget it").click()
    expect(page.get_by_role("status")).to_contain_text("It is forgotten")
    page.goto(f"{site.url}/conversations?user=ana+leaves")
    expect(page.get_by_text("Nothing here yet.")).to_be_visible()


def test_an_admin_makes_a_key_and_revokes_it_and_nobody_else_sees_keys(guarded: Live, page: Page) -> None:
    admin = guarded.key()
    _enter(page, guarded, admin)
    page.get_by_label("Role").select_option("write")
    page.get_by_label("Only this user").fill("ana of a key")
    page.get_by_role("button", name="Make a key").click()
    token = page.get_by_role("status").text_content() or ""
    page.get_by_role("link", name="Care").last.click()
    check_accessible(page)
    _enter(page, guarded, token)
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()
    expect(page.get_by_role("heading", name="Keys")).to_have_count(0)
    csrf = page.locator("input[name=csrf]").first.get_attribute("value") or ""
    made = page.request.post(f"{guarded.url}/care/keys/create", form={"csrf": csrf, "role": "admin"})
    assert made.status == 403
    _enter(page, guarded, admin)
    page.get_by_role("button", name=f"Revoke {token.split('_')[1]}").click()
    expect(page.get_by_text("revoked")).to_be_visible()


def _enter(page: Page, guarded: Live, token: str) -> None:
    page.context.clear_cookies()
    page.goto(f"{guarded.url}/login?next=%2Fcare")
    page.get_by_label("API key").fill(token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Care")
