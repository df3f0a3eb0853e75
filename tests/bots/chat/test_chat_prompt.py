"""`forge chat` as a person has it: a prompt in a terminal, answers that are written, Ctrl-C."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.chat_server import ChatServer, open_chat_server
from tests.support.server import Server, wait_until
from tests.support.terminal import Screen, open_screen
from tests.support.timeouts import PATIENCE_S

PROMPT = "you ▸ "
ENDLESS = "a long story " * 100
SCENES: dict[str, Any] = {
    "tide": {
        "match": {"latest": "tide"},
        "turns": [{"text": "It **rises**.\n\n```python\ntide = 12\n```\n\nTwice <b>a</b> day."}],
    },
    "slash": {"match": {"latest": "^/moon"}, "turns": [{"text": "A slash."}]},
    "moon": {"match": {"latest": "moon"}, "turns": [{"text": "It pulls."}]},
    "resumed": {"match": {"latest": "interrupted before"}, "turns": [{"text": ENDLESS, "delay_s": 0.1}]},
    "story": {"match": {"latest": "story"}, "turns": [{"text": ENDLESS, "delay_s": 0.1}]},
}


@pytest.fixture(scope="module")
def chat_server(server: Server) -> Iterator[ChatServer]:
    with open_chat_server(server, SCENES) as opened:
        yield opened


@pytest.fixture
def bot(chat_server: ChatServer, request: pytest.FixtureRequest) -> str:
    return chat_server.make_bot(f"Bot of {request.node.name[-40:]}")["slug"]


class Sitting:
    """Types a line when there is a prompt, and looks only at what comes after it."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self._seen = 0

    def type(self, line: str, *expected: str) -> None:
        self.wait_for(PROMPT)
        self.screen.type(f"{line}\n")
        for words in expected:
            self.wait_for(words)

    def wait_for(self, words: str) -> None:
        """Further down than everything that was waited for before."""
        deadline = time.monotonic() + PATIENCE_S
        while (place := self.screen.text.find(words, self._seen)) < 0:
            self.screen.wait_for_more(timeout_s=1)
            assert time.monotonic() < deadline, f"{words!r} did not appear:\n{self.screen.text[-3000:]}"
        self._seen = place + len(words)

    def interrupt(self, words: str | None = None) -> None:
        """Ctrl-C at the prompt, until the words are there, or the end.

        One that comes between the prompt and the line editor's first look at the keyboard is heard with the next key.
        """
        while not self._answered(words):
            self.screen.type("\x03")
            deadline = time.monotonic() + 5
            while not self._answered(words) and time.monotonic() < deadline:
                self.screen.wait_for_more(timeout_s=0.1)

    def _answered(self, words: str | None) -> bool:
        if words is None:
            return self.screen.process.poll() is not None
        return words in self.screen.text[self._seen :]


@pytest.fixture
def sit(chat_server: ChatServer, bot: str) -> Iterator[Sitting]:
    with open_screen(chat_server.server.data_dir, "chat", bot, NO_COLOR="1") as screen:
        yield Sitting(screen)


def test_an_answer_is_written_and_what_it_took_is_below(chat_server: ChatServer, bot: str, sit: Sitting):
    sit.type("what is the tide?", "rises", "tide = 12", "Twice <b>a</b> day.", "temperature 0.7 · ")
    sit.type("and the moon?", "It pulls.", "temperature")
    sit.type("/exit")
    assert sit.screen.end() == 0
    (session,) = chat_server.sessions(bot)
    assert [message["text"] for message in chat_server.messages(session["id"])][2:] == [
        "and the moon?",
        "It pulls.",
    ]
    remembering = chat_server.server.call("GET", "/api/v1/runs?kind=remember")
    assert any(
        chat_server.server.call("GET", f"/api/v1/runs/{run['id']}")["input"]["session_id"] == session["id"]
        for run in remembering
    )


def test_ctrl_c_stops_the_answer_and_not_the_program(chat_server: ChatServer, bot: str, sit: Sitting):
    sit.type("tell me a story", "a long story")
    sit.screen.type("\x03")
    sit.wait_for("The answer was stopped.")
    sit.wait_for("/resume")
    (session,) = chat_server.sessions(bot)
    stopped = chat_server.messages(session["id"])[-1]
    assert stopped["status"] == "stopped" and ENDLESS.startswith(stopped["text"])
    sit.type("and the moon?", "It pulls.")
    sit.wait_for(PROMPT)
    sit.interrupt("Once more, or /exit, to leave.")
    sit.wait_for(PROMPT)
    sit.interrupt()
    assert sit.screen.end() == 0


def test_ctrl_d_leaves(sit: Sitting):
    sit.wait_for(PROMPT)
    sit.screen.type("\x04")
    assert sit.screen.end() == 0


