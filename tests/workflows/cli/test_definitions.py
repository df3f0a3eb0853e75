"""The `forge workflow` commands for definitions, with a real server."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.server import Server
from tests.support.terminal import Terminal, open_screen

SOURCE = """\
# Says hello.
name: {name}
description: Greets a visitor.
steps:
  - id: greet  # does not wait
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


def create(forge: Terminal, file: str, *options: str) -> None:
    result = forge("workflow", "create", file, *options)
    assert result.code == 0, result.err


def test_created_workflow_is_shown_and_exported_unchanged(
    forge: Terminal, server: Server, write: Write, tmp_path: Path
):
    file = write("to-make")
    result = forge("workflow", "create", file)
    assert (result.code, result.err) == (0, "")
    assert result.out == "Created to-make (version 1). Start it with: forge workflow trigger to-make\n"
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
    assert all(text in page for text in ("Greets a visitor.", "saved as number 1", "greet", "seconds: 0.0"))


def test_existing_workflow_is_replaced_only_with_update(forge: Terminal, write: Write):
    file = write("to-replace")
    create(forge, file)
    result = forge("workflow", "create", file)
    assert (result.code, f"create {file} --update" in result.err) == (6, True)
    unchanged = forge("workflow", "create", file, "--update")
    assert (unchanged.code, unchanged.out.partition(".")[0]) == (0, "No changes to to-replace (version 1)")
    changed = SOURCE.replace("hello", "goodbye")
    result = forge("workflow", "create", write("to-replace", changed), "--update")
    assert result.out.startswith("Saved to-replace (version 2).")
    versions = forge("workflow", "versions", "to-replace", "--json").data
    assert [version["number"] for version in versions] == [2, 1]
    first = forge("workflow", "export", "to-replace", "--number", "1").out
    assert first == SOURCE.format(name="to-replace")
    assert forge("workflow", "export", "to-replace", "--number", "3").code == 5
    result = forge("workflow", "create", "-", "--update", stdin=first)
    assert result.out.startswith("Saved to-replace (version 3).")


def test_update_creates_a_missing_workflow(forge: Terminal, write: Write):
    assert forge("workflow", "create", write("to-begin"), "--update").out.startswith(
        "Created to-begin (version 1)."
    )


def test_json_definition_is_accepted(forge: Terminal):
    text = '{"name": "from-json", "steps": [{"id": "a", "type": "wait", "config": {"seconds": 0}}]}'
    assert forge("workflow", "create", "-", stdin=text).code == 0
    assert forge("workflow", "show", "from-json", "--json").data["steps"] == 1


def test_invalid_definition_is_reported_with_position_and_not_saved(forge: Terminal, write: Write):
    file = write("to-mend", SOURCE.replace("seconds: 0", "secnds: 0"))
    result = forge("workflow", "validate", file)
    assert (result.code, f"● {file}:8:7 " in result.out, "is not a valid workflow." in result.err) == (
        1,
        True,
        True,
    )
    validated = forge("workflow", "validate", file, "--json")
    assert (validated.code, validated.data["is_usable"], validated.data["problems"][0]["line"]) == (
        1,
        False,
        8,
    )
    result = forge("workflow", "create", file)
    assert (result.code, result.out, f"● {file}:8:7 " in result.err) == (2, "", True)
    assert forge("workflow", "show", "to-mend").code == 5
    valid = forge("workflow", "validate", "-", stdin=SOURCE.format(name="to-mend"))
    assert (valid.code, valid.out) == (0, "Standard input is a valid workflow.\n")
    assert forge("workflow", "validate", f"{file}.none").code == 5
    for text in ("", "[", "\x00", "a: &a [*a]"):
        assert forge("workflow", "validate", "-", stdin=text).code == 1


def test_workflow_can_be_owned_by_a_bot(forge: Terminal, write: Write):
    assert forge("bots", "create", "Keeper").code == 0
    create(forge, write("to-keep"), "--bot", "keeper")
    create(forge, write("unowned"))
    shown = forge("workflow", "show", "to-keep", "--json").data
    assert shown["owner"] == "keeper"
    assert shown["source"].startswith("# Says hello.\n")
    listed = forge("workflow", "list", "--bot", "keeper", "--json").data
    assert [card["name"] for card in listed] == ["to-keep"]
    assert forge("workflow", "create", write("other"), "--bot", "unknown").code == 5
    assert forge("workflow", "show", "other").code == 5


def test_list_can_be_searched(forge: Terminal, write: Write):
    create(forge, write("to-find"))
    assert [card["name"] for card in forge("workflow", "list", "to-find", "--json").data] == ["to-find"]
    assert "to-find" in forge("workflows", "list").out
    empty = forge("workflow", "list", "zebra")
    assert (empty.code, empty.out, "forge workflow templates" in empty.err) == (0, "", True)


