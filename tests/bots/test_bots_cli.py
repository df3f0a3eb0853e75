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


def create_bot(forge: Terminal, name: str, *options: str) -> dict[str, Any]:
    result = forge("bots", "create", name, *options, "--json")
    assert result.code == 0, result.err
    return result.data


def test_bot_is_created_listed_and_shown(forge: Terminal, server: Server):
    options = ["--description", "Finds the way.", "--category", "research", "--tag", "maps", "--tag", "roads"]
    options += ["--temperature", "0", "--max-tokens", "100", "--avatar", "🗺", "--colour", "#102030"]
    created = create_bot(forge, "Atlas", *options)
    assert created == server.call("GET", "/api/v1/bots/atlas")
    identity = created["identity"]
    assert (identity["description"], identity["tags"], identity["temperature"]) == (
        "Finds the way.",
        ["maps", "roads"],
        0,
    )
    assert created in forge("bots", "list", "--json").data
    listed = forge("bots", "list").out
    assert all(word in listed for word in ("atlas", "🗺 Atlas", "● active", "$0"))
    for given in ("atlas", created["id"], created["id"][:-2]):
        assert forge("bots", "show", given, "--json").data == created
    page = forge("bots", "show", "atlas").out
    assert all(word in page for word in ("Finds the way.", "maps, roads", created["folder"], "version 1"))
    assert forge("bots", "folder", "atlas").out == f"{created['folder']}\n"
    assert "atlas" not in forge("bots", "list", "--search", "zebra", "--json").out


@pytest.mark.parametrize(
    "name", ["a: b", 'it\'s "x"', "two\nlines", "🦊 1", "\u202ex", "../../up", "x" * 200]
)
def test_unusual_name_round_trips(forge: Terminal, name: str):
    created = create_bot(forge, name)
    assert created["identity"]["display_name"] == name
    assert forge("bots", "show", created["slug"], "--json").data["identity"]["display_name"] == name
    for command in (["show", created["slug"]], ["list"]):
        result = forge("bots", *command)
        assert (result.code, "\u202e" in result.out) == (0, False)


@pytest.mark.parametrize("name", ["x" * 10_000, "", "../", "a\x00b"])
def test_invalid_name_is_rejected(forge: Terminal, name: str):
    result = forge("bots", "create", name)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")


def test_bot_is_created_from_files(forge: Terminal, tmp_path: Path):
    soul, user = tmp_path / "soul.md", tmp_path / "user.md"
    soul.write_text("---\nname: Nemo\n---\n# Personality\nQuiet.\n# Purpose\nSea.\n# Boundaries\nLand.\n")
    user.write_text("I sail.\n")
    created = create_bot(forge, "Nemo", "--soul", str(soul), "--user", str(user))
    assert (Path(created["folder"]) / "SOUL.md").read_text() == soul.read_text()
    assert (Path(created["folder"]) / "USER.md").read_text() == user.read_text()
    soul.write_text("---\nname: Nemo\nvoice: x\n---\n")
    result = forge("bots", "create", "Nemo", "--soul", str(soul))
    assert (result.code, "SOUL.md, line 3:" in result.err) == (2, True)
    assert forge("bots", "create", "Nemo", "--soul", str(tmp_path / "none")).code == 5


def test_bot_is_changed(forge: Terminal):
    create_bot(forge, "Change me", "--provider", "openai", "--model", "gpt-5")
    changed = forge("bots", "change", "change-me", "--name", "Other", "--memory", "off", "--json").data
    identity = changed["identity"]
    assert (changed["slug"], identity["display_name"], identity["memory"]) == ("change-me", "Other", False)
    assert changed["model"] == "openai:gpt-5"
    assert forge("bots", "change", "change-me", "--model", "", "--json").data["identity"]["model"] is None
    result = forge("bots", "change", "change-me")
    assert (result.code, "Nothing to change" in result.err) == (2, True)


