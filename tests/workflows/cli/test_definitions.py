"""`forge workflow` and definitions: made, looked at, changed, carried around. Against a real server."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.server import Server
from tests.support.terminal import Terminal, open_screen

SOURCE = """\
# Says good day.
name: {name}
description: Greets somebody.
steps:
  - id: greet  # nobody waits long
    type: wait
    config:
      seconds: 0
"""


Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, source: str = SOURCE) -> str:
        path = tmp_path / f"{name}.yaml"
        path.write_text(source.format(name=name))
        return str(path)

    return write


def make(forge: Terminal, file: str, *options: str) -> None:
    said = forge("workflow", "create", file, *options)
    assert said.code == 0, said.err


def test_a_file_becomes_a_workflow_and_comes_back_as_it_was(
    forge: Terminal, server: Server, write: Write, tmp_path: Path
):
    file = write("to-make")
    said = forge("workflow", "create", file)
    assert (said.code, said.err) == (0, "")
    assert said.out == "Made to-make, number 1. Start it: forge workflow trigger to-make\n"
    for shown in (forge("workflow", "show", "to-make", "--yaml"), forge("workflow", "export", "to-make")):
        assert (shown.code, shown.out) == (0, Path(file).read_text())
    target = tmp_path / "copy.yaml"
    assert forge("workflow", "export", "to-make", "-o", str(target)).err == f"Wrote {target}.\n"
    assert target.read_text() == Path(file).read_text()
    assert forge("workflow", "export", "to-make", "-o", str(target)).code == 6
    assert forge("workflow", "export", "to-make", "-o", str(target), "--force").code == 0
    detail = server.call("GET", "/api/v1/workflows/to-make")
    assert forge("workflow", "show", "to-make", "--json").data == detail
    assert forge("workflow", "show", detail["id"][:-1], "--json").data == detail
    page = forge("workflow", "show", "to-make").out
    assert all(told in page for told in ("Greets somebody.", "saved as number 1", "greet", "0 ms"))


def test_a_name_that_is_taken_is_replaced_only_when_that_is_said(forge: Terminal, write: Write):
    file = write("to-replace")
    make(forge, file)
    said = forge("workflow", "create", file)
    assert (said.code, f"create {file} --update" in said.err) == (6, True)
    same = forge("workflow", "create", file, "--update")
    assert (same.code, same.out.partition(".")[0]) == (0, "Nothing to change in to-replace, number 1")
    changed = SOURCE.replace("good day", "good night")
    said = forge("workflow", "create", write("to-replace", changed), "--update")
    assert said.out.startswith("Saved to-replace, number 2.")
    versions = forge("workflow", "versions", "to-replace", "--json").data
    assert [version["number"] for version in versions] == [2, 1]
    first = forge("workflow", "export", "to-replace", "--number", "1").out
    assert first == SOURCE.format(name="to-replace")
    assert forge("workflow", "export", "to-replace", "--number", "3").code == 5
    said = forge("workflow", "create", "-", "--update", stdin=first)
    assert said.out.startswith("Saved to-replace, number 3.")


def test_update_makes_what_is_not_there(forge: Terminal, write: Write):
    assert forge("workflow", "create", write("to-begin"), "--update").out.startswith(
        "Made to-begin, number 1."
    )


def test_json_is_taken_as_well(forge: Terminal):
    text = '{"name": "from-json", "steps": [{"id": "a", "type": "wait", "config": {"seconds": 0}}]}'
    assert forge("workflow", "create", "-", stdin=text).code == 0
    assert forge("workflow", "show", "from-json", "--json").data["steps"] == 1


def test_what_is_wrong_is_told_with_its_place_and_nothing_is_saved(forge: Terminal, write: Write):
    file = write("to-mend", SOURCE.replace("seconds: 0", "secnds: 0"))
    said = forge("workflow", "validate", file)
    assert (said.code, f"● {file}:8:7 " in said.out, "is not a valid workflow." in said.err) == (
        1,
        True,
        True,
    )
    told = forge("workflow", "validate", file, "--json")
    assert (told.code, told.data["is_usable"], told.data["problems"][0]["line"]) == (1, False, 8)
    said = forge("workflow", "create", file)
    assert (said.code, said.out, f"● {file}:8:7 " in said.err) == (2, "", True)
    assert forge("workflow", "show", "to-mend").code == 5
    right = forge("workflow", "validate", "-", stdin=SOURCE.format(name="to-mend"))
    assert (right.code, right.out) == (0, "Standard input is a workflow.\n")
    assert forge("workflow", "validate", f"{file}.none").code == 5
    for text in ("", "[", "\x00", "a: &a [*a]"):
        assert forge("workflow", "validate", "-", stdin=text).code == 1


def test_a_workflow_may_belong_to_a_bot(forge: Terminal, write: Write):
    assert forge("bots", "create", "Keeper").code == 0
    make(forge, write("to-keep"), "--bot", "keeper")
    make(forge, write("nobodys"))
    shown = forge("workflow", "show", "to-keep", "--json").data
    assert shown["owner"] == "keeper"
    assert shown["source"].startswith("# Says good day.\n")
    listed = forge("workflow", "list", "--bot", "keeper", "--json").data
    assert [card["name"] for card in listed] == ["to-keep"]
    assert forge("workflow", "create", write("other"), "--bot", "stranger").code == 5
    assert forge("workflow", "show", "other").code == 5


def test_a_list_is_searched(forge: Terminal, write: Write):
    make(forge, write("to-find"))
    assert [card["name"] for card in forge("workflow", "list", "to-find", "--json").data] == ["to-find"]
    assert "to-find" in forge("workflows", "list").out
    nothing = forge("workflow", "list", "zebra")
    assert (nothing.code, nothing.out, "forge workflow templates" in nothing.err) == (0, "", True)


def test_triggers_are_switched_off_and_on(forge: Terminal, write: Write):
    cron = SOURCE + "triggers: [{{type: cron, schedule: daily at 9am}}]\n"
    make(forge, write("to-switch", cron))
    assert "next in" in forge("workflow", "show", "to-switch").out
    assert forge("workflow", "disable", "to-switch").out == "Disabled to-switch.\n"
    assert "● off" in forge("workflow", "list", "to-switch").out
    assert forge("workflow", "enable", "to-switch", "--json").data["is_enabled"] is True


def test_a_deletion_is_asked_about(forge: Terminal, server: Server, write: Write):
    make(forge, write("to-go"))
    said = forge("workflow", "delete", "to-go", stdin="y\n")
    assert (said.code, "Delete to-go?" in said.err, "--yes" in said.err) == (2, True, True)
    with open_screen(server.data_dir, "workflow", "delete", "to-go") as screen:
        screen.wait_for("Delete to-go? [y/N]")
        screen.type("n\n")
        assert screen.end() == 130
    assert forge("workflow", "delete", "to-go", "--yes").out == "Deleted to-go.\n"
    assert forge("workflow", "delete", "to-go", "--yes").code == 5


def editor(tmp_path: Path, script: str) -> dict[str, str]:
    path = tmp_path / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"EDITOR": str(path), "VISUAL": str(path), "TMPDIR": str(tmp_path)}


def test_a_definition_is_edited_in_the_editor_of_the_person(
    forge: Terminal, server: Server, write: Write, tmp_path: Path
):
    make(forge, write("to-edit"))
    person = Terminal(server.data_dir, **editor(tmp_path, 'sed -i s/somebody/everybody/ "$1"'))
    said = person("workflow", "edit", "to-edit")
    assert (said.code, said.out) == (0, "Saved to-edit, number 2.\n")
    assert "Greets everybody." in forge("workflow", "export", "to-edit").out
    assert person("workflow", "edit", "to-edit").err == "Nothing was changed.\n"


@pytest.mark.parametrize("script", ["echo 'name: [' > \"$1\"", 'sed -i s/seconds/secnds/ "$1"'])
def test_what_is_no_workflow_is_told_and_not_lost(
    forge: Terminal, server: Server, write: Write, tmp_path: Path, script: str
):
    make(forge, write("to-lose"), "--update")
    said = Terminal(server.data_dir, **editor(tmp_path, script))("workflow", "edit", "to-lose")
    assert (said.code, said.out, "nothing was saved" in said.err) == (2, "", True)
    line = next(line for line in said.err.splitlines() if line.startswith("What you wrote is in "))
    kept = Path(line.removeprefix("What you wrote is in ").removesuffix("."))
    assert kept.read_text() != SOURCE.format(name="to-lose")
    assert forge("workflow", "export", "to-lose").out == SOURCE.format(name="to-lose")


def test_somebody_may_go_on_editing_until_it_is_a_workflow(
    forge: Terminal, server: Server, write: Write, tmp_path: Path
):
    make(forge, write("to-finish"))
    script = 'grep -q secnds "$1" && sed -i \'s/secnds: 0/seconds: 1/\' "$1" || sed -i s/seconds/secnds/ "$1"'
    with open_screen(server.data_dir, "workflow", "edit", "to-finish", **editor(tmp_path, script)) as screen:
        screen.wait_for("Edit again?")
        screen.type("\n")
        assert screen.end() == 0, screen.text
    assert "seconds: 1" in forge("workflow", "export", "to-finish").out


def test_two_who_edit_at_once_do_not_overwrite_each_other(
    forge: Terminal, server: Server, write: Write, tmp_path: Path
):
    file = write("to-share")
    make(forge, file)
    other = SOURCE.replace("somebody", "theirs").format(name="to-share")
    (tmp_path / "other.yaml").write_text(other)
    command = f"FORGE_DATA_DIR={server.data_dir} {sys.executable} -m forge workflow create"
    script = f'{command} {tmp_path}/other.yaml --update >/dev/null; sed -i s/somebody/mine/ "$1"'
    said = Terminal(server.data_dir, **editor(tmp_path, script))("workflow", "edit", "to-share")
    assert (said.code, "What you wrote is in " in said.err) == (6, True)
    assert "theirs" in forge("workflow", "export", "to-share").out


def test_every_template_is_a_workflow(forge: Terminal):
    found = forge("workflow", "templates", "--json").data
    assert len(found) >= 4
    assert all(one["id"] in forge("workflow", "templates").out for one in found)
    for one in found:
        printed = forge("workflow", "templates", one["id"]).out
        assert printed == one["source"]
        assert forge("workflow", "validate", "-", stdin=printed).code == 0
    assert forge("workflow", "templates", "none").code == 5


def test_the_schema_is_one(forge: Terminal):
    assert forge("workflow", "schema").data["properties"]["steps"]


@pytest.mark.parametrize("name", ["none", "../bots", "?", "a/b", "", "0199"])
def test_a_workflow_that_is_not_there_is_not_found(forge: Terminal, name: str):
    said = forge("workflow", "show", name)
    assert (said.code, said.out) == (5, "")


def test_the_help_has_a_whole_line_for_each_command(forge: Terminal):
    said = forge("workflow", "--help")
    assert (said.code, "..." in said.out.partition("Commands:")[2]) == (0, False), said.out
