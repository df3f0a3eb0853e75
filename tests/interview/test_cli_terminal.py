"""`forge new` in a real terminal: arrow keys, back, words of one's own, leaving and coming back, a model that thinks."""

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
KEYS = "ctrl-c leave"
"""The last thing that is drawn of a list."""


class Seat:
    """Somebody at a terminal who waits for each list before the next key."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen

    def wait(self, words: str) -> None:
        """For words, and forget what was before them."""
        self.screen.wait_for(words)
        self.screen.text = self.screen.text.partition(words)[2]

    def pick(self, question: str, *keys: str) -> None:
        self.wait(question)
        self.press(*keys)

    def press(self, *keys: str) -> None:
        self.wait(KEYS)
        for key in keys:
            self.screen.type(key)


@pytest.fixture
def seat(server: Server, request: pytest.FixtureRequest) -> Iterator[Seat]:
    """At `forge new`, with the arguments of the test."""
    arguments: list[str] = request.param
    with open_screen(server.data_dir, *arguments) as screen:
        yield Seat(screen)


def latest(server: Server) -> dict[str, Any]:
    draft = server.call("GET", "/api/v1/builder/drafts")[0]
    return server.call("GET", f"/api/v1/builder/sessions/{draft['session_id']}")


@pytest.mark.parametrize("seat", [["new", DESCRIPTION, "--guide"]], indirect=True)
def test_choose_with_arrows_go_back_say_it_in_words_leave_and_come_back(server: Server, seat: Seat):
    seat.pick("comes closest?", DOWN, DOWN, UP, ENTER)
    seat.wait("What should it be called?")
    view = latest(server)
    assert view["question_count"] == 1
    second = view["lines"][0]["answer"]
    seat.press(LEFT)
    seat.wait("Back")
    seat.pick("comes closest?", "2")
    seat.wait("What should it be called?")
    others = len(latest(server)["turn"]["options"])
    seat.press(*[DOWN] * others, ENTER)
    seat.wait("in your own words")
    seat.screen.type("Arrow Desk\r")
    seat.wait("Arrow Desk")
    seat.press(CTRL_C)
    seat.wait("Saved as a draft. Go on with it: forge new --resume ")
    assert seat.screen.end() == 130
    left = latest(server)
    assert [line["answer"] for line in left["lines"]] == [second, "Arrow Desk"]
    with open_screen(server.data_dir, "new", "--resume") as screen:
        again = Seat(screen)
        again.pick("Which one?", ENTER)
        again.wait(left["turn"]["question"])
        again.press(CTRL_C)
        assert screen.end() == 130
    assert latest(server)["revision"] == left["revision"]


@pytest.mark.parametrize("seat", [["new", DESCRIPTION]], indirect=True)
def test_look_at_the_files_change_something_create_and_chat(server: Server, seat: Seat):
    seat.pick("Go on without a model", ENTER)
    seat.pick("comes closest?", ENTER)
    seat.pick("What should it be called?", ENTER)
    while (view := latest(server))["turn"]["action"] == "ask_question":
        seat.press(ENTER)
        before = view["revision"]
        wait_until(lambda before=before: latest(server)["revision"] > before, what="the next turn")
    seat.pick("Ready: this is what will be made.", DOWN, ENTER)
    seat.pick("/SOUL.md", DOWN, DOWN, ENTER)
    seat.pick("Setting up basics", ENTER)
    seat.wait("comes closest?")
    seat.press(ENTER)
    seat.pick("Ready: this is what will be made.", ENTER)
    seat.wait("Made ")
    seat.pick("Talk to", ENTER)
    seat.wait("you ▸")
    seat.screen.type("\x04")
    assert seat.screen.end() == 0


FIRST = ask(
    "What shall it be called, so that people ask for it by name?",
    "Quill",
    "Luna",
    field="name",
    phase="basics",
)
SECOND = ask("How shall it sound to those who ask?", "Warm", "Sly", field="tone", phase="personality")
KEYED = "sk-typed-unseen-0123456789"


@pytest.fixture
def keyed(start_server: Any, tmp_path: Path) -> Iterator[Server]:
    """A server whose model needs a key that nobody has saved yet."""
    server: Server = start_server(tmp_path / "keyed")
    script = interview_script([FIRST, SECOND, clarify("Say more.", field="purpose"), ready(model="default")])
    with open_models({**script, "keys": [KEYED], "delay_s": 0.05}) as models:
        provider = {"kind": "anthropic", "base_url": models.url, "key_name": "SCRIPTED_API_KEY"}
        server.call("PUT", "/api/v1/models/providers/scripted", provider)
        server.call("PUT", "/api/v1/models/prices?model=scripted:talker", {"input": 3, "output": 15})
        server.call("PUT", "/api/v1/models/roles/interviewer", {"chain": ["scripted:talker"]})
        yield server


def test_a_key_is_saved_on_the_way_and_the_model_takes_over(keyed: Server):
    with open_screen(keyed.data_dir, "new", DESCRIPTION) as screen:
        seat = Seat(screen)
        seat.pick("Set up a model first", DOWN, ENTER)
        seat.wait("scripted")
        place = [provider["key_name"] for provider in _keyless(keyed)].index("SCRIPTED_API_KEY")
        seat.press(*[DOWN] * place, ENTER)
        seat.wait("SCRIPTED_API_KEY (not shown):")
        screen.type(f"{KEYED}\r")
        seat.wait("Saved, encrypted, as SCRIPTED_API_KEY.")
        assert KEYED not in screen.text
        seat.wait("Forge asks with scripted:talker.")
        seat.pick("comes closest?", ENTER)
        seat.pick("How shall it sound", CTRL_C)
        assert screen.end() == 130
    with open_screen(keyed.data_dir, "new", DESCRIPTION) as screen:
        seat = Seat(screen)
        seat.wait("What shall it be called, so")  # heard while it is written
        seat.pick("ask for it by name?", ENTER)
        screen.wait_for("How shall it")
        screen.type(CTRL_C)  # while it thinks
        seat.pick("ask for it by name?", "s")
        seat.wait("without a model. You chose")
        seat.pick("ask for it by name?", ENTER)
        seat.wait("Setting up basics")
        seat.press(CTRL_C)
        assert screen.end() == 130
    view = latest(keyed)
    assert (view["spoken_by"]["speaker"], [line["answer"] for line in view["lines"]]) == ("guide", ["Quill"])


def _keyless(server: Server) -> list[dict[str, Any]]:
    providers = server.call("GET", "/api/v1/models")["providers"]
    return [provider for provider in providers if provider["key_name"] and not provider["has_key"]]


def test_a_server_that_dies_and_comes_back_is_waited_for(start_server: Any, tmp_path: Path):
    server: Server = start_server(tmp_path / "mortal")
    with open_screen(server.data_dir, "new", DESCRIPTION, "--guide") as screen:
        seat = Seat(screen)
        seat.pick("comes closest?")
        server.kill()
        screen.type(ENTER)
        server.start()
        seat.pick("What should it be called?", CTRL_C)
        assert screen.end() == 130
    assert latest(server)["question_count"] == 1
