from typing import Any

import pytest
from tests.support.server import Server
from tests.support.terminal import CommandResult, Terminal, open_screen

VALUE = "sk-ant-a-secret-abcd"


def save(forge: Terminal, name: str, *options: str, value: str = VALUE) -> CommandResult:
    return forge("secrets", "set", name, *options, stdin=value)


def list_secrets(forge: Terminal) -> list[dict[str, Any]]:
    return forge("secrets", "list", "--json").data


def test_saved_secret_is_never_shown(forge: Terminal):
    result = save(forge, "SHOWN_TOKEN")
    assert (result.code, result.out) == (0, "Saved the secret SHOWN_TOKEN (…abcd).\n")
    table = forge("secrets", "list")
    assert "SHOWN_TOKEN" in table.out and "…abcd" in table.out and "vault" in table.out
    assert VALUE not in result.out + result.err + table.out + table.err


def test_secrets_are_listed_with_scope_last_four_and_source(forge: Terminal):
    saved = save(forge, "LISTED_TOKEN", "--scope", "bot:atlas", "--json").data
    assert saved == {
        "name": "LISTED_TOKEN",
        "scope": "bot:atlas",
        "last_four": "abcd",
        "updated_at": saved["updated_at"],
        "source": "vault",
    }
    assert saved in list_secrets(forge)


def test_bot_option_stores_the_secret_in_the_scope_of_the_bot(forge: Terminal):
    bot = forge("bots", "create", "Keyed", "--json").data
    result = save(forge, "ANTHROPIC_API_KEY", "--bot", bot["slug"])
    assert (result.code, result.out) == (0, "Saved the secret ANTHROPIC_API_KEY of keyed (…abcd).\n")
    scopes = [secret["scope"] for secret in list_secrets(forge) if secret["name"] == "ANTHROPIC_API_KEY"]
    assert scopes == [f"bot:{bot['id']}"]
    assert save(forge, "ANTHROPIC_API_KEY", "--bot", "keyed", "--scope", "bot:atlas").code == 2
    assert save(forge, "ANTHROPIC_API_KEY", "--bot", "missing").code == 5
    removed = forge("secrets", "remove", "ANTHROPIC_API_KEY", "--bot", bot["id"], "--yes")
    assert removed.code == 0 and bot["id"] in removed.out


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_trailing_line_break_is_removed_from_the_value(forge: Terminal, end: str):
    assert save(forge, "ENDS", "--json", value=f"first\nthe rest{end}").data["last_four"] == "rest"


def test_prompted_value_is_not_echoed(server: Server):
    with open_screen(server.data_dir, "secrets", "set", "TYPED_TOKEN") as screen:
        screen.wait_for("Value of TYPED_TOKEN:")
        screen.type(f"{VALUE}\n")
        screen.wait_for("Saved the secret TYPED_TOKEN (…abcd).")
        assert screen.end() == 0
        assert VALUE not in screen.text


def test_value_as_an_argument_is_rejected_and_not_shown(forge: Terminal):
    for arguments in (("GIVEN", VALUE), (f"GIVEN={VALUE}",)):
        result = forge("secrets", "set", *arguments, stdin=VALUE)
        assert result.code == 2
        assert VALUE not in result.out + result.err
    assert "GIVEN" not in [secret["name"] for secret in list_secrets(forge)]


@pytest.mark.parametrize("value", ["", "\n", "x" * 65_537, "half \ud83d"])
def test_invalid_value_is_rejected_locally(remote: Terminal, value: str):
    result = save(remote, "REFUSED", value=value)
    assert result.code == 2
    assert "A secret" in result.err


@pytest.mark.parametrize("name", ["../keys", "A B", "a?scope=", "", "1A"])
def test_invalid_name_is_rejected(remote: Terminal, name: str):
    assert save(remote, name).code == 2
    assert remote("secrets", "remove", name, "--yes").code == 2


def test_invalid_scope_is_rejected(forge: Terminal):
    assert save(forge, "SCOPED", "--scope", "atlas").code == 2


def test_remove_requires_confirmation(forge: Terminal):
    save(forge, "ASKED_TOKEN")
    error = forge("secrets", "remove", "ASKED_TOKEN", stdin="y\n")
    assert error.code == 2
    assert "Remove the secret ASKED_TOKEN?" in error.err
    removed = forge("secrets", "remove", "ASKED_TOKEN", "--yes", "--json").data
    assert removed["name"] == "ASKED_TOKEN"
    assert "ASKED_TOKEN" not in [secret["name"] for secret in list_secrets(forge)]


def test_only_the_secret_of_the_scope_is_removed(forge: Terminal):
    save(forge, "BOTH_TOKEN")
    save(forge, "BOTH_TOKEN", "--scope", "bot:atlas")
    result = forge("secrets", "remove", "BOTH_TOKEN", "--scope", "bot:atlas", "--yes")
    assert (result.code, result.out) == (0, "Removed the secret BOTH_TOKEN of bot:atlas (…abcd).\n")
    assert [secret["scope"] for secret in list_secrets(forge) if secret["name"] == "BOTH_TOKEN"] == [""]


def test_missing_secret_is_not_found(forge: Terminal):
    assert forge("secrets", "remove", "NOPE_TOKEN", "--yes").code == 5


def test_saving_requires_admin_scope(forge: Terminal, remote: Terminal, server: Server):
    writer = forge("keys", "create", "writer", "--json").data
    remote.environment |= {"FORGE_URL": server.url, "FORGE_API_KEY": writer["key"]}
    assert save(remote, "DENIED_TOKEN").code == 4
    assert forge("secrets", "list").code == 0
