"""Test `forge chat` in a terminal: the prompt, slash commands, live answers, and Ctrl-C."""

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


class PromptDriver:
    """Types lines at the prompt and matches only output that follows the previous match."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self._seen = 0

    def type(self, line: str, *expected: str) -> None:
        self.wait_for(PROMPT)
        self.screen.type(f"{line}\n")
        for words in expected:
            self.wait_for(words)

    def wait_for(self, words: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while (index := self.screen.text.find(words, self._seen)) < 0:
            self.screen.wait_for_more(timeout_s=1)
            assert time.monotonic() < deadline, f"{words!r} did not appear:\n{self.screen.text[-3000:]}"
        self._seen = index + len(words)

    def interrupt(self, words: str | None = None) -> None:
        """Press Ctrl-C at the prompt until the words appear or, without words, until the program exits.

        Readline handles a signal that arrives before its first read only with the next key.
        """
        while not self._is_handled(words):
            self.screen.type("\x03")
            deadline = time.monotonic() + 5
            while not self._is_handled(words) and time.monotonic() < deadline:
                self.screen.wait_for_more(timeout_s=0.1)

    def _is_handled(self, words: str | None) -> bool:
        if words is None:
            return self.screen.process.poll() is not None
        return words in self.screen.text[self._seen :]


@pytest.fixture
def prompt(chat_server: ChatServer, bot: str) -> Iterator[PromptDriver]:
    with open_screen(chat_server.server.data_dir, "chat", bot, NO_COLOR="1") as screen:
        yield PromptDriver(screen)


def test_answer_is_followed_by_its_footer(chat_server: ChatServer, bot: str, prompt: PromptDriver):
    prompt.type("what is the tide?", "rises", "tide = 12", "Twice <b>a</b> day.", "temperature 0.7 · ")
    prompt.type("and the moon?", "It pulls.", "temperature")
    prompt.type("/exit")
    assert prompt.screen.end() == 0
    (session,) = chat_server.sessions(bot)
    assert [message["text"] for message in chat_server.messages(session["id"])][2:] == [
        "and the moon?",
        "It pulls.",
    ]
    memory_runs = chat_server.server.call("GET", "/api/v1/runs?kind=remember")
    assert any(
        chat_server.server.call("GET", f"/api/v1/runs/{run['id']}")["input"]["session_id"] == session["id"]
        for run in memory_runs
    )


def test_ctrl_c_stops_only_the_answer(chat_server: ChatServer, bot: str, prompt: PromptDriver):
    prompt.type("tell me a story", "a long story")
    prompt.screen.type("\x03")
    prompt.wait_for("The answer was stopped.")
    prompt.wait_for("/resume")
    (session,) = chat_server.sessions(bot)
    stopped = chat_server.messages(session["id"])[-1]
    assert stopped["status"] == "stopped" and ENDLESS.startswith(stopped["text"])
    prompt.type("and the moon?", "It pulls.")
    prompt.wait_for(PROMPT)
    prompt.interrupt("Press Ctrl-C again or type /exit to exit.")
    prompt.wait_for(PROMPT)
    prompt.interrupt()
    assert prompt.screen.end() == 0


def test_ctrl_d_exits(prompt: PromptDriver):
    prompt.wait_for(PROMPT)
    prompt.screen.type("\x04")
    assert prompt.screen.end() == 0


def test_retry_and_edit_create_branches(chat_server: ChatServer, bot: str, prompt: PromptDriver):
    prompt.type("what is the tide?", "Twice", "temperature")
    prompt.type("/retry", "Twice", "temperature")
    prompt.type("/edit and the moon?", "It pulls.", "temperature")
    (session,) = chat_server.sessions(bot)
    messages = chat_server.messages(session["id"])
    assert [message["text"] for message in messages] == ["and the moon?", "It pulls."]
    assert len(messages[0]["siblings"]) == 2 and session["messages"] == 5
    prompt.wait_for(PROMPT)
    prompt.screen.type("/edit\n")
    prompt.wait_for("and the moon?")
    prompt.screen.type(" Or the tide?\n")
    prompt.wait_for("Twice")
    assert chat_server.messages(session["id"])[0]["text"] == "and the moon? Or the tide?"


def test_conversations_are_listed_switched_renamed_and_exported(
    chat_server: ChatServer, bot: str, prompt: PromptDriver, tmp_path: Path
):
    prompt.type("what is the tide?", "temperature")
    prompt.type("/title The sea", "Renamed to The sea.")
    prompt.type("/new", "Your next message starts a new conversation.")
    prompt.type("and the moon?", "It pulls.", "temperature")
    prompt.type("/sessions", "TITLE", "The sea")
    prompt.type("/switch 2", "The sea (2 messages)", "Twice")
    prompt.type("/title", "The sea")
    file = tmp_path / "sea.json"
    prompt.type(f"/export {file}", "Wrote ")
    assert json.loads(file.read_text())["session"]["title"] == "The sea"
    prompt.type(f"/export {file}", "already exists")
    prompt.type("/switch 9", "There is no conversation '9'")
    prompt.type("/stop", "No answer is being written.")
    prompt.type("/resume", "nothing to resume")
    assert {session["title"] for session in chat_server.sessions(bot)} >= {"The sea"}


def test_memories_are_added_listed_and_deleted(chat_server: ChatServer, bot: str, prompt: PromptDriver):
    prompt.type("/memories", "No memories yet.")
    prompt.type("/remember The boat is red.", "Remembered: The boat is red.")
    prompt.type("/memories", "The boat is red.")
    prompt.type("/forget 2", "There is no memory with this number.")
    prompt.type("/forget 1", "Forgotten: The boat is red.")
    prompt.type("/model", "scripted:talker", "4,096 tokens")
    assert chat_server.server.call("GET", f"/api/v1/bots/{bot}/memories") == []


def test_slash_messages_multiline_input_and_errors(chat_server: ChatServer, bot: str, prompt: PromptDriver):
    prompt.type("/nonsense", "Unknown command /nonsense.")
    prompt.type("/help", "/switch N", "End a line with")
    prompt.type("/retry", "This conversation has no messages yet.")
    prompt.type("//moon", "A slash.", "temperature")
    prompt.type("the\\")
    prompt.wait_for("  … ")
    prompt.screen.type("moon\n")
    prompt.wait_for("It pulls.")
    (session,) = chat_server.sessions(bot)
    questions = [message["text"] for message in chat_server.messages(session["id"])[::2]]
    assert questions == ["/moon", "the\nmoon"]


def test_answer_interrupted_by_a_server_crash_is_resumed(start_server: Any, tmp_path: Path):
    server: Server = start_server(tmp_path / "mortal")
    with open_chat_server(server, SCENES) as chat_server:
        chat_server.make_bot("Atlas")
        with open_screen(server.data_dir, "chat", "atlas", NO_COLOR="1") as screen:
            prompt = PromptDriver(screen)
            prompt.type("tell me a story", "a long story")
            session = chat_server.sessions("atlas")[0]["id"]
            wait_until(lambda: chat_server.messages(session)[-1]["text"], what="saved text of the answer")
            server.kill()
            prompt.wait_for("Trying again")
            server.start()
            prompt.wait_for("The answer was interrupted.")
            prompt.wait_for("/resume")
        with open_screen(server.data_dir, "chat", "atlas", "--last", NO_COLOR="1") as screen:
            prompt = PromptDriver(screen)
            prompt.wait_for("The answer was interrupted.")
            prompt.type("/resume", "a long story")
            prompt.screen.type("\x03")
            prompt.wait_for("The answer was stopped.")
            prompt.type("and the moon?", "It pulls.")


def test_answer_requested_by_another_client_is_followed(chat_server: ChatServer, bot: str):
    turn = chat_server.server.call("POST", f"/api/v1/bots/{bot}/chat", {"text": "tell me a story"})
    session = turn["session"]["id"]
    with open_screen(chat_server.server.data_dir, "chat", bot, "--session", session, NO_COLOR="1") as screen:
        prompt = PromptDriver(screen)
        prompt.wait_for("tell me a story")
        prompt.wait_for("a long story")
        chat_server.server.call("POST", f"/api/v1/sessions/{session}/stop")
        prompt.wait_for("The answer was stopped.")
        prompt.type("/exit")
        assert screen.end() == 0