def test_an_answer_is_tried_again_and_a_question_said_differently(
    chat_server: ChatServer, bot: str, sit: Sitting
):
    sit.type("what is the tide?", "Twice", "temperature")
    sit.type("/retry", "Twice", "temperature")
    sit.type("/edit and the moon?", "It pulls.", "temperature")
    (session,) = chat_server.sessions(bot)
    messages = chat_server.messages(session["id"])
    assert [message["text"] for message in messages] == ["and the moon?", "It pulls."]
    assert len(messages[0]["siblings"]) == 2 and session["messages"] == 5
    sit.wait_for(PROMPT)
    sit.screen.type("/edit\n")
    sit.wait_for("and the moon?")
    sit.screen.type(" Or the tide?\n")
    sit.wait_for("Twice")
    assert chat_server.messages(session["id"])[0]["text"] == "and the moon? Or the tide?"


def test_conversations_are_listed_switched_named_and_exported(
    chat_server: ChatServer, bot: str, sit: Sitting, tmp_path: Path
):
    sit.type("what is the tide?", "temperature")
    sit.type("/title The sea", "It is called The sea.")
    sit.type("/new", "A new conversation begins")
    sit.type("and the moon?", "It pulls.", "temperature")
    sit.type("/sessions", "TITLE", "The sea")
    sit.type("/switch 2", "The sea (2 messages)", "Twice")
    sit.type("/title", "The sea")
    file = tmp_path / "sea.json"
    sit.type(f"/export {file}", "Saved as")
    assert json.loads(file.read_text())["session"]["title"] == "The sea"
    sit.type(f"/export {file}", "is there already")
    sit.type("/switch 9", "There is no conversation '9'")
    sit.type("/stop", "No answer is being written.")
    sit.type("/resume", "nothing to resume")
    assert {session["title"] for session in chat_server.sessions(bot)} >= {"The sea"}


def test_memories_are_given_listed_and_forgotten(chat_server: ChatServer, bot: str, sit: Sitting):
    sit.type("/memories", "It remembers nothing yet.")
    sit.type("/remember The boat is red.", "Remembered: The boat is red.")
    sit.type("/memories", "The boat is red.")
    sit.type("/forget 2", "There is no such number.")
    sit.type("/forget 1", "Forgotten: The boat is red.")
    sit.type("/model", "scripted:talker", "4,096 tokens")
    assert chat_server.server.call("GET", f"/api/v1/bots/{bot}/memories") == []


def test_slashes_lines_and_mistakes(chat_server: ChatServer, bot: str, sit: Sitting):
    sit.type("/nonsense", "There is no command /nonsense.")
    sit.type("/help", "/switch N", "type two")
    sit.type("/retry", "This conversation has not begun.")
    sit.type("//moon", "A slash.", "temperature")
    sit.type("the\\")
    sit.wait_for("  … ")
    sit.screen.type("moon\n")
    sit.wait_for("It pulls.")
    (session,) = chat_server.sessions(bot)
    questions = [message["text"] for message in chat_server.messages(session["id"])[::2]]
    assert questions == ["/moon", "the\nmoon"]


def test_an_answer_that_died_with_the_server_is_found_and_written_on(start_server: Any, tmp_path: Path):
    server: Server = start_server(tmp_path / "mortal")
    with open_chat_server(server, SCENES) as chat_server:
        chat_server.make_bot("Atlas")
        with open_screen(server.data_dir, "chat", "atlas", NO_COLOR="1") as screen:
            sit = Sitting(screen)
            sit.type("tell me a story", "a long story")
            session = chat_server.sessions("atlas")[0]["id"]
            wait_until(lambda: chat_server.messages(session)[-1]["text"], what="something to keep")
            server.kill()
            sit.wait_for("Trying again")
            server.start()
            sit.wait_for("The answer was interrupted.")
            sit.wait_for("/resume")
        with open_screen(server.data_dir, "chat", "atlas", "--last", NO_COLOR="1") as screen:
            sit = Sitting(screen)
            sit.wait_for("The answer was interrupted.")
            sit.type("/resume", "a long story")
            sit.screen.type("\x03")
            sit.wait_for("The answer was stopped.")
            sit.type("and the moon?", "It pulls.")


def test_an_answer_asked_for_elsewhere_is_listened_to(chat_server: ChatServer, bot: str):
    asked = chat_server.server.call("POST", f"/api/v1/bots/{bot}/chat", {"text": "tell me a story"})
    session = asked["session"]["id"]
    with open_screen(chat_server.server.data_dir, "chat", bot, "--session", session, NO_COLOR="1") as screen:
        sit = Sitting(screen)
        sit.wait_for("tell me a story")
        sit.wait_for("a long story")
        chat_server.server.call("POST", f"/api/v1/sessions/{session}/stop")
        sit.wait_for("The answer was stopped.")
        sit.type("/exit")
        assert screen.end() == 0
