import pytest

from tests.interfaces.cli.conftest import Cli


@pytest.fixture
def told(cli: Cli) -> Cli:
    cli("add", "The garden needs water", "--id", "m1", "--session", "s1", "--at", "2026-05-01", "--no-learn")
    cli("add", "The garden is in bloom", "--id", "m2", "--session", "s2", "--at", "2026-06-01", "--no-learn")
    return cli


def ids(told: Cli, *arguments: str) -> list[str]:
    return [item["id"] for item in told("recall", *arguments, "--json").json]


def test_recall_can_be_narrowed(told: Cli) -> None:
    assert sorted(ids(told, "garden")) == ["m1", "m2"]
    assert ids(told, "garden", "--session", "s1") == ["m1"]
    assert ids(told, "garden", "--since", "2026-05-15") == ["m2"]
    assert ids(told, "garden", "--until", "2026-05-15") == ["m1"]
    assert ids(told, "garden", "--limit", "0") == []
    assert ids(told, "garden", "--kind", "preference", "--kind", "fact") == []


def test_without_a_query_the_latest_come_first(told: Cli) -> None:
    assert ids(told) == ["m2", "m1"]


def test_nothing_relevant_is_said_and_is_the_exit_code(told: Cli) -> None:
    ran = told("recall", "submarine")
    assert (ran.code, ran.out) == (1, "Nothing relevant.\n")
    assert told("recall", "submarine", "--json").json == []


def test_what_was_found_is_shown_with_its_details(told: Cli) -> None:
    told("add", "Bloom is a word", "--role", "assistant", "--id", "m3", "--at", "2026-07-01", "--no-learn")
    shown = [line.strip().split(maxsplit=1) for line in told("recall", "bloom").out.splitlines()]
    assert ["message,", "1 Jun 2026 00:00, m2"] in shown
    assert {line[1] for line in shown[::2]} == {"The garden is in bloom", "assistant: Bloom is a word"}


def test_explain_shows_the_numbers(told: Cli) -> None:
    shown = told("recall", "bloom", "--explain").out
    for word in ("relevance", "importance", "recency", "rank 1", "answered by exact"):
        assert word in shown
    assert told("recall", "bloom", "--explain", "--json").json[0]["why"]["path"] == "exact"


def test_why_not_tells_the_reason_with_its_numbers(told: Cli) -> None:
    ran = told("why-not", "m1", "garden", "--session", "s2")
    assert (ran.code, ran.out.split()[0]) == (0, "filtered")
    assert "left out by session" in ran.out
    beyond = told("why-not", "m1", "garden", "--limit", "1", "--json").json
    assert (beyond["reason"], beyond["rank"], beyond["last"]["id"]) == ("beyond the limit", 2, "m2")
    shown = told("why-not", "m1", "garden", "--limit", "1").out
    assert "The last one returned:" in shown
    assert "The garden is in bloom" in shown


def test_why_not_of_what_nobody_has_is_the_exit_code(told: Cli) -> None:
    ran = told("why-not", "m9", "garden")
    assert (ran.code, ran.out.split()[0]) == (1, "unknown")
    assert told("why-not", "m1", "garden", "--user", "somebody").code == 1


def test_why_not_names_the_fact_that_stands_for_a_message(cli: Cli) -> None:
    cli("add", "I use Shram as a productivity tool", "--id", "m1")
    (fact,) = cli("facts", "--json").json
    ran = cli("why-not", "m1", "Which productivity tool do I use?")
    assert ran.code == 0
    assert "stood for" in ran.out
    found = cli("why-not", "m1", "Which productivity tool do I use?", "--json").json
    assert (found["reason"], found["by"]) == ("stood for", fact["id"])


def test_context_is_text_for_a_prompt(told: Cli) -> None:
    told("blocks", "set", "persona", "A gardener")
    packed = told("context", "What does the garden need?", "--budget", "200")
    assert packed.code == 0
    assert "The garden needs water" in packed.out
    assert "A gardener" in packed.out
    assert told("context", "garden", "--json").json["budget"] == 800


def test_facts_are_listed_at_any_moment(cli: Cli) -> None:
    cli("remember", "Lives in Lyon", "--valid-from", "2020-01-01", "--valid-to", "2024-01-01")
    cli("remember", "Lives in Paris", "--valid-from", "2024-01-01", "--metadata", '{"stars": 3}')
    assert [fact["text"] for fact in cli("facts", "--json").json] == ["Lives in Paris"]
    assert [fact["text"] for fact in cli("facts", "--valid-at", "2022-01-01", "--json").json] == ["Lives in Lyon"]
    assert cli("facts", "--as-of", "2019-01-01", "--json").json == []
    assert len(cli("facts", "--where", '{"stars": {"$gte": 3}}', "--json").json) == 1


def test_more_facts_than_asked_for_are_mentioned(cli: Cli) -> None:
    for number in range(3):
        cli("remember", f"Number {number} is lucky")
    some = cli("facts", "--limit", "2", "--json")
    assert len(some.json) == 2
    assert "There are more than 2" in some.err
    assert "There are more" not in cli("facts", "--limit", "3").err
