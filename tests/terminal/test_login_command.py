import json
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from tests.support.server import Server
from tests.support.terminal import Terminal, open_screen


@pytest.fixture
def key(server: Server) -> str:
    return server.call("POST", "/api/v1/keys", {"name": "laptop", "scopes": ["admin"]})["key"]


def saved(terminal: Terminal) -> dict[str, str]:
    path = Path(terminal.environment["FORGE_DATA_DIR"]) / "credentials.json"
    return json.loads(path.read_text()) if path.exists() else {}


def test_a_login_makes_the_server_there_this_terminals_own(elsewhere: Terminal, server: Server, key: str):
    said = elsewhere("login", f"{server.url}/", "--key-stdin", stdin=f"{key}\n")
    assert (said.code, said.out) == (0, f"Logged in to {server.url} as Owner (admin).\n")
    assert saved(elsewhere) == {server.url: key}
    assert elsewhere("status", "--json").data["url"] == server.url


def test_a_login_can_be_read_by_programs(elsewhere: Terminal, server: Server, key: str):
    said = elsewhere("login", server.url, "--key-stdin", "--json", stdin=key)
    assert said.data["url"] == server.url
    assert said.data["account"]["role"] == "owner"
    assert key not in said.out


def test_a_wrong_key_is_not_saved(elsewhere: Terminal, server: Server):
    said = elsewhere("login", server.url, "--key-stdin", stdin="forge_wrong\n")
    assert said.code == 4
    assert saved(elsewhere) == {}


@pytest.mark.parametrize("stdin", ["", "\n", "schlüssel\n"])
def test_what_cannot_be_a_key_is_not_sent(elsewhere: Terminal, server: Server, stdin: str):
    said = elsewhere("login", server.url, "--key-stdin", stdin=stdin)
    assert said.code == 2
    assert "forge keys create NAME" in said.err


def test_a_server_that_is_not_there_is_not_saved(elsewhere: Terminal):
    assert elsewhere("login", "http://127.0.0.1:1", "--key-stdin", stdin="k\n").code == 3
    assert saved(elsewhere) == {}


def test_what_is_no_address_is_a_mistake_in_the_call(elsewhere: Terminal):
    said = elsewhere("login", "forge.example.com", "--key-stdin", stdin="k\n")
    assert said.code == 2
    assert "https://" in said.err


def test_a_login_needs_an_address(elsewhere: Terminal):
    said = elsewhere("login")
    assert said.code == 2
    assert "--link" in said.err


def test_the_key_is_asked_for_without_showing_it(tmp_path: Path, server: Server, key: str):
    with open_screen(tmp_path, "login", server.url) as screen:
        screen.wait_for("API key for")
        screen.type(f"{key}\n")
        assert screen.end() == 0
        assert "Logged in" in screen.text
        assert key not in screen.text


def test_a_forgotten_login_is_gone(elsewhere: Terminal, server: Server, key: str):
    elsewhere("login", server.url, "--key-stdin", stdin=key)
    assert elsewhere("login", "--forget", server.url).code == 0
    assert saved(elsewhere) == {}
    assert elsewhere("status").code == 3


def test_only_a_saved_login_can_be_forgotten(elsewhere: Terminal):
    assert elsewhere("login", "--forget", "https://forge.example.com").code == 5


def test_a_link_opens_a_session_in_a_browser(forge: Terminal, server: Server):
    link = forge("login", "--link", "--json").data
    assert datetime.fromisoformat(link["expires_at"]) > datetime.now(UTC)
    token = link["url"].partition("#token=")[2]
    answer = httpx2.post(f"{server.url}/api/v1/login", json={"token": token}, timeout=60)
    assert answer.status_code == 200


def test_a_link_alone_is_on_standard_output(forge: Terminal, server: Server):
    said = forge("login", "--link")
    assert said.out.startswith(f"{server.url}/login#token=")
    assert said.out.count("\n") == 1


def test_a_link_can_be_had_from_a_server_elsewhere(elsewhere: Terminal, server: Server, key: str):
    elsewhere("login", server.url, "--key-stdin", stdin=key)
    assert elsewhere("login", "--link", server.url).code == 0


def test_an_unencrypted_way_is_warned_about(elsewhere: Terminal):
    said = elsewhere("login", "http://192.0.2.1:1", "--key-stdin", stdin="\n")
    assert "not encrypted" in said.err
