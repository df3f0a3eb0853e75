"""`forge bots files`, against a real server."""

import stat
from pathlib import Path

import pytest
from tests.support.server import Server
from tests.support.terminal import Said, Terminal

from forge.kernel.ids import new_id


class Atlas:
    """A bot of its own for each test, with a terminal and its folder."""

    def __init__(self, server: Server) -> None:
        self.forge = Terminal(server.data_dir, COLUMNS="200")
        made = server.call("POST", "/api/v1/bots", {"name": f"Atlas {new_id()}"})
        self.slug, self.folder = made["slug"], Path(made["folder"])

    def files(self, verb: str, *arguments: str, stdin: str = "") -> Said:
        return self.forge("bots", "files", verb, self.slug, *arguments, stdin=stdin)

    @property
    def soul(self) -> str:
        return (self.folder / "SOUL.md").read_text()

    def edit_by_hand(self, old: str, new: str) -> None:
        (self.folder / "SOUL.md").write_text(self.soul.replace(old, new, 1))

    def use_editor(self, tmp_path: Path, script: str) -> None:
        """An editor that does what the script says with the file in $1."""
        editor = tmp_path / "editor"
        editor.write_text(f"#!/bin/sh\n{script}\n")
        editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
        self.forge.environment |= {"EDITOR": str(editor), "VISUAL": ""}


@pytest.fixture
def atlas(server: Server) -> Atlas:
    return Atlas(server)


def test_a_file_is_printed_as_it_is(atlas: Atlas):
    said = atlas.files("show", "soul")
    assert (said.code, said.out, said.err) == (0, atlas.soul, "")
    shown = atlas.files("show", "soul", "--json").data
    assert (shown["content"], shown["version"], shown["is_accepted"]) == (atlas.soul, 1, True)


def test_what_is_saved_is_a_version_with_its_history(atlas: Atlas, tmp_path: Path):
    first = atlas.soul
    (tmp_path / "new.md").write_text(first + "\nMore.\n")
    said = atlas.files("save", "soul", str(tmp_path / "new.md"), "--message", "More of it")
    assert (said.code, said.out) == (0, "SOUL.md is version 2.\n")
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


def test_a_hand_edit_is_shown_and_accepted_or_rolled_back(atlas: Atlas):
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


def test_mistakes_are_named_by_line_and_column(atlas: Atlas, tmp_path: Path):
    assert (atlas.files("check").code, atlas.files("check", "soul").code) == (0, 0)
    broken = tmp_path / "SOUL.md"
    broken.write_text("---\nname: Atlas\ntone: [\n---\n")
    said = atlas.files("check", "soul", str(broken))
    assert said.code == 1
    assert said.out.startswith("SOUL.md:3:7: ")
    assert atlas.files("check", "soul", "-", "--json", stdin=broken.read_text()).data[0]["line"]
    refused = atlas.files("save", "soul", str(broken))
    assert (refused.code, "SOUL.md, line " in refused.err) == (2, True)


def test_an_editor_opens_the_file_and_closing_it_saves(atlas: Atlas, tmp_path: Path):
    atlas.use_editor(tmp_path, 'echo "To know the tides." >> "$1"')
    said = atlas.files("edit", "soul", "--message", "Tides")
    assert (said.code, said.out) == (0, "SOUL.md is version 2.\n")
    assert atlas.soul.endswith("To know the tides.\n")
    atlas.use_editor(tmp_path, "true")
    assert atlas.files("edit", "soul").err == "Nothing was changed.\n"


def test_a_conflict_shows_what_changed_and_keeps_the_text(
    atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    theirs = f"echo 'By somebody else.' >> '{atlas.folder}/SOUL.md'"
    atlas.use_editor(tmp_path, f'{theirs}\necho "By me." >> "$1"')
    said = atlas.files("edit", "soul")
    assert said.code == 6
    assert "+ By somebody else." in said.err
    (kept,) = tmp_path.glob("forge-*/SOUL.md")
    assert kept.read_text().endswith("By me.\n")
    assert f"Your text is in {kept}" in said.err
    advice = next(line for line in said.err.splitlines() if line.startswith("Save it: forge "))
    kept.write_text(atlas.soul + "By me.\n")
    assert atlas.forge(*advice.removeprefix("Save it: forge ").split()).code == 0
    assert atlas.soul.endswith("By somebody else.\nBy me.\n")


def test_a_mistake_in_the_editor_keeps_the_text(
    atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    atlas.use_editor(tmp_path, "printf -- '---\\nname: [\\n---\\n' > \"$1\"")
    said = atlas.files("edit", "soul")
    assert said.code == 2
    assert "SOUL.md:" in said.err
    (kept,) = tmp_path.glob("forge-*/SOUL.md")
    assert kept.read_text() == "---\nname: [\n---\n"


def test_a_text_that_is_not_in_utf_8_is_kept_and_said_in_a_line(
    atlas: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    atlas.use_editor(tmp_path, "printf 'na\\357ve' > \"$1\"")
    said = atlas.files("edit", "soul")
    (kept,) = tmp_path.glob("forge-*/SOUL.md")
    assert (said.code, kept.read_bytes()) == (2, b"na\xefve")
    assert f"error: {kept} is not text in UTF-8." in said.err.splitlines()
    assert f"Your text is in {kept}" in said.err.splitlines()


def test_a_save_on_another_base_is_refused(atlas: Atlas):
    said = atlas.files("save", "soul", "--base", "0" * 64, stdin=atlas.soul + "More.\n")
    assert (said.code, "SOUL.md was changed since you opened it." in said.err) == (6, True)


def test_a_file_that_is_gone_cannot_be_edited_but_comes_back(atlas: Atlas):
    (atlas.folder / "USER.md").unlink()
    said = atlas.files("edit", "user")
    assert (said.code, f"forge bots files rollback {atlas.slug} user" in said.err) == (6, True)
    assert atlas.files("check", "user").out == "USER.md: The file is missing.\n"
    assert atlas.files("save", "user", stdin="Likes tea.\n").code == 6
    assert atlas.files("rollback", "user").code == 0
    assert atlas.files("check").code == 0


def test_unknown_file_names_are_rejected(atlas: Atlas):
    assert atlas.files("show", "spirit").code == 2
