"""The HTTP API of bots on a real server and both databases; nothing is written outside of their folders."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.support.postgres import Postgres
from tests.support.server import Server

BOTS = "/api/v1/bots"
UNUSUAL_NAMES = [
    "a: b # c",
    "\"quoted\" and 'so'",
    "two\nlines\r\nand three",
    "🦊 fox",
    "\u202etxt.exe",
    "שלום 1",
    "../../../../tmp/up",
    "x/../../y",
    "..\\..\\z",
    "---\nname: other\n---\n1",
    "{{7*7}}",
    "%00",
]
INVALID_NAMES = ["nul\u0000byte", "x" * 10_000, "", "   ", "../", "..", "\u202e"]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    environment: dict[str, str] = {}
    if request.param == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        environment["FORGE_DATABASE_URL"] = postgres.new_database()
    running = Server(tmp_path_factory.mktemp("bots") / "data", **environment)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def paths(served: Server) -> Callable[[], set[str]]:
    """Return all paths in and beside the data directory, except database and logs."""
    around = served.data_dir.parent

    def found() -> set[str]:
        names = {str(path.relative_to(around)) for path in around.rglob("*")}
        return {name for name in names if "forge.db" not in name and "log" not in name}

    return found


def folders(paths: set[str]) -> set[str]:
    """Return the slugs of bot folders; other paths are returned whole."""
    parts = [Path(path).parts for path in paths]
    return {p[2] if p[:2] == ("data", "bots") and len(p) > 2 else "/".join(p) for p in parts}


def error_of(response: httpx2.Response) -> tuple[int, str]:
    return response.status_code, response.json()["errors"][0]["code"]


@pytest.mark.parametrize("name", UNUSUAL_NAMES)
def test_unusual_name_round_trips(served: Server, paths: Callable[[], set[str]], name: str):
    before = paths()
    created = served.call("POST", BOTS, {"name": name, "description": name, "tags": [name[:40]]})
    assert (created["identity"]["display_name"], created["identity"]["description"]) == (name, name)
    assert served.call("GET", f"{BOTS}/{created['slug']}") == created
    assert created["blocked"] is None
    assert folders(paths() - before) <= {created["slug"], "data/bots"}
    bundle = served.call("GET", f"{BOTS}/{created['slug']}/export")
    imported = served.call("POST", f"{BOTS}/import", bundle)
    assert imported["identity"] == created["identity"]
    changed = served.call("PATCH", f"{BOTS}/{created['id']}", {"name": f"{name} again"[:200]})
    assert (changed["identity"]["display_name"], changed["slug"]) == (f"{name} again", created["slug"])


@pytest.mark.parametrize("name", INVALID_NAMES)
def test_invalid_name_is_rejected(served: Server, paths: Callable[[], set[str]], name: str):
    before = paths()
    created = served.call("POST", BOTS, {"name": "Victim"})
    with served.client() as client:
        assert error_of(client.post(BOTS, json={"name": name})) == (422, "invalid")
        assert error_of(client.post(f"{BOTS}/{created['id']}/clone", json={"name": name})) == (422, "invalid")
        assert client.patch(f"{BOTS}/{created['id']}", json={"name": name}).status_code in (200, 422)
    assert folders(paths() - before) <= {created["slug"], "data/bots"}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("x" * 201, "name: String should have at most 200 characters"),
        (" \t ", "name: String should have at least 1 character"),
        ("nul\0byte", "name: must not contain a NUL character"),
    ],
)
def test_name_errors_are_readable(served: Server, name: str, why: str):
    with served.client() as client:
        assert client.post(BOTS, json={"name": name}).json()["errors"][0]["message"] == why


def test_name_is_stripped(served: Server):
    created = served.call("POST", BOTS, {"name": " \tAtlas\n"})
    assert created["identity"]["display_name"] == "Atlas"
    changed = served.call("PATCH", f"{BOTS}/{created['id']}", {"name": "  Atlas the Second "})
    assert changed["identity"]["display_name"] == "Atlas the Second"
    cloned = served.call("POST", f"{BOTS}/{created['id']}/clone", {"name": " Otto "})
    assert cloned["identity"]["display_name"] == "Otto"


def test_lone_surrogate_is_rejected(served: Server):
    with served.client() as client:
        headers = {"Content-Type": "application/json"}
        response = client.post(BOTS, content=b'{"name": "a\\ud800"}', headers=headers)
    assert response.status_code in (400, 422)


@pytest.mark.parametrize(
    "ref", ["..", "%2e%2e", "..%2f..%2fx", "nope", "0198f000-0000-7000-8000-000000000000"]
)
def test_unknown_bot_is_not_found(served: Server, ref: str):
    with served.client() as client:
        assert client.get(f"{BOTS}/{ref}").status_code in (404, 422)


def test_bot_lifecycle(served: Server):
    created = served.call("POST", BOTS, {"name": "Lives", "soul": None})
    own = f"{BOTS}/{created['slug']}"
    assert served.call("PATCH", own, {"status": "archived"})["blocked"] == "The bot is archived."
    assert created["id"] not in [bot["id"] for bot in served.call("GET", BOTS)]
    assert [bot["id"] for bot in served.call("GET", f"{BOTS}?status=archived")] == [created["id"]]
    served.call("PATCH", own, {"status": "active"})
    assert served.call("POST", f"{own}/clone", {})["slug"] == f"{created['slug']}-clone"
    assert served.call("GET", f"{own}/skills") == []
    served.call("DELETE", own)
    with served.client() as client:
        assert error_of(client.get(own)) == (404, "not_found")
        assert error_of(client.patch(own, json={"temperature": 1})) == (404, "not_found")
        assert error_of(client.delete(own)) == (404, "not_found")
    assert created["id"] in [bot["id"] for bot in served.call("GET", f"{BOTS}?deleted=true")]
    assert served.call("POST", f"{own}/restore")["blocked"] is None
    assert served.call("GET", own)["identity"] == created["identity"]
    assert served.call("GET", "/api/v1/stats")["total_bots"] >= 2


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", "temperature": 3},
        {"name": "x", "max_tokens": 0},
        {"name": "x", "colour": "red"},
        {"name": "x", "category": "hero"},
        {"name": "x", "tags": ["t"] * 21},
        {"name": "x", "nope": 1},
        {"name": "x", "soul": "---\nname: x\n"},
        {"name": "x", "user": "a\u0000b"},
        {"name": "x", "provider": "openai"},
        {"description": "nameless"},
    ],
)
def test_invalid_requests_are_rejected(served: Server, body: dict[str, Any]):
    count = len(served.call("GET", BOTS))
    with served.client() as client:
        assert error_of(client.post(BOTS, json=body)) == (422, "invalid")
    assert len(served.call("GET", BOTS)) == count


def test_conflict_contains_diff(served: Server):
    created = served.call("POST", BOTS, {"name": "Twice"})
    base = served.call("GET", f"{BOTS}/{created['id']}/identity")["hash"]
    served.call("PATCH", f"{BOTS}/{created['id']}", {"temperature": 0.1, "base_hash": base})
    with served.client() as client:
        response = client.patch(f"{BOTS}/{created['id']}", json={"temperature": 0.2, "base_hash": base})
    assert error_of(response) == (409, "file_changed")
    detail = response.json()["errors"][0]["detail"]
    assert sorted(detail) == ["current", "theirs", "yours"]
    rows = [row for row in detail["yours"]["rows"] if row["kind"] == "changed"]
    assert [(row["left"], row["right"]) for row in rows] == [("temperature: 0.1", "temperature: 0.2")]


def test_reader_cannot_write(served: Server):
    created = served.call("POST", BOTS, {"name": "Seen"})
    key = served.call("POST", "/api/v1/keys", {"name": "reader", "scopes": ["read"]})["key"]
    with served.client(Authorization=f"Bearer {key}") as client:
        assert client.get(f"{BOTS}/{created['id']}").status_code == 200
        assert error_of(client.post(BOTS, json={"name": "x"})) == (403, "denied")
        assert error_of(client.delete(f"{BOTS}/{created['id']}")) == (403, "denied")


def test_kill_leaves_no_partial_bots(served: Server):
    """Kill the server while it creates, deletes and restores bots."""
    created = [served.call("POST", BOTS, {"name": f"Crash {number}"}) for number in range(3)]

    def work(number: int) -> None:
        own = f"{BOTS}/{created[number]['id']}"
        with served.client() as client, suppress(httpx2.HTTPError):
            while True:
                client.post(BOTS, json={"name": "Survivor"})
                client.delete(own)
                client.post(f"{own}/restore")

    for pause_s in (0.3, 0.5, 0.7):
        with ThreadPoolExecutor(3) as pool:
            working = [pool.submit(work, number) for number in range(3)]
            wait(working, timeout=pause_s)
            served.kill()
        assert [task.exception() for task in working] == [None] * 3
        served.start()
        for bot in served.call("GET", f"{BOTS}?deleted=true"):
            served.call("POST", f"{BOTS}/{bot['id']}/restore")
        found = served.call("GET", BOTS)
        assert {bot["id"] for bot in created} <= {bot["id"] for bot in found}
        assert [bot["slug"] for bot in found if bot["blocked"]] == []
        folders_on_disk = {path.name for path in (served.data_dir / "bots").glob("[!.]*")}
        for stray in folders_on_disk - {bot["slug"] for bot in found}:
            name = stray.replace("-", " ")
            assert served.call("POST", BOTS, {"name": name})["slug"] == stray
