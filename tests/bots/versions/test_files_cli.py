"""`forge bots files`, against a real server."""

import stat
from pathlib import Path

import pytest
from tests.support.server import Server
from tests.support.terminal import CommandResult, Terminal

from forge.kernel.ids import new_id


class Atlas:
    """A bot for one test, with a terminal and its folder."""

    def __init__(self, server: Server) -> None:
        self.forge = Terminal(server.data_dir, COLUMNS="200")
        bot = server.call("POST", "/api/v1/bots", {"name": f"Atlas {new_id()}"})
        self.slug, self.folder = bot["slug"], Path(bot["folder"])

    def files(self, verb: str, *arguments: str, stdin: str = "") -> CommandResult:
        return self.forge("bots", "files", verb, self.slug, *arguments, stdin=stdin)

    @property
    def soul(self) -> str:
        return (self.folder / "SOUL.md").read_text()

    def edit_by_hand(self, old: str, new: str) -> None:
        (self.folder / "SOUL.md").write_text(self.soul.replace(old, new, 1))

    def use_editor(self, tmp_path: Path, script: str) -> None:
        """Use an editor that runs the script on the file in $1."""
        editor = tmp_path / "editor"
        editor.write_text(f"#!/bin/sh\n{script}\n")
        editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
        self.forge.environment |= {"EDITOR": str(editor), "VISUAL": ""}


@pytest.fixture
def atlas(server: Server) -> Atlas:
    return Atlas(server)


def test_file_is_printed_unchanged(atlas: Atlas):
    result = atlas.files("show", "soul")
    assert (result.code, result.out, result.err) == (0, atlas.soul, "")
    shown = atlas.files("show", "soul", "--json").data
    assert (shown["content"], shown["version"], shown["is_accepted"]) == (atlas.soul, 1, True)


def test_save_creates_a_version_with_history(atlas: Atlas, tmp_path: Path):
    first = atlas.soul
    (tmp_path / "new.md").write_text(first + "\nMore.\n")
    result = atlas.files("save", "soul", str(tmp_path / "new.md"), "--message", "More of it")
    assert (result.code, result.out) == (0, "SOUL.md is version 2.\n")
    assert atlas.soul == first + "\nMore.\n"
    assert atlas.files("save", "user", stdin="Likes tea.\n").out == "USER.md is version 2.\n"
    versions = atlas.files("history", "soul", "--json").data
    assert [(one["number"], one["message"]) for one in versions] == [(2, "More of it"), (1, "Created")]
    assert "More of it" in atlas.files("history", "soul").out
    assert atlas.files("show", "soul", "--version", "1").out == first
    diff = atlas.files("diff", "soul", "1", "2")
    assert diff.out.startswith("version 1 → version 2: 2 added, 0 removed\n")
    assert "+ More." in diff.out
    assert atlas.files("rollback", "soul", "1").out == "SOUL.md is version 3.\n"
    assert atlas.soul == first


def test_hand_edit_is_shown_and_accepted_or_rolled_back(atlas: Atlas):
    first = atlas.soul
    atlas.edit_by_hand("# Purpose", "# Purpose\n\nTo know the tides.")
    shown = atlas.files("show", "soul")
    assert f"forge bots files diff {atlas.slug} soul" in shown.err
    assert "+ To know the tides." in atlas.files("diff", "soul").out
    refused = atlas.files("accept", "soul", stdin="y\n")
    assert (refused.code, refused.out) == (2, "")
    assert "+ To know the tides." in refused.err
    assert atlas.files("accept", "soul", "--yes").out == "SOUL.md is version 2.\n"
    assert atlas.files("accept", "soul").out == "SOUL.md is version 2.\n"
    atlas.edit_by_hand("tides", "winds")
    edited = atlas.soul
    atlas.files("rollback", "soul", "1")
    assert atlas.soul == first
    assert atlas.files("show", "soul", "--version", "3").out == edited


