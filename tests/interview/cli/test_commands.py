"""`forge new`, `forge skill create`, `forge drafts` and `forge interview` with pipes and answer files, without a model."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.server import Server
from tests.support.terminal import Terminal

from forge.kernel.hashing import hash_text

DESCRIPTION = "a bot that answers questions about our opening hours"
WriteAnswers = Callable[[str], str]


@pytest.fixture
def forge(server: Server) -> Terminal:
    return Terminal(server.data_dir)


@pytest.fixture
def answers(tmp_path: Path) -> WriteAnswers:
    """Write a file with answers and return its path."""

    def write(text: str) -> str:
        path = tmp_path / "answers.yaml"
        path.write_text(text)
        return str(path)

    return write


def answers_in_order(name: str, *more: str) -> str:
    """Answer the guide's questions about a customer service bot, and skip the rest."""
    listed = ["customer_service", name, *more, "1", "1", "skip"]
    return "confirm: true\nanswers:\n" + "".join(f"- {json.dumps(one)}\n" for one in listed)


def session_id(err: str) -> str:
    """Return the id of the draft that a command saved."""
    return err.rpartition("--resume ")[2].split()[0]


def bot_names(server: Server) -> set[str]:
    return {bot["identity"]["display_name"] for bot in server.call("GET", "/api/v1/bots")}


def test_answers_file_creates_a_bot_that_replays_to_identical_files(
    server: Server, forge: Terminal, answers: WriteAnswers, tmp_path: Path
):
    result = forge("new", DESCRIPTION, "--answers", answers(answers_in_order("Returns Desk")))
    assert result.code == 0, result.err
    assert "Created Returns Desk (returns-desk)" in result.out and "forge chat returns-desk" in result.out
    session = result.out.rpartition("interview replay ")[2].strip()
    replayed = forge("interview", "replay", session, "--out", str(tmp_path / "again"))
    assert replayed.code == 0 and "4 files, identical to what was created." in replayed.err
    folder = server.data_dir / "bots" / "returns-desk"
    for path in (tmp_path / "again" / "returns-desk").iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes()
    assert forge("interview", "replay", session, "--out", str(tmp_path / "again")).code == 2
    assert "── returns-desk/SOUL.md" in forge("interview", "replay", session).out


def test_json_output_contains_only_the_result(forge: Terminal, answers: WriteAnswers):
    result = forge("new", DESCRIPTION, "--answers", answers(answers_in_order("Json Desk")), "--json")
    assert (result.code, result.err) == (0, "")
    assert [bot["bot_slug"] for bot in result.data["result"]["bots"]] == ["json-desk"]


def test_answers_are_found_by_question_and_by_phase(server: Server, forge: Terminal, answers: WriteAnswers):
    text = f"""
description: {DESCRIPTION}
confirm: yes
comes closest: Helping customers
called: Mapped Desk
basics: Customers
talk: 2
personality: skip
"""
    result = forge("new", "--answers", answers(text), "--json")
    assert result.code == 0, result.err
    assert "Mapped Desk" in bot_names(server)


def test_list_of_answers_can_go_back(server: Server, forge: Terminal, answers: WriteAnswers):
    result = forge(
        "new", DESCRIPTION, "--answers", answers(answers_in_order("Wrong Desk", "back", "Right Desk"))
    )
    assert result.code == 0, result.err
    assert "Right Desk" in bot_names(server) and "Wrong Desk" not in bot_names(server)


