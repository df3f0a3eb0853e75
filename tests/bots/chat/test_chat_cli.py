"""`forge chat` with pipes: only the answer is written to standard output."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.chat_server import ChatServer, open_chat_server
from tests.support.server import Server, wait_until
from tests.support.terminal import FORGE, CommandResult, Terminal, clean_environment
from tests.support.timeouts import PATIENCE_S

ANSWER = "# Tides\n\nThe sea **rises** twice a day.\n\n```python\ntide = 12\n```"
LONG = " ".join(f"word {number}" for number in range(2000))
SCENES: dict[str, Any] = {
    "tide": {"match": {"latest": "tide"}, "turns": [{"text": ANSWER}]},
    "long": {"match": {"latest": "long"}, "turns": [{"text": LONG}]},
    "codes": {"match": {"latest": "codes"}, "turns": [{"text": "a\x1b[31mred\x1b[0m\r\nb\u202e"}]},
    "faltering": {
        "match": {"latest": "faltering", "model": "talker"},
        "turns": [{"text": "A try that breaks off.", "delay_s": 0.2, "fault": {"kind": "cut", "after": 1}}],
    },
    "steady": {"match": {"latest": "faltering"}, "turns": [{"text": "The answer that counts, to its end."}]},
    "loading": {
        "match": {"latest": "loading"},
        "turns": [{"text": "Ready.", "fault": {"kind": "loading", "times": 1, "retry_after_s": 5}}],
    },
    "broken": {"match": {"latest": "broken"}, "turns": [{"text": "no", "fault": "400"}]},
}


@pytest.fixture(scope="module")
def chat_server(server: Server) -> Iterator[ChatServer]:
    with open_chat_server(server, SCENES) as opened:
        opened.make_bot("Atlas", description="Knows the sea.")
        yield opened


@pytest.fixture
def terminal(chat_server: ChatServer) -> Terminal:
    return Terminal(chat_server.server.data_dir)


def pipe(chat_server: ChatServer, *arguments: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
    environment = clean_environment() | {"FORGE_DATA_DIR": str(chat_server.server.data_dir)}
    return subprocess.run(
        [*FORGE, "chat", *arguments], input=given, env=environment, capture_output=True, timeout=120
    )


def test_only_the_answer_is_written_to_stdout(terminal: Terminal):
    result = terminal("chat", "atlas", "what is the tide?")
    assert (result.code, result.out) == (0, f"{ANSWER}\n")
    facts, hint = result.err.splitlines()
    assert facts.startswith("scripted:talker · temperature 0.7 · ") and " out · $0." in facts
    assert hint.startswith("Continue with: --session ")
    assert terminal("chat", "atlas", "--quiet", "what is the tide?") == CommandResult(0, f"{ANSWER}\n", "")


def test_failed_attempt_is_not_written_to_stdout(chat_server: ChatServer, terminal: Terminal):
    bot = chat_server.make_bot("Falter")
    price = {"input": 3, "output": 15}
    chat_server.server.call("PUT", "/api/v1/models/prices?model=scripted:other", price)
    chain = {"chain": ["scripted:talker", "scripted:other"]}
    chat_server.server.call("PUT", f"/api/v1/models/roles/bot?scope=bot:{bot['id']}", chain)
    result = terminal("chat", bot["slug"], "--quiet", "faltering")
    assert (result.code, result.out) == (0, "The answer that counts, to its end.\n")


def test_retry_is_announced_on_stderr(terminal: Terminal):
    result = terminal("chat", "atlas", "--quiet", "loading")
    assert (result.code, result.out) == (0, "Ready.\n")
    assert "(attempt 2 of 8)" in result.err


def test_stdin_is_the_question_or_is_appended_to_it(chat_server: ChatServer, terminal: Terminal):
    assert terminal("chat", "atlas", "--quiet", stdin="the tide, please\n").out == f"{ANSWER}\n"
    answer = terminal("chat", "atlas", "--json", "What does this say?", stdin="  the tide table\n\n").data
    question = chat_server.messages(answer["session_id"])[0]
    assert question["text"] == "What does this say?\n\n  the tide table"


def test_json_output_is_the_answer_of_the_api(chat_server: ChatServer, terminal: Terminal):
    result = terminal("chat", "atlas", "--json", "what is the tide?")
    assert result.data == chat_server.messages(result.data["session_id"])[-1]
    assert (result.data["text"], result.data["status"], result.err) == (ANSWER, "done", "")


def test_conversation_is_continued(chat_server: ChatServer, terminal: Terminal):
    first = terminal("chat", "atlas", "--new", "--json", "what is the tide?").data["session_id"]
    assert (
        terminal("chat", "atlas", "--session", first, "--json", "and the tide?").data["session_id"] == first
    )
    assert terminal("chat", "atlas", "--last", "--json", "tide again").data["session_id"] == first
    assert len(chat_server.messages(first)) == 6
    other = chat_server.make_bot("Borea")
    assert terminal("chat", other["slug"], "--session", first, "tide").code == 5
    assert terminal("chat", other["slug"], "--session", "abc", "tide").code == 5


def test_memories_are_extracted_after_the_chat(chat_server: ChatServer, terminal: Terminal):
    bot = chat_server.make_bot("Mnemo")
    terminal("chat", bot["slug"], "the tide")
    runs = chat_server.server.call("GET", "/api/v1/runs?kind=remember")
    session = chat_server.sessions(bot["slug"])[0]["id"]
    inputs = [chat_server.server.call("GET", f"/api/v1/runs/{run['id']}")["input"] for run in runs]
    assert session in [given["session_id"] for given in inputs]


def test_control_characters_in_an_answer_are_replaced(terminal: Terminal):
    assert terminal("chat", "atlas", "--quiet", "codes").out == "a\ufffd[31mred\ufffd[0m\nb\ufffd\n"


def test_failed_answer_shows_the_reason(terminal: Terminal):
    result = terminal("chat", "atlas", "broken")
    assert result.code == 1 and result.out == "\n"
    assert "failed · " in result.err
    quiet = terminal("chat", "atlas", "--quiet", "broken")
    assert quiet.code == 1 and quiet.err


def test_closed_pipe_ends_without_a_traceback(chat_server: ChatServer):
    environment = clean_environment() | {"FORGE_DATA_DIR": str(chat_server.server.data_dir)}
    with subprocess.Popen(
        [*FORGE, "chat", "atlas", "long"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        err = process.stderr.read().decode()
        assert process.wait(timeout=PATIENCE_S) == 1
    assert "Traceback" not in err and "BrokenPipe" not in err


def test_invalid_calls_print_one_error_line(chat_server: ChatServer, terminal: Terminal, tmp_path: Path):
    assert terminal("chat", "nobody", "hello").code == 5
    nothing = terminal("chat", "atlas", stdin=" \n")
    assert nothing.code == 2 and nothing.err.startswith("error: The message is empty.")
    assert terminal("chat", "atlas", "--session", "a", "--last", "hello").code == 2
    assert terminal("chat", "atlas", "x" * 100_001).code == 2
    process = pipe(chat_server, "atlas", given=b"\xff\xfe\x00")
    assert (
        process.returncode == 2
        and b"The input is not valid UTF-8." in process.stderr
        and b"Traceback" not in process.stderr
    )
    alone = Terminal(tmp_path / "nowhere")("chat", "atlas", "hello")
    assert alone.code == 3 and alone.err.startswith("error: No Forge server is running here.")


def test_missing_key_prints_one_line_and_a_hint(start_server: Any, tmp_path: Path):
    server: Server = start_server(tmp_path / "keyless")
    server.call("POST", "/api/v1/bots", {"name": "Atlas"})
    result = Terminal(server.data_dir)("chat", "atlas", "hello")
    assert result.code == 4 and result.out == ""
    error, hint = result.err.splitlines()
    assert error.startswith("error: ") and hint.startswith(" hint: ")
    assert "forge secrets set" in result.err and "forge models serve" in result.err


def test_conversations_are_listed_shown_searched_renamed_exported_and_deleted(
    chat_server: ChatServer, terminal: Terminal, tmp_path: Path
):
    bot = chat_server.make_bot("Clio")["slug"]
    assert "forge chat clio" in terminal("bots", "sessions", "list", bot).err
    session = terminal("chat", bot, "--json", "what is the tide?").data["session_id"]
    wait_until(lambda: not chat_server.sessions(bot)[0]["is_answering"], what="the title")

    listed = terminal("bots", "sessions", "list", bot)
    assert "#" not in listed.out, "no command accepts row numbers"
    assert session in listed.out and listed.code == 0
    shown = terminal("bots", "sessions", "show", bot, session[:30])
    assert "what is the tide?" in shown.out and "twice a day" in shown.out
    (hit,) = terminal("bots", "sessions", "search", bot, "twice day", "--json").data
    assert hit["session_id"] == session and "⟦twice⟧" in hit["excerpt"]
    assert "twice" in terminal("bots", "sessions", "search", bot, "twice").out
    assert terminal("bots", "sessions", "search", bot, "albatross").err == "No matching messages.\n"
    assert terminal("bots", "sessions", "rename", bot, session, "The sea").out == "Renamed to The sea.\n"
    exported = terminal("bots", "sessions", "export", bot, session).out
    assert exported.startswith("# The sea\n") and ANSWER in exported
    whole = json.loads(terminal("bots", "sessions", "export", bot, session, "--json").out)
    assert whole["session"]["title"] == "The sea" and len(whole["messages"]) == 2
    file = tmp_path / "sea.md"
    assert terminal("bots", "sessions", "export", bot, session, "--output", str(file)).code == 0
    assert file.read_text() == exported
    assert terminal("bots", "sessions", "export", bot, session, "--output", str(file)).code == 6
    assert terminal("bots", "sessions", "delete", bot, session, stdin="y\n").code == 2
    assert terminal("bots", "sessions", "delete", bot, session, "--yes").out == "Deleted The sea.\n"
    assert terminal("bots", "sessions", "show", bot, session).code == 5