def test_bot_is_disabled_enabled_archived_and_unarchived(forge: Terminal):
    created = create_bot(forge, "Moody")
    assert forge("bots", "disable", "moody").out == "Disabled: moody.\n"
    assert "The bot is disabled." in forge("bots", "show", "moody").out
    assert forge("bots", "enable", "moody", "--json").data["status"] == "active"
    assert forge("bots", "archive", "moody").code == 0
    assert created["id"] not in forge("bots", "list", "--json").out
    assert created["id"] in forge("bots", "list", "--all", "--json").out
    assert forge("bots", "unarchive", "moody", "--json").data["status"] == "active"


def test_deletion_needs_confirmation_and_can_be_undone(forge: Terminal):
    created = create_bot(forge, "Doomed")
    assert forge("bots", "delete", "doomed", stdin="y\n").code == 2
    assert forge("bots", "delete", "doomed", "--yes").out.endswith("forge bots restore doomed\n")
    result = forge("bots", "show", "doomed")
    assert (result.code, result.out) == (5, "")
    assert [bot["id"] for bot in forge("bots", "list", "--deleted", "--json").data] == [created["id"]]
    assert "● deleted" in forge("bots", "list", "--deleted").out
    assert forge("bots", "restore", created["id"][:-3]).out == "Restored doomed.\n"
    assert forge("bots", "restore", "doomed").code == 5
    assert forge("bots", "show", "doomed", "--json").data["identity"] == created["identity"]


def test_exported_bot_is_imported_from_file_pipe_and_folder(forge: Terminal, tmp_path: Path):
    created = create_bot(forge, "Carried", "--tag", "x")
    printed = forge("bots", "export", "carried")
    path = tmp_path / "carried.json"
    assert forge("bots", "export", "carried", "--output", str(path)).out == ""
    assert json.loads(path.read_text())["files"] == printed.data["files"]
    slugs = [
        forge("bots", "import", str(path), "--json").data["slug"],
        forge("bots", "import", "-", "--json", stdin=printed.out).data["slug"],
        forge("bots", "import", created["folder"], "--json").data["slug"],
    ]
    assert slugs == ["carried-2", "carried-3", "carried-4"]
    for file in BotFile:
        texts = {(Path(created["folder"]).parent / slug / file.file_name).read_text() for slug in slugs}
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
    result = forge("bots", "import", "-", stdin=text)
    assert (result.code, words in result.err) == (2, True), result.err


def test_missing_or_binary_import_source_is_reported(forge: Terminal, tmp_path: Path):
    assert forge("bots", "import", str(tmp_path / "none")).code == 5
    (tmp_path / "SOUL.md").write_bytes(b"\xff\xfe")
    result = forge("bots", "import", str(tmp_path))
    assert (result.code, "is not UTF-8 text" in result.err) == (2, True)


def test_problems_are_shown_with_position(forge: Terminal):
    created = create_bot(forge, "Broken")
    (Path(created["folder"]) / "IDENTITY.md").write_text("---\ndisplay_name: Broken\ntemperature: hot\n---\n")
    page = forge("bots", "show", "broken").out
    assert "● blocked" in page
    assert "IDENTITY.md:3:" in page


def test_ambiguous_id_prefix_is_rejected(forge: Terminal):
    create_bot(forge, "First")
    create_bot(forge, "Second")
    result = forge("bots", "show", "0")
    assert (result.code, "Choose one" in result.err) == (2, True)


@pytest.mark.parametrize("given", ["nope", "01a1dd9e-e17e-75f3-b0a6-6a948f274981", "../keys", "?", ""])
def test_unknown_bot_is_not_found(forge: Terminal, given: str):
    assert forge("bots", "show", given).code == 5


def test_statistics_are_shown(forge: Terminal, server: Server):
    create_bot(forge, "Counted")
    assert forge("bots", "stats", "--json").data == server.call("GET", "/api/v1/stats")
    assert "active" in forge("bots", "stats").out