def test_workflow_can_be_disabled_and_enabled(forge: Terminal, write: Write):
    cron = SOURCE + "triggers: [{{type: cron, schedule: daily at 9am}}]\n"
    create(forge, write("to-switch", cron))
    [_, trigger] = forge("workflow", "show", "to-switch").out.partition("TRIGGERS\n")[2].splitlines()[:2]
    assert "daily at 9am  in " in trigger
    assert forge("workflow", "disable", "to-switch").out == "Disabled to-switch.\n"
    assert "● off" in forge("workflow", "list", "to-switch").out
    assert forge("workflow", "enable", "to-switch", "--json").data["is_enabled"] is True


def test_deletion_requires_confirmation(forge: Terminal, server: Server, write: Write):
    create(forge, write("to-go"))
    result = forge("workflow", "delete", "to-go", stdin="y\n")
    assert (result.code, "Delete to-go?" in result.err, "--yes" in result.err) == (2, True, True)
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


def test_edit_opens_the_editor_and_saves_the_result(
    forge: Terminal, server: Server, write: Write, tmp_path: Path
):
    create(forge, write("to-edit"))
    terminal = Terminal(server.data_dir, **editor(tmp_path, 'sed -i s/visitor/customer/ "$1"'))
    result = terminal("workflow", "edit", "to-edit")
    assert (result.code, result.out) == (0, "Saved to-edit (version 2).\n")
    assert "Greets a customer." in forge("workflow", "export", "to-edit").out
    assert terminal("workflow", "edit", "to-edit").err == "No changes.\n"


@pytest.mark.parametrize("script", ["echo 'name: [' > \"$1\"", 'sed -i s/seconds/secnds/ "$1"'])
def test_invalid_edit_is_rejected_and_its_text_is_kept(
    forge: Terminal, server: Server, write: Write, tmp_path: Path, script: str
):
    create(forge, write("to-lose"), "--update")
    result = Terminal(server.data_dir, **editor(tmp_path, script))("workflow", "edit", "to-lose")
    assert (result.code, result.out, "nothing was saved" in result.err) == (2, "", True)
    line = next(line for line in result.err.splitlines() if line.startswith("Your text was kept in "))
    saved = Path(line.removeprefix("Your text was kept in ").removesuffix("."))
    assert saved.read_text() != SOURCE.format(name="to-lose")
    assert forge("workflow", "export", "to-lose").out == SOURCE.format(name="to-lose")


def test_invalid_edit_can_be_corrected(forge: Terminal, server: Server, write: Write, tmp_path: Path):
    create(forge, write("to-finish"))
    script = 'grep -q secnds "$1" && sed -i \'s/secnds: 0/seconds: 1/\' "$1" || sed -i s/seconds/secnds/ "$1"'
    with open_screen(server.data_dir, "workflow", "edit", "to-finish", **editor(tmp_path, script)) as screen:
        screen.wait_for("Edit again?")
        screen.type("\n")
        assert screen.end() == 0, screen.text
    assert "seconds: 1" in forge("workflow", "export", "to-finish").out


def test_concurrent_edit_is_rejected_and_its_text_is_kept(
    forge: Terminal, server: Server, write: Write, tmp_path: Path
):
    file = write("to-share")
    create(forge, file)
    other = SOURCE.replace("visitor", "theirs").format(name="to-share")
    (tmp_path / "other.yaml").write_text(other)
    command = f"FORGE_DATA_DIR={server.data_dir} {sys.executable} -m forge workflow create"
    script = f'{command} {tmp_path}/other.yaml --update >/dev/null; sed -i s/visitor/mine/ "$1"'
    result = Terminal(server.data_dir, **editor(tmp_path, script))("workflow", "edit", "to-share")
    assert (result.code, "Your text was kept in " in result.err) == (6, True)
    assert "theirs" in forge("workflow", "export", "to-share").out


def test_every_template_is_valid(forge: Terminal):
    found = forge("workflow", "templates", "--json").data
    assert len(found) >= 4
    assert all(one["id"] in forge("workflow", "templates").out for one in found)
    for one in found:
        printed = forge("workflow", "templates", one["id"]).out
        assert printed == one["source"]
        assert forge("workflow", "validate", "-", stdin=printed).code == 0
    assert forge("workflow", "templates", "unknown").code == 5


def test_schema_is_printed(forge: Terminal):
    assert forge("workflow", "schema").data["properties"]["steps"]


@pytest.mark.parametrize("name", ["unknown", "../bots", "?", "a/b", "", "0199"])
def test_unknown_workflow_is_not_found(forge: Terminal, name: str):
    result = forge("workflow", "show", name)
    assert (result.code, result.out) == (5, "")


def test_help_shows_complete_summaries_of_commands(forge: Terminal):
    result = forge("workflow", "--help")
    assert (result.code, "..." in result.out.partition("Commands:")[2]) == (0, False), result.out
