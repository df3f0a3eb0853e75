"""Webhooks: signed push events for real pushes, recorded and redelivered."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx2
import jsonschema_rs
import pytest
from tests.demo.github.conftest import OpenApi
from tests.support.github import Control
from tests.support.repositories import Repository

SCHEMAS = Path(__file__).parents[3] / "web/node_modules/@octokit/webhooks-schemas/schema.json"
SECRET = "shared secret"
ZERO = "0" * 40


@dataclass
class Receiver:
    """A server that keeps what is delivered to it."""

    url: str = ""
    status: int = 202
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def events(self, event: str = "push") -> list[dict[str, Any]]:
        return [json.loads(body) for headers, body in self.got if headers["x-github-event"] == event]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    kept = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            kept.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(kept.status)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kept.url = f"http://127.0.0.1:{server.server_port}/webhooks/github"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield kept
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def name(double: Control, request: pytest.FixtureRequest) -> str:
    """A repository for one test."""
    full_name = f"acme/{request.node.name[5:60]}"
    double.add_repository(full_name, private=True, files={"a.py": "A = 1\n", "b.py": "B = 1\n"})
    return full_name


def add_hook(octo: httpx2.Client, name: str, url: str, **changed: Any) -> dict[str, Any]:
    config = {"url": url, "content_type": "json", "secret": SECRET, **changed.pop("config", {})}
    body = {"name": "web", "active": True, "events": ["push"], "config": config, **changed}
    response = octo.post(f"/repos/{name}/hooks", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def check_schema(event: str, payload: dict[str, Any]) -> None:
    definitions = json.loads(SCHEMAS.read_text())["definitions"]
    schema = {"$ref": f"#/definitions/{event}%24event", "definitions": definitions}
    errors = jsonschema_rs.validator_for(schema).iter_errors(payload)
    assert [f"{error.instance_path}: {error.message[:200]}" for error in errors] == []


def test_new_hook_is_pinged_and_its_secret_hidden(
    double: Control, octo: httpx2.Client, receiver: Receiver, name: str
):
    hook = add_hook(octo, name, receiver.url)
    assert hook["config"] == {
        "url": receiver.url,
        "content_type": "json",
        "insecure_ssl": "0",
        "secret": "********",
    }
    double.wait_for_deliveries()
    [(headers, body)] = receiver.got
    assert headers["x-github-event"] == "ping"
    assert headers["x-github-hook-id"] == str(hook["id"])
    assert headers["user-agent"].startswith("GitHub-Hookshot/")
    expected = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["x-hub-signature-256"] == f"sha256={expected}"
    check_schema("ping", json.loads(body))
    found = octo.get(f"/repos/{name}/hooks/{hook['id']}").json()
    assert found["last_response"] == {"code": 202, "status": "active", "message": "OK"}


def test_git_push_delivers_its_commits(
    double: Control, octo: httpx2.Client, receiver: Receiver, name: str, tmp_path: Path
):
    add_hook(octo, name, receiver.url)
    token = double.add_token("octo", scopes=["repo"]).value
    url = double.url.replace("http://", f"http://octo:{token}@")
    Repository(tmp_path).git("clone", "--quiet", f"{url}/{name}.git", "clone")
    clone = Repository(tmp_path / "clone")
    before = clone.git("rev-parse", "HEAD")
    (clone.path / "b.py").unlink()
    clone.commit({"a.py": "A = 2\n", "c é.py": "C = 1\n"}, "Change\n\nWhy.")
    clone.git("config", "user.email", "octo@example.com")
    after = clone.commit({"d.py": "D = 1\n"}, "Add d")
    clone.git("push", "--quiet", "origin", "main")
    double.wait_for_deliveries()
    [push] = receiver.events()
    check_schema("push", push)
    assert (push["ref"], push["before"], push["after"]) == ("refs/heads/main", before, after)
    assert (push["created"], push["deleted"], push["forced"]) == (False, False, False)
    assert (push["repository"]["full_name"], push["pusher"]["name"], push["sender"]["login"]) == (
        name,
        "octo",
        "octo",
    )
    assert push["organization"]["login"] == "acme"
    first, second = push["commits"]
    assert (first["message"], first["added"], first["removed"], first["modified"]) == (
        "Change\n\nWhy.",
        ["c é.py"],
        ["b.py"],
        ["a.py"],
    )
    assert (second["id"], second["author"]["name"], second["distinct"]) == (after, "Ada", True)
    assert push["head_commit"] == second


def test_branches_tags_force_and_deletion_are_told_apart(
    double: Control, octo: httpx2.Client, receiver: Receiver, name: str
):
    add_hook(octo, name, receiver.url)
    root = octo.get(f"/repos/{name}/git/ref/heads/main").json()["object"]["sha"]
    one = double.push(name, {"x": "1"}, branch="topic")
    two = double.push(name, {"x": "2"}, branch="topic", parent=root)
    octo.post(f"/repos/{name}/git/refs", json={"ref": "refs/tags/v1", "sha": two})
    octo.post(f"/repos/{name}/git/refs", json={"ref": "refs/heads/copy", "sha": two})
    octo.delete(f"/repos/{name}/git/refs/heads/topic")
    double.wait_for_deliveries()
    events = receiver.events()
    for event in events:
        check_schema("push", event)
    assert [(each["ref"], each["before"], each["after"]) for each in events] == [
        ("refs/heads/topic", ZERO, one),
        ("refs/heads/topic", one, two),
        ("refs/tags/v1", ZERO, two),
        ("refs/heads/copy", ZERO, two),
        ("refs/heads/topic", two, ZERO),
    ]
    flags = [(each["created"], each["forced"], each["deleted"], len(each["commits"])) for each in events]
    assert flags == [
        (True, False, False, 1),
        (False, True, False, 1),
        (True, False, False, 0),
        (True, False, False, 0),
        (False, False, True, 0),
    ]
    assert [each["head_commit"] and each["head_commit"]["id"] for each in events] == [
        one,
        two,
        two,
        two,
        None,
    ]
    assert events[3]["base_ref"] == "refs/heads/topic"


def test_failed_delivery_is_recorded_and_redelivered_on_request(
    double: Control, octo: httpx2.Client, receiver: Receiver, name: str
):
    receiver.status = 500
    url = f"/repos/{name}/hooks/{add_hook(octo, name, receiver.url)['id']}/deliveries"
    double.push(name, {"x": "1"})
    double.wait_for_deliveries()
    assert len(receiver.events()) == 1  # not repeated by itself
    failed = octo.get(url).json()[0]
    assert (failed["event"], failed["status"], failed["status_code"], failed["redelivery"]) == (
        "push",
        "Invalid HTTP Response: 500",
        500,
        False,
    )
    full = octo.get(f"{url}/{failed['id']}").json()
    assert full["request"]["headers"]["X-GitHub-Delivery"] == failed["guid"]
    assert full["request"]["payload"]["ref"] == "refs/heads/main"
    assert full["response"]["payload"] == "ok"

    receiver.status = 200
    again = octo.post(f"{url}/{failed['id']}/attempts")
    assert (again.status_code, again.json()) == (202, {})
    double.wait_for_deliveries()
    newest = octo.get(url).json()[0]
    assert (newest["guid"], newest["status"], newest["redelivery"]) == (failed["guid"], "OK", True)
    assert newest["id"] > failed["id"]
    assert receiver.got[-1] == receiver.got[-2]


def test_unreachable_and_silent_receivers_are_recorded(double: Control, octo: httpx2.Client, name: str):
    hook = add_hook(octo, name, "http://127.0.0.1:9/")
    double.wait_for_deliveries()
    assert (
        octo.get(f"/repos/{name}/hooks/{hook['id']}/deliveries").json()[0]["status"]
        == "failed to connect to host"
    )
    double.configure(delivery_timeout_s=0.2)
    silent = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    hook = add_hook(octo, name, f"http://127.0.0.1:{silent.server_port}/")
    double.wait_for_deliveries()
    double.configure(delivery_timeout_s=10)
    silent.server_close()
    assert octo.get(f"/repos/{name}/hooks/{hook['id']}/deliveries").json()[0]["status"] == "timed out"


def test_deliveries_can_be_dropped_duplicated_and_reordered(
    double: Control, octo: httpx2.Client, receiver: Receiver, name: str
):
    hook = add_hook(octo, name, receiver.url)
    double.disturb_deliveries(["drop", "duplicate", "reorder"])
    shas = [double.push(name, {"x": str(number)}) for number in range(4)]
    double.wait_for_deliveries()
    assert [each["after"] for each in receiver.events()] == [shas[1], shas[1], shas[3], shas[2]]
    guids = [headers["x-github-delivery"] for headers, _ in receiver.got[1:]]
    assert guids[0] == guids[1]
    listed = octo.get(f"/repos/{name}/hooks/{hook['id']}/deliveries").json()
    assert len(listed) == 5  # with the ping, without the dropped one


def test_deliveries_are_listed_in_pages_with_a_cursor(
    double: Control, octo: httpx2.Client, receiver: Receiver, name: str
):
    hook = add_hook(octo, name, receiver.url)
    for number in range(4):
        double.push(name, {"x": str(number)})
    double.wait_for_deliveries()
    pages = [octo.get(f"/repos/{name}/hooks/{hook['id']}/deliveries?per_page=2")]
    while "next" in pages[-1].links:
        pages.append(octo.get(pages[-1].links["next"]["url"]))
    assert [len(page.json()) for page in pages] == [2, 2, 1]
    ids = [each["id"] for page in pages for each in page.json()]
    assert ids == sorted(ids, reverse=True)


def test_inactive_deleted_and_form_hooks(double: Control, octo: httpx2.Client, receiver: Receiver, name: str):
    hook = add_hook(octo, name, receiver.url, config={"content_type": "form"})
    url = f"/repos/{name}/hooks/{hook['id']}"
    double.push(name, {"x": "1"})
    double.wait_for_deliveries()
    payload = parse_qs(receiver.got[-1][1].decode())["payload"][0]
    assert json.loads(payload)["ref"] == "refs/heads/main"
    assert octo.patch(url, json={"active": False}).json()["active"] is False
    double.push(name, {"x": "2"})
    assert octo.post(f"{url}/pings").status_code == 204
    double.wait_for_deliveries()
    assert [headers["x-github-event"] for headers, _ in receiver.got] == ["ping", "push", "ping"]
    assert octo.delete(url).status_code == 204
    assert octo.get(url).status_code == 404
    assert octo.get(f"/repos/{name}/hooks").json() == []


def test_wrong_hooks_are_422(octo: httpx2.Client, name: str):
    def refusal(**changed: Any) -> str:
        config = {"url": "http://127.0.0.1:9/", **changed.pop("config", {})}
        response = octo.post(f"/repos/{name}/hooks", json={"events": ["push"], "config": config, **changed})
        assert response.status_code == 422
        return response.json()["errors"][0]["message"]

    add_hook(octo, name, "http://127.0.0.1:9/")
    assert refusal() == "Hook already exists on this repository"
    assert refusal(config={"url": ""}) == "Config must contain URL for webhooks"
    assert refusal(config={"url": "https://example.com/"}).startswith("url is not supported")
    assert refusal(events=["pushes"]) == "Events is invalid"
    assert refusal(name="email") == "name must be web"


def test_hooks_need_admin_rights_and_scope(double: Control, client_with: OpenApi, name: str):
    double.add_user("dev")
    double.change_repository(name, collaborators={"dev": "push"})
    url, body = f"/repos/{name}/hooks", {"config": {"url": "http://127.0.0.1:9/"}}
    assert client_with("dev", scopes=["repo"]).get(url).status_code == 404
    assert client_with(scopes=["read:repo_hook"]).get(url).status_code == 200
    assert client_with(scopes=["read:repo_hook"]).post(url, json=body).status_code == 404
    assert client_with(scopes=["write:repo_hook"]).post(url, json=body).status_code == 201
    refused = client_with(permissions={"repository_hooks": "read"}).post(url, json=body)
    assert refused.headers["x-accepted-github-permissions"] == "repository_hooks=write"


def test_many_tags_at_once_are_not_reported(
    double: Control, octo: httpx2.Client, receiver: Receiver, name: str, tmp_path: Path
):
    add_hook(octo, name, receiver.url)
    token = double.add_token("octo", scopes=["repo"]).value
    url = double.url.replace("http://", f"http://octo:{token}@")
    Repository(tmp_path).git("clone", "--quiet", f"{url}/{name}.git", "clone")
    clone = Repository(tmp_path / "clone")
    for number in range(4):
        clone.git("tag", f"v{number}")
    clone.git("push", "--quiet", "--tags")
    double.wait_for_deliveries()
    assert receiver.events() == []
