"""`forge new` and its neighbours through pipes and answer files, without a model."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.server import Server
from tests.support.terminal import Said, Terminal

from forge.kernel.hashing import hash_text

DESCRIPTION = "a bot that answers questions about our opening hours"
Write = Callable[[str], str]


@pytest.fixture
def forge(server: Server) -> Terminal:
    return Terminal(server.data_dir)


@pytest.fixture
def answers(tmp_path: Path) -> Write:
    """A file with these answers."""

    def write(text: str) -> str:
        path = tmp_path / "answers.yaml"
        path.write_text(text)
        return str(path)

    return write


def in_order(name: str, *more: str) -> str:
    """What the guide needs to know about a bot for customers; the rest is skipped."""
    given = ["customer_service", name, *more, "1", "1", "skip"]
    return "confirm: true\nanswers:\n" + "".join(f"- {json.dumps(one)}\n" for one in given)


def session_of(said: Said) -> str:
    """Of the draft that the command said it kept."""
    return said.err.rpartition("--resume ")[2].split()[0]


def bot_names(server: Server) -> set[str]:
    return {bot["identity"]["display_name"] for bot in server.call("GET", "/api/v1/bots")}


def test_answers_from_a_file_make_a_bot_that_can_be_made_again_byte_for_byte(
    server: Server, forge: Terminal, answers: Write, tmp_path: Path
):
    said = forge("new", DESCRIPTION, "--answers", answers(in_order("Returns Desk")))
    assert said.code == 0, said.err
    assert "Made Returns Desk (returns-desk)" in said.out and "forge chat returns-desk" in said.out
    session = said.out.rpartition("interview replay ")[2].strip()
    replayed = forge("interview", "replay", session, "--out", str(tmp_path / "again"))
    assert replayed.code == 0 and "4 files, byte for byte what was made." in replayed.err
    folder = server.data_dir / "bots" / "returns-desk"
    for path in (tmp_path / "again" / "returns-desk").iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes()
    assert forge("interview", "replay", session, "--out", str(tmp_path / "again")).code == 2
    assert "── returns-desk/SOUL.md" in forge("interview", "replay", session).out


def test_json_is_what_was_made_and_nothing_else(forge: Terminal, answers: Write):
    said = forge("new", DESCRIPTION, "--answers", answers(in_order("Json Desk")), "--json")
    assert (said.code, said.err) == (0, "")
    assert [bot["bot_slug"] for bot in said.data["result"]["bots"]] == ["json-desk"]


def test_answers_by_question_and_by_phase(server: Server, forge: Terminal, answers: Write):
    text = f"""