def test_missing_answer_fails_and_keeps_the_draft(forge: Terminal, answers: WriteAnswers):
    result = forge("new", DESCRIPTION, "--answers", answers("[customer_service, Half a Desk]"))
    assert result.code == 2
    assert "has no answer to question 3 (Setting up basics): “" in result.err and "1. " in result.err
    view = forge("interview", "show", session_id(result.err), "--json").data
    assert [line["answer"] for line in view["lines"]] == ["Helping customers", "Half a Desk"]
    rest = answers("confirm: true\nanswers: [1, 1, skip]\n")
    resumed = forge("new", "--resume", session_id(result.err), "--answers", rest)
    assert resumed.code == 0 and "Created Half a Desk" in resumed.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            answers_in_order("Spare Desk") + "- one more\n",
            ":8: no question was asked for the answer 'one more'.",
        ),
        ("[customer_service, Spare Desk, 1, 99]", ":1: '99' does not answer “"),
        ("[customer_service, skip]", "”: the rest cannot be skipped yet."),
        (
            answers_in_order("Spare Desk").replace("confirm: true\n", ""),
            "complete but not confirmed: nothing was created.",
        ),
        ("- 1\n- [nested]\n", ":2:3: An answer must be text or a number."),
    ],
)
def test_invalid_answers_file_creates_nothing_and_names_the_line(
    server: Server, forge: Terminal, answers: WriteAnswers, text: str, message: str
):
    result = forge("new", DESCRIPTION, "--answers", answers(text))
    assert result.code == 2 and message in result.err, result.err
    assert "Spare Desk" not in bot_names(server)


def test_dry_run_shows_the_files_and_creates_nothing(server: Server, forge: Terminal, answers: WriteAnswers):
    file = answers(answers_in_order("Dry Desk"))
    result = forge("new", DESCRIPTION, "--answers", file, "--dry-run")
    assert (
        result.code == 0
        and "── dry-desk/SOUL.md" in result.out
        and "Dry run: nothing was created." in result.err
    )
    assert "Dry Desk" not in bot_names(server)
    assert forge("interview", "replay", session_id(result.err)).code == 6
    made = forge("new", "--resume", session_id(result.err), "--yes", "--json").data
    shown = forge("interview", "replay", session_id(result.err), "--json").data["files"]
    assert made["result"]["hashes"] == {one["path"]: hash_text(one["content"]) for one in shown}
    assert all(one["content"].rstrip("\n") in result.out for one in shown)


def test_json_without_answers_prints_the_current_turn(server: Server, forge: Terminal):
    result = forge("new", DESCRIPTION, "--json")
    assert (result.code, result.err) == (0, "")
    assert result.data["turn"]["action"] == "ask_question" and result.data["spoken_by"]["speaker"] == "guide"
    again = forge("new", "--resume", result.data["session_id"][:18], "--json")
    assert again.data["turn"] == result.data["turn"]


def test_options_are_numbered_without_a_terminal(server: Server, forge: Terminal):
    typed = "helping customers\nPiped Desk\n99\nCustomers\nback\n1\n1\nskip the rest: use sensible defaults\n2\n1\n"
    result = forge("new", DESCRIPTION, stdin=typed)
    assert result.code == 0, result.err
    assert "Enter a number from 1 to " in result.err
    assert ". Helping customers -- " in result.out and "── piped-desk/SOUL.md" in result.out
    assert "Created Piped Desk" in result.out and "Chat with" not in result.out


def test_truncated_standard_input_is_reported(forge: Terminal):
    result = forge("new", DESCRIPTION, stdin="1\n")
    assert result.code == 2 and "error: Standard input ended before the interview was finished." in result.err
    assert forge("interview", "show", session_id(result.err), "--json").data["question_count"] == 1


def test_reconfiguring_shows_a_diff_and_saves_a_version(
    server: Server, forge: Terminal, answers: WriteAnswers
):
    assert forge("new", DESCRIPTION, "--answers", answers(answers_in_order("Change Desk"))).code == 0
    typed = "1\nHow it talks and what it is like\ndry and exact\n"
    started = forge("new", "--reconfigure", "change-desk", stdin=typed)
    assert "These are the current settings." in started.out and "Change Desk" in started.out
    finished = forge("new", "--resume", session_id(started.err), stdin="1\n" * 3)
    assert finished.code == 0, finished.err
    assert "dry and exact" in finished.out and "Changed Change Desk" in finished.out
    assert len(forge("bots", "files", "history", "change-desk", "soul", "--json").data) == 2


