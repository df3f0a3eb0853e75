"""Workspace routes and commands on a real server."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.support.server import Server
from tests.support.terminal import Terminal
from tests.workspace.grammar import climbing_paths

SHOP = "/api/v1/workspaces"


@pytest.fixture
def forge(server: Server) -> Terminal:
    return Terminal(server.data_dir)


@pytest.fixture(scope="module")
def shop(server: Server) -> dict[str, Any]:
    made = server.call("POST", SHOP, {"name": "shop"})
    tree = Path(made["path"])
    (tree / "src").mkdir()
    (tree / "src" / "app.py").write_text("def main():\n    return 'h\u00e9llo'\n")
    (tree / "image").write_bytes(b"\0\1")
    (tree / "long.txt").write_text("x" * 600_000)
    return made


def error(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["errors"][0]["code"]


def test_files_are_listed_read_and_searched(server: Server, shop: dict[str, Any]):
    own = f"{SHOP}/{shop['id']}"
    assert server.call("GET", own) == shop
    assert [(entry["name"], entry["kind"]) for entry in server.call("GET", f"{own}/files")] == [
        ("image", "file"),
        ("long.txt", "file"),
        ("src", "dir"),
    ]
    text = server.call("GET", f"{own}/file?path=src/app.py")
    assert (text["text"], text["is_cut"]) == ("def main():\n    return 'h\u00e9llo'\n", False)
    image = server.call("GET", f"{own}/file?path=image")
    assert (image["text"], image["is_binary"], image["size"]) == ("", True, 2)
    long = server.call("GET", f"{own}/file?path=long.txt")
    assert (len(long["text"]), long["is_cut"], long["hash"], long["size"]) == (524_288, True, None, 600_000)
    assert server.call("GET", f"{own}/search?q=DEF%20%5Cw%2B&glob=*.py") == {
        "matches": [{"path": "src/app.py", "line": 1, "text": "def main():"}],
        "truncated": False,
        "literal": False,
        "files_searched": 1,
    }


def test_path_traversal_over_http_is_refused(server: Server, shop: dict[str, Any]):
    own = f"{SHOP}/{shop['id']}"
    with server.client() as client:
        for path in climbing_paths(200):
            readable = path.encode("utf-8", "replace").decode()
            for place in ("file", "files"):
                answer = client.get(f"{own}/{place}", params={"path": readable})
                assert answer.status_code in (200, 403, 404, 422), path
                assert "root:" not in answer.text


def test_adopting_requires_admin_scope(server: Server, tmp_path: Path):
    project = tmp_path / "project"
    project.mkdir()
    keys = {
        scope: server.call("POST", "/api/v1/keys", {"name": scope, "scopes": [scope]})["key"]
        for scope in ("read", "write")
    }
    for scope, name, path, answer in (
        ("read", "own", None, (403, "denied")),
        ("write", "adopted", str(project), (403, "denied")),
        ("write", "bad/name", None, (422, "invalid")),
    ):
        with server.client(Authorization=f"Bearer {keys[scope]}") as client:
            assert error(client.post(SHOP, json={"name": name, "path": path})) == answer
    with server.client() as client:
        assert error(client.post(SHOP, json={"name": "etc", "path": "/etc"})) == (403, "denied")
        assert error(client.post(SHOP, json={"name": "x", "path": "a\0b"}))[0] == 422
        assert error(client.get(f"{SHOP}/nothing")) == (404, "not_found")
        made = client.post(SHOP, json={"name": "adopted", "path": str(project)}).json()["data"]
        assert client.delete(f"{SHOP}/{made['id']}").json()["data"] == made
    assert project.is_dir()


def test_commands_match_the_api(forge: Terminal, shop: dict[str, Any]):
    assert shop in forge("workspaces", "list", "--json").data
    assert "shop" in forge("workspaces", "list").out
    assert shop["path"] in forge("workspaces", "show", "shop").out
    assert "src/" in forge("workspaces", "files", "shop").out
    assert forge("workspaces", "cat", shop["id"], "src/app.py").out.startswith("def main()")
    assert "not text" in forge("workspaces", "cat", "shop", "image").err
    assert "is not shown completely" in forge("workspaces", "cat", "shop", "long.txt").err
    assert "src/app.py:1: def main():" in forge("workspaces", "search", "shop", "def main").out
    said = forge("workspaces", "search", "shop", "main(", "--json")
    assert (said.data["literal"], len(said.data["matches"])) == (True, 1)
    assert "as text" in forge("workspaces", "search", "shop", "main(").err
    assert forge("workspaces", "cat", "shop", "../x").code == 4
    assert forge("workspaces", "cat", "shop", "nothing").code == 5
    assert forge("workspaces", "show", "nothing").code == 5


def test_workspace_is_created_and_removed_by_command(forge: Terminal, tmp_path: Path):
    made = forge("workspaces", "create", "brief", "--json").data
    assert forge("workspaces", "create", "brief").code == 6
    odd = forge("workspaces", "create", "bad/name")
    assert (odd.code, "must start with a letter or digit" in odd.err) == (2, True)
    assert forge("workspaces", "remove", "brief", stdin="y\n").code == 2
    assert Path(made["path"]).is_dir()
    assert "Removed" in forge("workspaces", "remove", "brief", "--yes").out
    assert not Path(made["path"]).exists()
    adopted = forge("workspaces", "create", "adopted", "--path", str(tmp_path))
    assert "adopted" in adopted.out
    assert forge("workspaces", "remove", "adopted", "--yes", "--json").data["path"] == str(tmp_path)
    assert tmp_path.is_dir()
