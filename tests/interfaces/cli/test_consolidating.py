from tests.interfaces.cli.conftest import Cli


def test_consolidate_says_what_it_would_do_then_does_it_then_has_nothing_to_do(cli: Cli) -> None:
    for text in ("Likes tea", "likes tea."):
        cli("remember", text, "--user", "ana")
    assert "Would be: 1 merged." in cli("consolidate", "--user", "ana", "--dry-run").out
    done = cli("consolidate", "--user", "ana", "--json").json
    assert (done["merged"], done["applied"]) == (1, True)
    assert "Nothing to do." in cli("consolidate", "--user", "ana").out


def test_all_users_and_one_user_are_two_things(cli: Cli) -> None:
    for user in ("ana", "ben"):
        cli("remember", "Likes tea", "--user", user)
    assert "Nothing to do. Users: 2." in cli("consolidate", "--all").out
    ran = cli("consolidate", "--all", "--user", "ana")
    assert ran.code == 2
    assert "expected one of them" in ran.err
