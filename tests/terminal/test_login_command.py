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


def test_login_saves_the_key_and_selects_the_server(remote: Terminal, server: Server, key: str):
    result = remote("login", f"{server.url}/", "--key-stdin", stdin=f"{key}\n")
    assert (result.code, result.out) == (0, f"Logged in to {server.url} as Owner (admin).\n")
    assert saved(remote) == {server.url: key}
    assert remote("status", "--json").data["url"] == server.url


def test_login_prints_json(remote: Terminal, server: Server, key: str):
    result = remote("login", server.url, "--key-stdin", "--json", stdin=key)
    assert result.data["url"] == server.url
    assert result.data["account"]["role"] == "owner"
    assert key not in result.out


def test_wrong_key_is_not_saved(remote: Terminal, server: Server):
    result = remote("login", server.url, "--key-stdin", stdin="forge_wrong\n")
    assert result.code == 4
    assert saved(remote) == {}


@pytest.mark.parametrize("stdin", ["", "\n", "schlüssel\n"])
def test_invalid_key_is_rejected_locally(remote: Terminal, server: Server, stdin: str):
    result = remote("login", server.url, "--key-stdin", stdin=stdin)
    assert result.code == 2
    assert "forge keys create NAME" in result.err


def test_unreachable_server_is_not_saved(remote: Terminal):
    assert remote("login", "http://127.0.0.1:1", "--key-stdin", stdin="k\n").code == 3
    assert saved(remote) == {}


def test_invalid_url_is_a_usage_error(remote: Terminal):
    result = remote("login", "forge.example.com", "--key-stdin", stdin="k\n")
    assert result.code == 2
    assert "https://" in result.err


def test_login_requires_a_url(remote: Terminal):
    result = remote("login")
    assert result.code == 2
    assert "--link" in result.err


def test_prompted_key_is_not_echoed(tmp_path: Path, server: Server, key: str):
    with open_screen(tmp_path, "login", server.url) as screen:
        screen.wait_for("API key for")
        screen.type(f"{key}\n")
        assert screen.end() == 0
        assert "Logged in" in screen.text
        assert key not in screen.text


def test_forget_removes_the_login(remote: Terminal, server: Server, key: str):
    remote("login", server.url, "--key-stdin", stdin=key)
    assert remote("login", "--forget", server.url).code == 0
    assert saved(remote) == {}
    assert remote("status").code == 3


def test_unknown_login_cannot_be_forgotten(remote: Terminal):
    assert remote("login", "--forget", "https://forge.example.com").code == 5


def test_link_opens_a_session(forge: Terminal, server: Server):
    link = forge("login", "--link", "--json").data
    assert datetime.fromisoformat(link["expires_at"]) > datetime.now(UTC)
    token = link["url"].partition("#token=")[2]
    response = httpx2.post(f"{server.url}/api/v1/login", json={"token": token}, timeout=60)
    assert response.status_code == 200


def test_only_the_link_is_written_to_stdout(forge: Terminal, server: Server):
    result = forge("login", "--link")
    assert result.out.startswith(f"{server.url}/login#token=")
    assert result.out.count("\n") == 1


def test_link_can_be_created_on_a_remote_server(remote: Terminal, server: Server, key: str):
    remote("login", server.url, "--key-stdin", stdin=key)
    assert remote("login", "--link", server.url).code == 0


def test_unencrypted_url_causes_a_warning(remote: Terminal):
    result = remote("login", "http://192.0.2.1:1", "--key-stdin", stdin="\n")
    assert "not encrypted" in result.err
