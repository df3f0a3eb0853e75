"""The same interview over HTTP, a WebSocket, a terminal and a browser creates the same bot."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Visitor
from tests.interview.browser.steps import answers, begin, create_button, question, wait_for_interview
from tests.support.interview_scripts import NAME, STORIES, TONE, interview_script, ready
from tests.support.models import open_models
from tests.support.server import Server
from tests.support.terminal import Terminal
from tests.support.timeouts import PATIENCE_S
from websockets.sync.client import connect

from forge.kernel.ids import new_id

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

MODEL = "scripted:scripted"
QUESTIONS = [
    NAME,
    TONE,
    ready(purpose="Tell a story before sleep.", model="default", skills=["text-generation"]),
]
CHOSEN = ("Owl", "Wildly")


@pytest.fixture(scope="module", autouse=True)
def model(server: Server) -> Iterator[None]:
    with open_models(interview_script(QUESTIONS)) as models:
        provider = {"kind": "anthropic", "base_url": models.url}
        server.call("PUT", "/api/v1/models/providers/scripted", provider)
        server.call("PUT", f"/api/v1/models/prices?model={MODEL}", {"input": 3, "output": 15})
        server.call("PUT", "/api/v1/models/roles/interviewer", {"chain": [MODEL]})
        yield


def create_over_http(server: Server) -> str:
    view = server.call("POST", "/api/v1/builder/sessions", {"description": STORIES})
    path = f"/api/v1/builder/sessions/{view['session_id']}"
    for _ in CHOSEN:
        view = server.call("POST", f"{path}/answer", {"answer": {"OptionIndex": 1}})
    created = server.call("POST", f"{path}/assemble", {"config": view["turn"]["config"]})
    return created["result"]["bot_slug"]


def create_over_socket(server: Server) -> str:
    address = f"{server.url.replace('http', 'ws', 1)}/ws/builder/{new_id()}"
    headers = {"Authorization": f"Bearer {server.key}"}
    with connect(address, additional_headers=headers, open_timeout=PATIENCE_S) as socket:

        def send(**message: Any) -> None:
            socket.send(json.dumps(message))

        def receive(kind: str) -> Any:
            while (frame := json.loads(socket.recv(timeout=60)))["type"] != kind:
                assert frame["type"] in ("state", "delta", "pong"), frame
            return frame

        send(type="start_bot", description=STORIES)
        turn = receive("turn")["turn"]
        for _ in CHOSEN:
            send(type="answer", answer={"OptionIndex": 1})
            turn = receive("turn")["turn"]
        send(type="assemble_bot", config=turn["config"])
        return receive("bot_assembled")["result"]["bot_slug"]


def create_in_terminal(server: Server, tmp_path: Path) -> str:
    file = tmp_path / "answers.yaml"
    file.write_text(f"confirm: true\nanswers: {json.dumps(CHOSEN)}\n")
    result = Terminal(server.data_dir)("new", STORIES, "--answers", str(file), "--json")
    assert result.code == 0, result.err
    return json.loads(result.out)["result"]["bot_slug"]


def create_in_browser(visitor: Visitor) -> str:
    page = visitor.page
    begin(visitor, STORIES)
    wait_for_interview(page)
    for turn, label in zip(QUESTIONS, CHOSEN, strict=False):
        expect(question(page)).to_contain_text(turn["turn"]["question"])
        answers(page).filter(has_text=label).click()
    create_button(page).click()
    page.wait_for_url("**/bots/*/chat")
    return page.url.split("/")[-2]


def files(server: Server, slug: str) -> dict[str, bytes]:
    folder = server.data_dir / "bots" / slug
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def test_all_clients_create_the_same_bot(server: Server, visit: Visit, tmp_path: Path):
    created: list[dict[str, bytes]] = []
    for create in (
        lambda: create_over_http(server),
        lambda: create_over_socket(server),
        lambda: create_in_terminal(server, tmp_path),
        lambda: create_in_browser(visit()),
    ):
        slug = create()
        created.append(files(server, slug))
        server.call("DELETE", f"/api/v1/bots/{slug}")  # a name in use would not be offered again
    first, *others = created
    assert b"read every line aloud" in first["SOUL.md"]
    assert set(first) == {"SOUL.md", "IDENTITY.md", "USER.md", "skills.toml"}
    for other in others:
        assert other == first
