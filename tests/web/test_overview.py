"""The first page and the login, in a browser."""

from playwright.sync_api import Browser, Page, expect

from tests.interfaces.http.live import Live
from tests.web.conftest import Shoot, check_accessible, check_fits
from tests.web.story import tell_story


def test_a_user_is_searched_and_seen_at_a_glance(site: Live, page: Page, shoot: Shoot) -> None:
    tell_story(site, "ana overview")
    tell_story(site, "ben overview")
    page.goto(site.url)
    expect(page.get_by_text("Everything is as it should be.")).to_be_visible()
    expect(page.get_by_role("region", name="Growth").get_by_role("img")).to_be_visible()
    page.get_by_label("Search users").fill("ANA over")
    page.get_by_label("Search users").press("Enter")
    expect(page.get_by_role("link", name="ben overview")).to_have_count(0)
    check_accessible(page)
    shoot(page, "overview")
    page.get_by_role("link", name="ana overview").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("ana overview")
    expect(page.get_by_role("img")).to_be_visible()
    check_accessible(page)
    shoot(page, "user")


def test_the_pages_fit_a_phone_and_the_dark(site: Live, browser: Browser, shoot: Shoot) -> None:
    tell_story(site, "ana on the phone")
    phone = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    page = phone.new_page()
    for path in ("/", "/facts", "/playground", "/conversations", "/blocks", "/talk", "/graph", "/care", "/user"):
        page.goto(f"{site.url}{path}?user=ana+on+the+phone")
        check_fits(page)
        check_accessible(page)
    shoot(page, "user-phone-dark")
    phone.close()


def test_who_has_no_key_comes_to_the_login_and_then_to_the_page_they_wanted(
    guarded: Live, page: Page, shoot: Shoot
) -> None:
    tell_story(guarded, "ana")
    token = guarded.key(role="read", user="ana")
    page.goto(f"{guarded.url}/user?user=ana")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.get_by_label("API key").fill("cp_wrong_key")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("opens nothing here")
    check_accessible(page)
    shoot(page, "login")
    page.get_by_label("API key").fill(token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("ana")
    cookie = page.context.cookies()[0]
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["name"]) == (True, "Strict", "commonplace_key")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    assert page.context.cookies() == []


def test_a_key_of_one_user_sees_that_user_only(guarded: Live, page: Page) -> None:
    tell_story(guarded, "ana alone")
    tell_story(guarded, "ben alone")
    page.goto(f"{guarded.url}/login")
    page.get_by_label("API key").fill(guarded.key(role="write", user="ana alone"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("ana alone")
    expect(page.get_by_role("link", name="Overview")).to_have_count(0)
    answer = page.goto(f"{guarded.url}/user?user=ben+alone")
    assert answer is not None
    assert answer.status == 403
    expect(page.get_by_role("alert")).to_contain_text("one user only")