def test_drafts_can_be_listed_shown_and_deleted(forge: Terminal):
    session = forge("new", "an unfinished bot", "--json").data["session_id"]
    assert session in forge("drafts").out and "an unfinished bot" in forge("drafts").out
    assert session in [draft["session_id"] for draft in forge("drafts", "list", "--json").data]
    assert "an unfinished bot" in forge("interview", "show", session).out
    refused = forge("drafts", "delete", session, stdin="y\n")
    assert refused.code == 2 and session in forge("drafts").out
    assert forge("drafts", "delete", session, "--yes").out == f"Deleted {session}.\n"
    assert session not in forge("drafts").out
    assert forge("new", "--resume", session).code == 5
    assert forge("interview", "replay", session).code == 5


def test_memories_can_be_listed_and_deleted(forge: Terminal, answers: WriteAnswers):
    assert forge("new", DESCRIPTION, "--answers", answers(answers_in_order("First Memory"))).code == 0
    assert forge("new", DESCRIPTION, "--answers", answers(answers_in_order("Second Memory"))).code == 0
    entries = forge("interview", "memory", "--json").data
    assert entries[0]["bot_slug"] == "second-memory" and "second-memory" in forge("interview", "memory").out
    remaining = forge("interview", "memory", "--forget", entries[0]["id"], "--json").data
    assert remaining == entries[1:]
    assert forge("interview", "memory", "--forget-all", stdin="y\n").code == 2
    assert forge("interview", "memory", "--forget-all", "--yes", "--json").data == []


def test_aliases_run_the_same_command(server: Server, forge: Terminal, answers: WriteAnswers):
    for name, slug in ((["bot", "create"], "alias-one"), (["build-bot"], "alias-two")):
        file = answers(answers_in_order(slug.replace("-", " ")))
        assert (
            forge(*name, DESCRIPTION, "--answers", file, "--json").data["result"]["bots"][0]["bot_slug"]
            == slug
        )
    assert "alias-one" in forge("bot", "list").out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--resume", "abc", "a description"],
        ["--reconfigure", "x", "--variants", "2"],
        ["--mode", "bot", "--variants", "2"],
        ["--mode", "reconfigure"],
        ["--soul", "-"],
        ["--variants", "1"],
    ],
)
def test_conflicting_options_are_rejected(forge: Terminal, arguments: list[str]):
    result = forge("new", *arguments)
    assert result.code == 2 and not result.out


def test_soul_option_reads_a_file_or_standard_input(
    server: Server, forge: Terminal, answers: WriteAnswers, tmp_path: Path
):
    soul = "---\nname: Ember\ntraits: [calm]\ntone: warm\n---\n\n# Personality\n\nYou keep the fire.\n"
    (tmp_path / "SOUL.md").write_text(soul)
    started = forge("new", "--soul", str(tmp_path / "SOUL.md"), "--json").data
    assert started["preview"]["name"] == "Ember"
    assert forge("new", "--soul", str(tmp_path / "missing.md")).code == 5
    piped = forge("new", "--soul", "-", "--json", stdin=soul).data
    assert piped["preview"]["name"] == "Ember"


def test_skill_is_created_and_can_be_changed(server: Server, forge: Terminal, answers: WriteAnswers):
    text = "confirm: true\ncalled: decision-list\nstep by step: 1\nshould a bot use it: 1\nhow should it work: Instructions\n"
    result = forge("skill", "create", "turn meeting notes into decisions", "--answers", answers(text))
    assert result.code == 0, result.err
    assert "Created skill decision-list" in result.out and "The files are valid" in result.out
    assert (server.data_dir / "skills" / "decision-list" / "SKILL.md").is_file()
    session = result.out.rpartition("interview replay ")[2].strip()
    assert forge("interview", "replay", session).code == 0
    changed = forge("skill", "create", "--edit", "decision-list", "--json").data
    assert (changed["mode"], changed["skill_name"]) == ("skill", "decision-list")


def test_batch_creates_several_bots(server: Server, forge: Terminal):
    typed = "A bit of everything\n" + "1\n" * 20
    result = forge("new", "tutors for mathematics", "--variants", "2", "--yes", "--guide", stdin=typed)
    assert result.code == 0, result.err
    assert result.out.count("✓ Created ") == 2


def test_missing_server_is_reported(tmp_path: Path):
    result = Terminal(tmp_path / "missing")("new", DESCRIPTION)
    assert result.code == 3 and result.err.startswith("error: No Forge server is running here.")
