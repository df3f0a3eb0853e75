"""`forge bots`, against a real server."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.server import Server
from tests.support.terminal import Terminal

from forge.bots.models import BotFile


@pytest.fixture
def forge(server: Server) -> Terminal:
    return Terminal(server.data_dir)


def make(forge: Terminal, name: str, *options: str) -> dict[str, Any]:
    said = forge("bots", "create", name, *options, "--json")
    assert said.code == 0, said.err
    return said.data


def test_a_bot_is_made_listed_and_shown(forge: Terminal, server: Server):
    options = ["--description", "Finds the way.", "--category", "research", "--tag", "maps", "--tag", "roads"]
    options += ["--temperature", "0", "--max-tokens", "100", "--avatar", "🗺", "--colour", "#102030"]
    made = make(forge, "Atlas", *options)
    assert made == server.call("GET", "/api/v1/bots/atlas")
    identity = made["identity"]
    assert (identity["description"], identity["tags"], identity["temperature"]) == (
        "Finds the way.",
        ["maps", "roads"],
        0,
    )
    assert made in forge("bots", "list", "--json").data
    listed = forge("bots", "list").out
    assert all(word in listed for word in ("atlas", "🗺 Atlas", "● active", "$0"))
    for given in ("atlas", made["id"], made["id"][:-2]):
        assert forge("bots", "show", given, "--json").data == made
    page = forge("bots", "show", "atlas").out
    assert all(word in page for word in ("Finds the way.", "maps, roads", made["folder"], "version 1"))
    assert forge("bots", "folder", "atlas").out == f"{made['folder']}\n"
    assert "atlas" not in forge("bots", "list", "--search", "zebra", "--json").out


@pytest.mark.parametrize(
    "name", ["a: b", 'it\'s "x"', "two\nlines", "🦊 1", "\u202ex", "../../up", "x" * 200]
)
def test_unusual_name_round_trips(forge: Terminal, name: str):
    made = make(forge, name)
    assert made["identity"]["display_name"] == name
    assert forge("bots", "show", made["slug"], "--json").data["identity"]["display_name"] == name
    for command in (["show", made["slug"]], ["list"]):
        said = forge("bots", *command)
        assert (said.code, "\u202e" in said.out) == (0, False)


@pytest.mark.parametrize("name", ["x" * 10_000, "", "../", "a\x00b"])
def test_invalid_name_is_rejected(forge: Terminal, name: str):
    said = forge("bots", "create", name)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ")


def test_files_may_be_given(forge: Terminal, tmp_path: Path):
    soul, user = tmp_path / "soul.md", tmp_path / "user.md"
    soul.write_text("---\nname: Nemo\n---\n# Personality\nQuiet.\n# Purpose\nSea.\n# Boundaries\nLand.\n")
    user.write_text("I sail.\n")
    made = make(forge, "Nemo", "--soul", str(soul), "--user", str(user))
    assert (Path(made["folder"]) / "SOUL.md").read_text() == soul.read_text()
    assert (Path(made["folder"]) / "USER.md").read_text() == user.read_text()
    soul.write_text("---\nname: Nemo\nvoice: x\n---\n")
    said = forge("bots", "create", "Nemo", "--soul", str(soul))
    assert (said.code, "SOUL.md, line 3:" in said.err) == (2, True)
    assert forge("bots", "create", "Nemo", "--soul", str(tmp_path / "none")).code == 5


def test_a_bot_is_changed(forge: Terminal):
    make(forge, "Change me", "--provider", "openai", "--model", "gpt-5")
    changed = forge("bots", "change", "change-me", "--name", "Other", "--memory", "off", "--json").data
    identity = changed["identity"]
    assert (changed["slug"], identity["display_name"], identity["memory"]) == ("change-me", "Other", False)
    assert changed["model"] == "openai:gpt-5"
    assert forge("bots", "change", "change-me", "--model", "", "--json").data["identity"]["model"] is None
    said = forge("bots", "change", "change-me")
    assert (said.code, "Say what to change" in said.err) == (2, True)


def test_states_come_and_go(forge: Terminal):
    made = make(forge, "Moody")
    assert forge("bots", "disable", "moody").out == "Disabled: moody.\n"
    assert "The bot is disabled." in forge("bots", "show", "moody").out
    assert forge("bots", "enable", "moody", "--json").data["status"] == "active"
    assert forge("bots", "archive", "moody").code == 0
    assert made["id"] not in forge("bots", "list", "--json").out
    assert made["id"] in forge("bots", "list", "--all", "--json").out
    assert forge("bots", "unarchive", "moody", "--json").data["status"] == "active"


def test_a_deletion_is_asked_about_and_taken_back(forge: Terminal):
    made = make(forge, "Doomed")
    assert forge("bots", "delete", "doomed", stdin="y\n").code == 2
    assert forge("bots", "delete", "doomed", "--yes").out.endswith("forge bots restore doomed\n")
    said = forge("bots", "show", "doomed")
    assert (said.code, said.out) == (5, "")
    assert [bot["id"] for bot in forge("bots", "list", "--deleted", "--json").data] == [made["id"]]
    assert "● deleted" in forge("bots", "list", "--deleted").out
    assert forge("bots", "restore", made["id"][:-3]).out == "Restored doomed.\n"
    assert forge("bots", "restore", "doomed").code == 5
    assert forge("bots", "show", "doomed", "--json").data["identity"] == made["identity"]


def test_a_bot_is_carried_in_a_file_a_pipe_and_a_folder(forge: Terminal, tmp_path: Path):
    made = make(forge, "Carried", "--tag", "x")
    printed = forge("bots", "export", "carried")
    path = tmp_path / "carried.json"
    assert forge("bots", "export", "carried", "--output", str(path)).out == ""
    assert json.loads(path.read_text())["files"] == printed.data["files"]
    slugs = [
        forge("bots", "import", str(path), "--json").data["slug"],
        forge("bots", "import", "-", "--json", stdin=printed.out).data["slug"],
        forge("bots", "import", made["folder"], "--json").data["slug"],
    ]
    assert slugs == ["carried-2", "carried-3", "carried-4"]
    for file in BotFile:
        texts = {(Path(made["folder"]).parent / slug / file.file_name).read_text() for slug in slugs}
        assert texts == {printed.data["files"][file.file_name]}
    assert forge("bots", "clone", "carried", "--name", "Twin", "--json").data["slug"] == "twin"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not an exported bot"),
        ("[1]", "is not an exported bot"),
        ("{}", "forge_bot"),
        ('{"forge_bot": 7, "slug": "x", "exported_at": "2030-01-01T00:00:00Z", "files": {}}', "newer Forge"),
        (
            '{"forge_bot": 1, "slug": "x", "exported_at": "2030-01-01T00:00:00Z", "files": {}}',
            "SOUL.md is missing",
        ),
    ],
)
def test_invalid_bot_is_not_imported(forge: Terminal, text: str, words: str):
    said = forge("bots", "import", "-", stdin=text)
    assert (said.code, words in said.err) == (2, True), said.err


def test_a_source_that_is_not_there_or_not_text_is_said(forge: Terminal, tmp_path: Path):
    assert forge("bots", "import", str(tmp_path / "none")).code == 5
    (tmp_path / "SOUL.md").write_bytes(b"\xff\xfe")
    said = forge("bots", "import", str(tmp_path))
    assert (said.code, "not text in UTF-8" in said.err) == (2, True)


def test_problems_are_shown_with_position(forge: Terminal):
    made = make(forge, "Broken")
    (Path(made["folder"]) / "IDENTITY.md").write_text("---\ndisplay_name: Broken\ntemperature: hot\n---\n")
    page = forge("bots", "show", "broken").out
    assert "● blocked" in page
    assert "IDENTITY.md:3:" in page


def test_a_beginning_that_fits_several_is_refused(forge: Terminal):
    make(forge, "First")
    make(forge, "Second")
    said = forge("bots", "show", "0")
    assert (said.code, "Say which" in said.err) == (2, True)


@pytest.mark.parametrize("given", ["nope", "01a1dd9e-e17e-75f3-b0a6-6a948f274981", "../keys", "?", ""])
def test_a_bot_that_is_not_there_is_not_found(forge: Terminal, given: str):
    assert forge("bots", "show", given).code == 5


def test_numbers_are_shown(forge: Terminal, server: Server):
    make(forge, "Counted")
    assert forge("bots", "stats", "--json").data == server.call("GET", "/api/v1/stats")
    assert "active" in forge("bots", "stats").out
