from typing import Any

import pytest
from tests.support.server import Server
from tests.support.terminal import Terminal, open_screen


def create(forge: Terminal, name: str, *options: str) -> dict[str, Any]:
    return forge("keys", "create", name, *options, "--json").data


def test_a_new_key_works_at_once(forge: Terminal, elsewhere: Terminal, server: Server):
    created = create(forge, "works")
    elsewhere.environment |= {"FORGE_URL": server.url, "FORGE_API_KEY": created["key"]}
    assert elsewhere("runs", "list", "--json").code == 0


def test_a_key_alone_is_on_standard_output(forge: Terminal):
    said = forge("keys", "create", "alone")
    assert said.code == 0
    assert said.out.startswith("forge_")
    assert said.out.count("\n") == 1
    assert "only time" in said.err


def test_a_key_writes_unless_told_otherwise(forge: Terminal):
    assert create(forge, "plain")["api_key"]["scopes"] == ["write"]
    assert create(forge, "small", "--scope", "read")["api_key"]["scopes"] == ["read"]
    assert create(forge, "both", "--scope", "write", "--scope", "read")["api_key"]["scopes"] == [
        "read",
        "write",
    ]


def test_a_key_with_too_little_scope_is_denied(forge: Terminal, elsewhere: Terminal, server: Server):
    reader = create(forge, "reader", "--scope", "read")
    elsewhere.environment |= {"FORGE_URL": server.url, "FORGE_API_KEY": reader["key"]}
    said = elsewhere("runs", "start", "self_test")
    assert said.code == 4
    assert "scope" in said.err


def test_keys_are_listed_without_the_keys(forge: Terminal):
    created = create(forge, "listed")
    said = forge("keys", "list")
    assert "listed" in said.out
    assert created["key"] not in said.out
    assert created["api_key"] in forge("keys", "list", "--json").data


@pytest.mark.parametrize("by", ["id", "prefix", "name"])
def test_a_key_is_revoked_by_id_beginning_or_name(forge: Terminal, by: str):
    key = create(forge, f"revoked by {by}")["api_key"]
    given = {"id": key["id"], "prefix": key["id"][:-1], "name": key["name"]}[by]
    said = forge("keys", "revoke", given, "--yes")
    assert (said.code, said.out) == (0, f"Revoked the key revoked by {by}.\n")
    assert key["id"] not in [found["id"] for found in forge("keys", "list", "--json").data]
    assert key["id"] in [found["id"] for found in forge("keys", "list", "--all", "--json").data]


def test_revoking_asks_first(forge: Terminal, server: Server):
    key = create(forge, "asked about")["api_key"]
    nobody = forge("keys", "revoke", key["id"], stdin="y\n")
    assert (nobody.code, "'asked about'" in nobody.err, "--yes" in nobody.err) == (2, True, True)
    for answer, code in (("n", 130), ("y", 0)):
        assert key["id"] in [found["id"] for found in forge("keys", "list", "--json").data]
        with open_screen(server.data_dir, "keys", "revoke", key["id"]) as screen:
            screen.wait_for("? [y/N]")
            screen.type(f"{answer}\n")
            assert screen.end() == code
    assert key["id"] not in [found["id"] for found in forge("keys", "list", "--json").data]


def test_a_name_that_two_keys_have_is_not_enough(forge: Terminal):
    twins = [create(forge, "twin")["api_key"]["id"] for _ in range(2)]
    said = forge("keys", "revoke", "twin", "--yes")
    assert said.code == 2
    assert all(twin in said.err for twin in twins)


def test_a_name_means_the_key_that_still_works(forge: Terminal):
    for _ in range(2):
        create(forge, "again")
        assert forge("keys", "revoke", "again", "--yes").code == 0


def test_a_key_cannot_be_revoked_twice(forge: Terminal):
    key = create(forge, "twice")["api_key"]
    assert forge("keys", "revoke", key["id"], "--yes").code == 0
    assert forge("keys", "revoke", key["id"], "--yes").code == 6


def test_a_key_that_is_not_there_is_not_found(forge: Terminal):
    said = forge("keys", "revoke", "nope", "--yes")
    assert said.code == 5
    assert "forge keys list" in said.err


def test_a_name_cannot_steer_the_terminal(forge: Terminal):
    said = forge("keys", "create", "\x1b[31mred")
    assert said.code == 2
    assert "\x1b" not in said.err
