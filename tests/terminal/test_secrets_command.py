from typing import Any

import pytest
from tests.support.server import Server
from tests.support.terminal import Said, Terminal, open_screen

VALUE = "sk-ant-a-secret-abcd"


def save(forge: Terminal, name: str, *options: str, value: str = VALUE) -> Said:
    return forge("secrets", "set", name, *options, stdin=value)


def listed(forge: Terminal) -> list[dict[str, Any]]:
    return forge("secrets", "list", "--json").data


def test_a_secret_is_saved_and_never_shown(forge: Terminal):
    said = save(forge, "SHOWN_TOKEN")
    assert (said.code, said.out) == (0, "Saved the secret SHOWN_TOKEN (…abcd).\n")
    table = forge("secrets", "list")
    assert "SHOWN_TOKEN" in table.out and "…abcd" in table.out and "vault" in table.out
    assert VALUE not in said.out + said.err + table.out + table.err


def test_secrets_are_listed_with_scope_last_four_and_source(forge: Terminal):
    saved = save(forge, "LISTED_TOKEN", "--scope", "bot:atlas", "--json").data
    assert saved == {
        "name": "LISTED_TOKEN",
        "scope": "bot:atlas",
        "last_four": "abcd",
        "updated_at": saved["updated_at"],
        "source": "vault",
    }
    assert saved in listed(forge)


def test_a_bots_secret_is_kept_where_the_bot_looks_for_it(forge: Terminal):
    bot = forge("bots", "create", "Keyed", "--json").data
    said = save(forge, "ANTHROPIC_API_KEY", "--bot", bot["slug"])
    assert (said.code, said.out) == (0, "Saved the secret ANTHROPIC_API_KEY of keyed (…abcd).\n")
    scopes = [one["scope"] for one in listed(forge) if one["name"] == "ANTHROPIC_API_KEY"]
    assert scopes == [f"bot:{bot['id']}"]
    assert save(forge, "ANTHROPIC_API_KEY", "--bot", "keyed", "--scope", "bot:atlas").code == 2
    assert save(forge, "ANTHROPIC_API_KEY", "--bot", "nobody").code == 5
    removed = forge("secrets", "remove", "ANTHROPIC_API_KEY", "--bot", bot["id"], "--yes")
    assert removed.code == 0 and bot["id"] in removed.out


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_one_line_break_at_the_end_is_not_part_of_the_value(forge: Terminal, end: str):
    assert save(forge, "ENDS", "--json", value=f"first\nthe rest{end}").data["last_four"] == "rest"


def test_a_terminal_is_asked_for_the_value_and_does_not_show_it(server: Server):
    with open_screen(server.data_dir, "secrets", "set", "TYPED_TOKEN") as screen:
        screen.wait_for("Value of TYPED_TOKEN:")
        screen.type(f"{VALUE}\n")
        screen.wait_for("Saved the secret TYPED_TOKEN (…abcd).")
        assert screen.end() == 0
        assert VALUE not in screen.text


def test_a_value_is_never_an_argument_nor_repeated(forge: Terminal):
    for arguments in (("GIVEN", VALUE), (f"GIVEN={VALUE}",)):
        said = forge("secrets", "set", *arguments, stdin=VALUE)
        assert said.code == 2
        assert VALUE not in said.out + said.err
    assert "GIVEN" not in [secret["name"] for secret in listed(forge)]


@pytest.mark.parametrize("value", ["", "\n", "x" * 65_537, "half \ud83d"])
def test_what_cannot_be_a_secret_is_refused_before_it_is_sent(elsewhere: Terminal, value: str):
    said = save(elsewhere, "REFUSED", value=value)
    assert said.code == 2
    assert "A secret" in said.err


@pytest.mark.parametrize("name", ["../keys", "A B", "a?scope=", "", "1A"])
def test_a_name_that_is_none_is_refused(elsewhere: Terminal, name: str):
    assert save(elsewhere, name).code == 2
    assert elsewhere("secrets", "remove", name, "--yes").code == 2


def test_a_scope_that_is_none_is_refused(forge: Terminal):
    assert save(forge, "SCOPED", "--scope", "atlas").code == 2


def test_removing_asks_first(forge: Terminal):
    save(forge, "ASKED_TOKEN")
    refused = forge("secrets", "remove", "ASKED_TOKEN", stdin="y\n")
    assert refused.code == 2
    assert "Remove the secret ASKED_TOKEN?" in refused.err
    removed = forge("secrets", "remove", "ASKED_TOKEN", "--yes", "--json").data
    assert removed["name"] == "ASKED_TOKEN"
    assert "ASKED_TOKEN" not in [secret["name"] for secret in listed(forge)]


def test_only_the_one_of_the_scope_is_removed(forge: Terminal):
    save(forge, "BOTH_TOKEN")
    save(forge, "BOTH_TOKEN", "--scope", "bot:atlas")
    said = forge("secrets", "remove", "BOTH_TOKEN", "--scope", "bot:atlas", "--yes")
    assert (said.code, said.out) == (0, "Removed the secret BOTH_TOKEN of bot:atlas (…abcd).\n")
    assert [secret["scope"] for secret in listed(forge) if secret["name"] == "BOTH_TOKEN"] == [""]


def test_a_secret_that_is_not_there_is_not_found(forge: Terminal):
    assert forge("secrets", "remove", "NOPE_TOKEN", "--yes").code == 5


def test_saving_needs_an_admin(forge: Terminal, elsewhere: Terminal, server: Server):
    writer = forge("keys", "create", "writer", "--json").data
    elsewhere.environment |= {"FORGE_URL": server.url, "FORGE_API_KEY": writer["key"]}
    assert save(elsewhere, "DENIED_TOKEN").code == 4
    assert forge("secrets", "list").code == 0