description: {DESCRIPTION}
confirm: yes
comes closest: Helping customers
called: Mapped Desk
basics: Customers
talk: 2
personality: skip
"""
    said = forge("new", "--answers", answers(text), "--json")
    assert said.code == 0, said.err
    assert "Mapped Desk" in bot_names(server)


def test_a_list_may_go_back(server: Server, forge: Terminal, answers: Write):
    said = forge("new", DESCRIPTION, "--answers", answers(in_order("Wrong Desk", "back", "Right Desk")))
    assert said.code == 0, said.err
    assert "Right Desk" in bot_names(server) and "Wrong Desk" not in bot_names(server)


def test_a_question_without_an_answer_ends_it_and_keeps_the_draft(forge: Terminal, answers: Write):
    said = forge("new", DESCRIPTION, "--answers", answers("[customer_service, Half a Desk]"))
    assert said.code == 2
    assert "has no answer to question 3 (Setting up basics): “" in said.err and "1. " in said.err
    view = forge("interview", "show", session_of(said), "--json").data
    assert [line["answer"] for line in view["lines"]] == ["Helping customers", "Half a Desk"]
    rest = answers("confirm: true\nanswers: [1, 1, skip]\n")
    gone_on = forge("new", "--resume", session_of(said), "--answers", rest)
    assert gone_on.code == 0 and "Made Half a Desk" in gone_on.out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (in_order("Spare Desk") + "- one more\n", ":8: nothing was asked that 'one more' answers."),
        ("[customer_service, Spare Desk, 1, 99]", ":1: '99' does not answer “"),
        ("[customer_service, skip]", "”: the rest cannot be skipped yet."),
        (in_order("Spare Desk").replace("confirm: true\n", ""), "nobody confirmed it: nothing was made."),
        ("- 1\n- [nested]\n", ":2:3: An answer is a text or a number."),
    ],
)
def test_what_does_not_fit_makes_nothing_and_says_where(
    server: Server, forge: Terminal, answers: Write, text: str, told: str
):
    said = forge("new", DESCRIPTION, "--answers", answers(text))
    assert said.code == 2 and told in said.err, said.err
    assert "Spare Desk" not in bot_names(server)


def test_a_dry_run_shows_the_files_and_makes_nothing(server: Server, forge: Terminal, answers: Write):
    file = answers(in_order("Dry Desk"))
    said = forge("new", DESCRIPTION, "--answers", file, "--dry-run")
    assert said.code == 0 and "── dry-desk/SOUL.md" in said.out and "Nothing was made." in said.err
    assert "Dry Desk" not in bot_names(server)
    assert forge("interview", "replay", session_of(said)).code == 6
    made = forge("new", "--resume", session_of(said), "--yes", "--json").data
    shown = forge("interview", "replay", session_of(said), "--json").data["files"]
    assert made["result"]["hashes"] == {one["path"]: hash_text(one["content"]) for one in shown}
    assert all(one["content"].rstrip("\n") in said.out for one in shown)


def test_a_program_gets_the_first_turn_as_data(server: Server, forge: Terminal):
    said = forge("new", DESCRIPTION, "--json")
    assert (said.code, said.err) == (0, "")
    assert said.data["turn"]["action"] == "ask_question" and said.data["spoken_by"]["speaker"] == "guide"
    again = forge("new", "--resume", said.data["session_id"][:18], "--json")
    assert again.data["turn"] == said.data["turn"]


def test_without_a_terminal_options_have_numbers(server: Server, forge: Terminal):
    typed = "helping customers\nPiped Desk\n99\nCustomers\nback\n1\n1\nskip the rest: use sensible defaults\n2\n1\n"
    said = forge("new", DESCRIPTION, stdin=typed)
    assert said.code == 0, said.err
    assert "Say a number from 1 to " in said.err
    assert ". Helping customers -- " in said.out and "── piped-desk/SOUL.md" in said.out
    assert "Made Piped Desk" in said.out and "Talk to" not in said.out


def test_a_pipe_that_ends_too_early_says_so(forge: Terminal):
    said = forge("new", DESCRIPTION, stdin="1\n")
    assert said.code == 2 and "error: Standard input ended before the interview did." in said.err
    assert forge("interview", "show", session_of(said), "--json").data["question_count"] == 1


def test_changing_a_bot_shows_the_difference_and_makes_a_version(
    server: Server, forge: Terminal, answers: Write
):
    assert forge("new", DESCRIPTION, "--answers", answers(in_order("Change Desk"))).code == 0
    typed = "1\nHow it talks and what it is like\ndry and exact\n"
    begun = forge("new", "--reconfigure", "change-desk", stdin=typed)
    assert "This is how it is now." in begun.out and "Change Desk" in begun.out
    finished = forge("new", "--resume", session_of(begun), stdin="1\n" * 3)
    assert finished.code == 0, finished.err
    assert "dry and exact" in finished.out and "Changed Change Desk" in finished.out
    assert len(forge("bots", "files", "history", "change-desk", "soul", "--json").data) == 2


def test_drafts_are_listed_shown_and_deleted(forge: Terminal):
    session = forge("new", "a bot nobody finishes", "--json").data["session_id"]
    assert session in forge("drafts").out and "a bot nobody finishes" in forge("drafts").out
    assert session in [draft["session_id"] for draft in forge("drafts", "list", "--json").data]
    assert "a bot nobody finishes" in forge("interview", "show", session).out
    refused = forge("drafts", "delete", session, stdin="y\n")
    assert refused.code == 2 and session in forge("drafts").out
    assert forge("drafts", "delete", session, "--yes").out == f"Deleted {session}.\n"
    assert session not in forge("drafts").out
    assert forge("new", "--resume", session).code == 5
    assert forge("interview", "replay", session).code == 5


def test_what_is_remembered_is_seen_and_forgotten(forge: Terminal, answers: Write):
    assert forge("new", DESCRIPTION, "--answers", answers(in_order("First Memory"))).code == 0
    assert forge("new", DESCRIPTION, "--answers", answers(in_order("Second Memory"))).code == 0
    entries = forge("interview", "memory", "--json").data
    assert entries[0]["bot_slug"] == "second-memory" and "second-memory" in forge("interview", "memory").out
    left = forge("interview", "memory", "--forget", entries[0]["id"], "--json").data
    assert left == entries[1:]
    assert forge("interview", "memory", "--forget-all", stdin="y\n").code == 2
    assert forge("interview", "memory", "--forget-all", "--yes", "--json").data == []


def test_other_names_mean_the_same(server: Server, forge: Terminal, answers: Write):
    for name, slug in ((["bot", "create"], "alias-one"), (["build-bot"], "alias-two")):
        file = answers(in_order(slug.replace("-", " ")))
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
def test_what_does_not_go_together_is_said_at_once(forge: Terminal, arguments: list[str]):
    said = forge("new", *arguments)
    assert said.code == 2 and not said.out


def test_a_soul_is_used_as_it_is(server: Server, forge: Terminal, answers: Write, tmp_path: Path):
    soul = "---\nname: Ember\ntraits: [calm]\ntone: warm\n---\n\n# Personality\n\nYou keep the fire.\n"
    (tmp_path / "SOUL.md").write_text(soul)
    begun = forge("new", "--soul", str(tmp_path / "SOUL.md"), "--json").data
    assert begun["preview"]["name"] == "Ember"
    assert forge("new", "--soul", str(tmp_path / "nowhere.md")).code == 5
    piped = forge("new", "--soul", "-", "--json", stdin=soul).data
    assert piped["preview"]["name"] == "Ember"


def test_a_skill_is_written_tried_and_can_be_changed(server: Server, forge: Terminal, answers: Write):
    text = "confirm: true\ncalled: decision-list\nstep by step: 1\nshould a bot use it: 1\nhow should it work: Instructions\n"
    said = forge("skill", "create", "turn meeting notes into decisions", "--answers", answers(text))
    assert said.code == 0, said.err
    assert "Wrote the skill decision-list" in said.out and "Its files are valid" in said.out
    assert (server.data_dir / "skills" / "decision-list" / "SKILL.md").is_file()
    session = said.out.rpartition("interview replay ")[2].strip()
    assert forge("interview", "replay", session).code == 0
    changed = forge("skill", "create", "--edit", "decision-list", "--json").data
    assert (changed["mode"], changed["skill_name"]) == ("skill", "decision-list")


def test_a_batch_is_several_bots(server: Server, forge: Terminal):
    typed = "A bit of everything\n" + "1\n" * 20
    said = forge("new", "tutors for mathematics", "--variants", "2", "--yes", "--guide", stdin=typed)
    assert said.code == 0, said.err
    assert said.out.count("✓ Made ") == 2


def test_without_a_server_it_says_how_to_start_one(tmp_path: Path):
    said = Terminal(tmp_path / "nowhere")("new", DESCRIPTION)
    assert said.code == 3 and said.err.startswith("error: No Forge is running here.")
