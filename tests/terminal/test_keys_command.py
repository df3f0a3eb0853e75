from typing import Any

import pytest
from tests.support.server import Server
from tests.support.terminal import Terminal, open_screen


def create(forge: Terminal, name: str, *options: str) -> dict[str, Any]:
    return forge("keys", "create", name, *options, "--json").data


def test_new_key_works_immediately(forge: Terminal, remote: Terminal, server: Server):
    created = create(forge, "works")
    remote.environment |= {"FORGE_URL": server.url, "FORGE_API_KEY": created["key"]}
    assert remote("runs", "list", "--json").code == 0


def test_only_the_key_is_written_to_stdout(forge: Terminal):
    result = forge("keys", "create", "alone")
    assert result.code == 0
    assert result.out.startswith("forge_")
    assert result.out.count("\n") == 1
    assert "not shown again" in result.err


def test_new_key_has_write_scope_by_default(forge: Terminal):
    assert create(forge, "plain")["api_key"]["scopes"] == ["write"]
    assert create(forge, "small", "--scope", "read")["api_key"]["scopes"] == ["read"]
    assert create(forge, "both", "--scope", "write", "--scope", "read")["api_key"]["scopes"] == [
        "read",
        "write",
    ]


def test_key_without_the_required_scope_is_denied(forge: Terminal, remote: Terminal, server: Server):
    reader = create(forge, "reader", "--scope", "read")
    remote.environment |= {"FORGE_URL": server.url, "FORGE_API_KEY": reader["key"]}
    result = remote("runs", "start", "self_test")
    assert result.code == 4
    assert "scope" in result.err


def test_key_list_does_not_contain_secrets(forge: Terminal):
    created = create(forge, "listed")
    result = forge("keys", "list")
    assert "listed" in result.out
    assert created["key"] not in result.out
    assert created["api_key"] in forge("keys", "list", "--json").data


@pytest.mark.parametrize("reference_kind", ["id", "prefix", "name"])
def test_key_is_revoked_by_id_prefix_or_name(forge: Terminal, reference_kind: str):
    key = create(forge, f"revoked by {reference_kind}")["api_key"]
    reference = {"id": key["id"], "prefix": key["id"][:-1], "name": key["name"]}[reference_kind]
    result = forge("keys", "revoke", reference, "--yes")
    assert (result.code, result.out) == (0, f"Revoked the key revoked by {reference_kind}.\n")
    assert key["id"] not in [key["id"] for key in forge("keys", "list", "--json").data]
    assert key["id"] in [key["id"] for key in forge("keys", "list", "--all", "--json").data]


def test_revoke_requires_confirmation(forge: Terminal, server: Server):
    key = create(forge, "asked about")["api_key"]
    unattended = forge("keys", "revoke", key["id"], stdin="y\n")
    assert (unattended.code, "'asked about'" in unattended.err, "--yes" in unattended.err) == (2, True, True)
    for answer, exit_code in (("n", 130), ("y", 0)):
        assert key["id"] in [key["id"] for key in forge("keys", "list", "--json").data]
        with open_screen(server.data_dir, "keys", "revoke", key["id"]) as screen:
            screen.wait_for("? [y/N]")
            screen.type(f"{answer}\n")
            assert screen.end() == exit_code
    assert key["id"] not in [key["id"] for key in forge("keys", "list", "--json").data]


def test_ambiguous_name_is_rejected(forge: Terminal):
    key_ids = [create(forge, "twin")["api_key"]["id"] for _ in range(2)]
    result = forge("keys", "revoke", "twin", "--yes")
    assert result.code == 2
    assert all(key_id in result.err for key_id in key_ids)


def test_name_refers_to_the_active_key(forge: Terminal):
    for _ in range(2):
        create(forge, "again")
        assert forge("keys", "revoke", "again", "--yes").code == 0


def test_key_cannot_be_revoked_twice(forge: Terminal):
    key = create(forge, "twice")["api_key"]
    assert forge("keys", "revoke", key["id"], "--yes").code == 0
    assert forge("keys", "revoke", key["id"], "--yes").code == 6


def test_missing_key_is_not_found(forge: Terminal):
    result = forge("keys", "revoke", "nope", "--yes")
    assert result.code == 5
    assert "forge keys list" in result.err


def test_control_characters_in_a_name_are_rejected(forge: Terminal):
    result = forge("keys", "create", "\x1b[31mred")
    assert result.code == 2
    assert "\x1b" not in result.err