def test_problems_are_shown_with_line_and_column(atlas: Atlas, tmp_path: Path):
    assert (atlas.files("check").code, atlas.files("check", "soul").code) == (0, 0)
    broken = tmp_path / "SOUL.md"
    broken.write_text("---\nname: Atlas\ntone: [\n---\n")
    result = atlas.files("check", "soul", str(broken))
    assert result.code == 1
    assert result.out.startswith("SOUL.md:3:7: ")
    assert atlas.files("check", "soul", "-", "--json", stdin=broken.read_text()).data[0]["line"]
    refused = atlas.files("save", "soul", str(broken))
    assert (refused.code, "SOUL.md, line " in refused.err) == (2, True)


def test_edit_command_saves_when_the_editor_closes(atlas: Atlas, tmp_path: Path):
    atlas.use_editor(tmp_path, 'echo "To know the tides." >> "$1"')
    result = atlas.files("edit", "soul", "--message", "Tides")
    assert (result.code, result.out) == (0, "SOUL.md is version 2.\n")
    assert atlas.soul.endswith("To know the tides.\n")
    atlas.use_editor(tmp_path, "true")
    assert atlas.files("edit", "soul").err == "Nothing was changed.\n"


def test_conflict_shows_the_changes_and_keeps_the_text(
    atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    theirs = f"echo 'By somebody else.' >> '{atlas.folder}/SOUL.md'"
    atlas.use_editor(tmp_path, f'{theirs}\necho "By me." >> "$1"')
    result = atlas.files("edit", "soul")
    assert result.code == 6
    assert "+ By somebody else." in result.err
    (kept,) = tmp_path.glob("forge-*/SOUL.md")
    assert kept.read_text().endswith("By me.\n")
    assert f"Your text is in {kept}" in result.err
    hint = next(line for line in result.err.splitlines() if line.startswith("Save it: forge "))
    kept.write_text(atlas.soul + "By me.\n")
    assert atlas.forge(*hint.removeprefix("Save it: forge ").split()).code == 0
    assert atlas.soul.endswith("By somebody else.\nBy me.\n")


def test_invalid_edit_keeps_the_text(atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    atlas.use_editor(tmp_path, "printf -- '---\\nname: [\\n---\\n' > \"$1\"")
    result = atlas.files("edit", "soul")
    assert result.code == 2
    assert "SOUL.md:" in result.err
    (kept,) = tmp_path.glob("forge-*/SOUL.md")
    assert kept.read_text() == "---\nname: [\n---\n"


def test_edit_that_is_not_utf8_is_kept_and_reported(
    atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    atlas.use_editor(tmp_path, "printf 'na\\357ve' > \"$1\"")
    result = atlas.files("edit", "soul")
    (kept,) = tmp_path.glob("forge-*/SOUL.md")
    assert (result.code, kept.read_bytes()) == (2, b"na\xefve")
    assert f"error: {kept} is not UTF-8 text." in result.err.splitlines()
    assert f"Your text is in {kept}" in result.err.splitlines()


def test_save_with_a_stale_base_is_rejected(atlas: Atlas):
    result = atlas.files("save", "soul", "--base", "0" * 64, stdin=atlas.soul + "More.\n")
    assert (result.code, "SOUL.md changed since you opened it." in result.err) == (6, True)


def test_missing_file_cannot_be_edited_but_rolled_back(atlas: Atlas):
    (atlas.folder / "USER.md").unlink()
    result = atlas.files("edit", "user")
    assert (result.code, f"forge bots files rollback {atlas.slug} user" in result.err) == (6, True)
    assert atlas.files("check", "user").out == "USER.md: The file is missing.\n"
    assert atlas.files("save", "user", stdin="Likes tea.\n").code == 6
    assert atlas.files("rollback", "user").code == 0
    assert atlas.files("check").code == 0


def test_unknown_file_names_are_rejected(atlas: Atlas):
    assert atlas.files("show", "spirit").code == 2
