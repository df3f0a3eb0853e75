"""`forge new` in a pseudo-terminal: menus, free text, leaving and resuming, keys, a slow model, a server restart."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.interview_scripts import ask, clarify, interview_script, ready
from tests.support.models import open_models
from tests.support.server import Server, wait_until
from tests.support.terminal import Screen, open_screen

DESCRIPTION = "a bot that answers questions about our opening hours"
UP, DOWN, LEFT, ENTER, CTRL_C = "\x1b[A", "\x1b[B", "\x1b[D", "\r", "\x03"
KEY_HINTS = "ctrl-c leave"
"""The last text of a menu."""


class User:
    """Types at a terminal, and waits for each menu before pressing a key."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen

    def wait(self, text: str) -> None:
        """Wait for a text, and discard the output up to it."""
        self.screen.wait_for(text)
        self.screen.text = self.screen.text.partition(text)[2]

    def pick(self, question: str, *keys: str) -> None:
        self.wait(question)
        self.press(*keys)

    def press(self, *keys: str) -> None:
        self.wait(KEY_HINTS)
        for key in keys:
            self.screen.type(key)


@pytest.fixture
def user(server: Server, request: pytest.FixtureRequest) -> Iterator[User]:
    """Run `forge` with the arguments of the test."""
    arguments: list[str] = request.param
    with open_screen(server.data_dir, *arguments) as screen:
        yield User(screen)


def latest(server: Server) -> dict[str, Any]:
    draft = server.call("GET", "/api/v1/builder/drafts")[0]
    return server.call("GET", f"/api/v1/builder/sessions/{draft['session_id']}")


@pytest.mark.parametrize("user", [["new", DESCRIPTION, "--guide"]], indirect=True)
def test_menus_free_text_leaving_and_resuming(server: Server, user: User):
    user.pick("comes closest?", DOWN, DOWN, UP, ENTER)
    user.wait("What should it be called?")
    view = latest(server)
    assert view["question_count"] == 1
    second = view["lines"][0]["answer"]
    user.press(LEFT)
    user.wait("Back")
    user.pick("comes closest?", "2")
    user.wait("What should it be called?")
    others = len(latest(server)["turn"]["options"])
    user.press(*[DOWN] * others, ENTER)
    user.wait("in your own words")
    user.screen.type("Arrow Desk\r")
    user.wait("Arrow Desk")
    user.press(CTRL_C)
    user.wait("Saved as a draft. Continue it: forge new --resume ")
    assert user.screen.end() == 130
    draft = latest(server)
    assert [line["answer"] for line in draft["lines"]] == [second, "Arrow Desk"]
    with open_screen(server.data_dir, "new", "--resume") as screen:
        resumed = User(screen)
        resumed.pick("Which draft?", ENTER)
        resumed.wait(draft["turn"]["question"])
        resumed.press(CTRL_C)
        assert screen.end() == 130
    assert latest(server)["revision"] == draft["revision"]


@pytest.mark.parametrize("user", [["new", DESCRIPTION]], indirect=True)
def test_review_shows_files_allows_changes_and_offers_a_chat(server: Server, user: User):
    user.pick("Continue without a model", ENTER)
    user.pick("comes closest?", ENTER)
    user.pick("What should it be called?", ENTER)
    while (view := latest(server))["turn"]["action"] == "ask_question":
        user.press(ENTER)
        before = view["revision"]
        wait_until(lambda before=before: latest(server)["revision"] > before, what="the next turn")
    user.pick("Ready. This will be created:", DOWN, ENTER)
    user.pick("/SOUL.md", DOWN, DOWN, ENTER)
    user.pick("Setting up basics", ENTER)
    user.wait("comes closest?")
    user.press(ENTER)
    user.pick("Ready. This will be created:", ENTER)
    user.wait("Created ")
    user.pick("Chat with", ENTER)
    user.wait("you ▸")
    user.screen.type("\x04")
    assert user.screen.end() == 0


FIRST = ask(
    "What shall it be called, so that people ask for it by name?",
    "Quill",
    "Luna",
    field="name",
    phase="basics",
)
SECOND = ask("How shall it sound to those who ask?", "Warm", "Sly", field="tone", phase="personality")
API_KEY = "sk-typed-unseen-0123456789"


@pytest.fixture
def server_without_key(start_server: Any, tmp_path: Path) -> Iterator[Server]:
    """Start a server whose model needs a key that is not saved yet."""
    server: Server = start_server(tmp_path / "keyed")
    script = interview_script([FIRST, SECOND, clarify("Say more.", field="purpose"), ready(model="default")])
    with open_models({**script, "keys": [API_KEY], "delay_s": 0.05}) as models:
        provider = {"kind": "anthropic", "base_url": models.url, "key_name": "SCRIPTED_API_KEY"}
        server.call("PUT", "/api/v1/models/providers/scripted", provider)
        server.call("PUT", "/api/v1/models/prices?model=scripted:talker", {"input": 3, "output": 15})
        server.call("PUT", "/api/v1/models/roles/interviewer", {"chain": ["scripted:talker"]})
        yield server


def test_saved_key_lets_the_model_take_over(server_without_key: Server):
    with open_screen(server_without_key.data_dir, "new", DESCRIPTION) as screen:
        user = User(screen)
        user.pick("Set up a model first", DOWN, ENTER)
        user.wait("scripted")
        index = [provider["key_name"] for provider in _providers_without_key(server_without_key)].index(
            "SCRIPTED_API_KEY"
        )
        user.press(*[DOWN] * index, ENTER)
        user.wait("SCRIPTED_API_KEY (not shown):")
        screen.type(f"{API_KEY}\r")
        user.wait("Saved SCRIPTED_API_KEY, encrypted.")
        assert API_KEY not in screen.text
        user.wait("scripted:talker asks the questions.")
        user.pick("comes closest?", ENTER)
        user.pick("How shall it sound", CTRL_C)
        assert screen.end() == 130
    with open_screen(server_without_key.data_dir, "new", DESCRIPTION) as screen:
        user = User(screen)
        user.wait("What shall it be called, so")  # streamed while it is written
        user.pick("ask for it by name?", ENTER)
        screen.wait_for("How shall it")
        screen.type(CTRL_C)  # while the model is busy
        user.pick("ask for it by name?", "s")
        user.wait("without a model. You chose")
        user.pick("ask for it by name?", ENTER)
        user.wait("Setting up basics")
        user.press(CTRL_C)
        assert screen.end() == 130
    view = latest(server_without_key)
    assert (view["spoken_by"]["speaker"], [line["answer"] for line in view["lines"]]) == ("guide", ["Quill"])


def _providers_without_key(server: Server) -> list[dict[str, Any]]:
    providers = server.call("GET", "/api/v1/models")["providers"]
    return [provider for provider in providers if provider["key_name"] and not provider["has_key"]]


def test_server_restart_is_tolerated(start_server: Any, tmp_path: Path):
    server: Server = start_server(tmp_path / "restarted")
    with open_screen(server.data_dir, "new", DESCRIPTION, "--guide") as screen:
        user = User(screen)
        user.pick("comes closest?")
        server.kill()
        screen.type(ENTER)
        server.start()
        user.pick("What should it be called?", CTRL_C)
        assert screen.end() == 130
    assert latest(server)["question_count"] == 1
