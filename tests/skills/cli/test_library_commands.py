"""`forge skill` commands for the library, with a real server and real runtimes."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.skills.cli.skill_folders import COUNTS, FETCHES, write_skill
from tests.support.server import Server
from tests.support.terminal import Terminal, open_screen

from forge.skills.format.zip_archive import pack, read_folder

DESCRIPTION = ["--description", "Counts words. Use when somebody asks how long a text is."]


def create_skill(forge: Terminal, name: str, *options: str) -> dict[str, Any]:
    result = forge("skill", "create", "--blank", name, *DESCRIPTION, *options, "--json")
    assert result.code == 0, result.err
    return result.data


def install(forge: Terminal, folder: Path, *options: str) -> None:
    result = forge("skill", "install", str(folder), *options)
    assert result.code == 0, result.err + result.out


@pytest.mark.parametrize(("language", "entry"), [("js", "skill.js"), ("py", "skill.py")])
def test_blank_script_runs_and_passes_its_tests(forge: Terminal, language: str, entry: str):
    name = f"blank-{language}"
    created = create_skill(forge, name, "--kind", "script", "--language", language)
    assert (created["entry"], created["state"], created["tier"]) == (entry, "ready", "local")
    result = forge("skill", "run", name, "--input", '{"text": " three  small words"}')
    assert (result.code, json.loads(result.out), result.err) == (
        0,
        {"text": "three small words", "words": 3},
        "",
    )
    tested = forge("skill", "test", name)
    assert (tested.code, tested.out.count("● passed "), tested.out.count("failed")) == (0, 3, 0)


def test_blank_instructions_require_only_a_description(forge: Terminal):
    result = forge("skill", "create", "--blank", "blank-prompt", *DESCRIPTION)
    assert (result.code, result.err) == (0, "")
    assert "blank-prompt: SKILL.md\n" in result.out
    assert forge("skill", "create", "--blank", "blank-prompt", *DESCRIPTION).code == 6
    assert forge("skill", "create", "--blank", "Blank", *DESCRIPTION).code == 2
    assert forge("skill", "create", "--blank", "other").code == 2
    assert (
        forge(
            "skill", "create", "--blank", "other", "--language", "js", "--kind", "prompt", *DESCRIPTION
        ).code
        == 2
    )
    assert forge("skill", "create", "--kind", "script").code == 2
    assert forge("skill", "create", "--blank", "other", "--edit", "other", *DESCRIPTION).code == 2


def test_list_is_searched_and_filtered(forge: Terminal):
    create_skill(forge, "to-find", "--kind", "script")
    everything = forge("skill", "list", "--json").data
    assert {"to-find", "summarize"} <= {card["name"] for card in everything}
    found = forge(
        "skill", "list", "to-find", "--kind", "script", "--tier", "local", "--state", "ready", "--json"
    ).data
    assert [card["name"] for card in found] == ["to-find"]
    assert "● ready" in forge("skill", "list", "to-find").out
    assert forge("skill", "list", "--capability", "exec_command", "--json").data == []
    result = forge("skill", "list", "zebra")
    assert (result.code, result.out, "No matching skills" in result.err) == (0, "", True)


def test_inspect_shows_the_skill_of_the_server(forge: Terminal, server: Server):
    create_skill(forge, "to-see", "--kind", "script", "--language", "js")
    assert forge("skill", "inspect", "to-see", "--json").data == server.call("GET", "/api/v1/skills/to-see")
    page = forge("skill", "inspect", "to-see").out
    for text in (
        "script (skill.js)",
        "256 MB, 60 s",
        "created here",
        "tests/a-text-is-tidied.json",
        "SKILL.md",
    ):
        assert text in page
    for name in ("nobody", "../bots", "A"):
        result = forge("skill", "inspect", name)
        assert (result.code, result.out) == (5, "")


def test_input_is_an_object_from_a_file_or_a_pipe(forge: Terminal, tmp_path: Path):
    create_skill(forge, "to-feed", "--kind", "script", "--language", "js")
    path = tmp_path / "input.json"
    path.write_text('{"text": "a b"}')
    run = ("skill", "run", "to-feed", "--input")
    assert json.loads(forge(*run, f"@{path}").out)["words"] == 2
    assert json.loads(forge(*run, "-", stdin='{"text": "a"}').out)["words"] == 1
    assert forge(*run, f"@{tmp_path / 'none'}").code == 5
    for given in ("{", "[1]", '"text"', "nul", "[" * 100_000, '{"a": NaN}', '{"a": "\\ud800"}'):
        result = forge(*run, given)
        assert (result.code, result.out) == (2, "")


def test_json_run_prints_everything_and_logs_go_to_stderr(forge: Terminal, tmp_path: Path):
    install(forge, write_skill(tmp_path, "to-hear"))
    result = forge("skill", "run", "to-hear", "--input", '{"text": "x"}', "--json")
    assert (result.code, result.data["end"], result.data["output"], result.data["purpose"]) == (
        0,
        "done",
        {"heard": "x"},
        "cli",
    )
    assert "heard\n" in result.err
    logged = forge("skill", "runs", "to-hear", "--json").data
    assert [run["id"] for run in logged] == [result.data["id"]]
    assert "output" not in logged[0]
    assert "● done" in forge("skill", "runs", "to-hear").out
    assert len(forge("skill", "runs", "to-hear", "--limit", "1", "--json").data) == 1
    forge("skill", "remove", "to-hear", "--yes")
    assert len(forge("skill", "runs", "to-hear", "--json").data) == 1


def test_runs_of_an_unused_and_of_an_unknown_skill_differ(forge: Terminal):
    result = forge("skill", "runs", "summarize")
    assert (result.code, result.err) == (0, "No runs yet.\n")
    for options in ((), ("--json",)):
        assert forge("skill", "runs", "never-was", *options).code == 5


def test_failing_run_prints_the_reason_and_exits_with_one(forge: Terminal, tmp_path: Path):
    install(forge, write_skill(tmp_path, "to-fail", "function run() { throw new Error('no bread'); }\n"))
    result = forge("skill", "run", "to-fail")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("raised: ") and "no bread" in result.err
    assert forge("skill", "run", "to-fail", "--json").data["end"] == "raised"


def test_refused_run_shows_the_command_that_grants(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "to-count", COUNTS, capabilities="kv")
    install(forge, folder)
    result = forge("skill", "run", "to-count")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("refused: ") and result.err.endswith(": forge skill grant to-count kv\n")
    assert result.err.count("\n") == 1
    assert forge("skill", "grant", "to-count", "kv").code == 0
    assert [json.loads(forge("skill", "run", "to-count").out)["n"] for _ in range(2)] == [1, 2]
    assert forge("skill", "revoke", "to-count", "kv", "--json").data["granted"] == []
    assert forge("skill", "run", "to-count").code == 1
    assert forge("skill", "revoke", "to-count", "kv").code == 5


def test_grants_are_merged_and_end_when_the_skill_changes(forge: Terminal, server: Server, tmp_path: Path):
    install(
        forge, write_skill(tmp_path, "to-reach", FETCHES, capabilities="http_get kv", hosts="a.example.com")
    )
    assert forge("skill", "grant", "to-reach", "http_get").code == 0
    found = forge("skill", "grant", "to-reach", "http_get=b.example.com,kv", "--json").data
    scopes = {grant["capability"]: grant["scope"] for grant in found["grants"]}
    assert scopes["http_get"]["hosts"] == ["a.example.com", "b.example.com"]
    further = forge("skill", "grant", "to-reach", "http_get=evil.com", "--json")
    assert "to-reach does not request evil.com; granted anyway." in further.err
    assert (sorted(found["granted"]), found["state"]) == (["http_get", "kv"], "ready")
    with (server.data_dir / "skills" / "to-reach" / "skill.js").open("a") as file:
        file.write("// edited\n")
    page = forge("skill", "inspect", "to-reach").out
    assert page.count("not in effect: the skill changed since") == 2
    again = forge("skill", "grant", "to-reach", "kv", "--json").data
    assert (again["granted"], [grant["capability"] for grant in again["grants"]]) == (["kv"], ["kv"])


@pytest.mark.parametrize(
    ("grant", "message"),
    [
        ("exec_command", "does not request exec_command"),
        ("fly", "no capability 'fly'"),
        ("http_get=a/b", "cannot be granted for a/b"),
        ("kv=x", "does not take a value"),
    ],
)
def test_invalid_grant_is_rejected(forge: Terminal, tmp_path: Path, grant: str, message: str):
    install(forge, write_skill(tmp_path, "to-refuse", capabilities="http_get kv"), "--force")
    result = forge("skill", "grant", "to-refuse", grant)
    assert (result.code, result.out, message in result.err) == (2, "", True)
    assert forge("skill", "grant", "to-refuse").code == 2


def test_yes_grants_all_requested_capabilities(forge: Terminal, tmp_path: Path):
    install(forge, write_skill(tmp_path, "to-grant", capabilities="kv log"))
    assert forge("skill", "grant", "to-grant", "--yes", "--json").data["granted"] == ["kv", "log"]


def test_raising_trust_asks_for_confirmation_and_lowering_does_not(forge: Terminal, tmp_path: Path):
    install(forge, write_skill(tmp_path, "to-trust"))
    result = forge("skill", "trust", "to-trust", "verified", stdin="y\n")
    assert (result.code, "you have reviewed the skill" in result.err, "--yes" in result.err) == (
        2,
        True,
        True,
    )
    assert forge("skill", "inspect", "to-trust", "--json").data["tier"] == "untrusted"
    assert forge("skill", "trust", "to-trust", "verified", "--yes", "--json").data["tier"] == "verified"
    assert forge("skill", "trust", "to-trust", "untrusted", "--json").data["tier"] == "untrusted"


def test_failing_test_exits_with_one(forge: Terminal, tmp_path: Path):
    cases = {"right": {"heard": "right"}, "wrong": {"heard": "else"}}
    install(forge, write_skill(tmp_path, "to-test", cases=cases))
    result = forge("skill", "test", "to-test")
    assert (result.code, "● passed right" in result.out, "● failed wrong\n  " in result.out) == (
        1,
        True,
        True,
    )
    report = forge("skill", "test", "to-test", "--json")
    assert (report.code, report.data["passed"], len(report.data["cases"])) == (1, False, 2)


def test_skill_without_tests_fails_with_a_message(forge: Terminal, tmp_path: Path):
    install(forge, write_skill(tmp_path, "to-believe"))
    result = forge("skill", "test", "to-believe")
    assert (result.code, "The skill has no tests" in result.out, result.err) == (1, True, "")
    instructions = forge("skill", "test", "summarize")
    assert (instructions.code, instructions.out) == (0, "● passed SKILL.md\n")


def test_skipped_trigger_tests_count_as_failed(forge: Terminal):
    result = forge("skill", "test", "summarize", "--triggers")
    assert (result.code, result.out) == (1, "● passed SKILL.md\n")
    assert result.err.startswith("Trigger tests skipped: There is no key")


def test_folder_is_validated_without_installing_it(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "to-check", capabilities="kv")
    for given in (str(folder), str(folder / "SKILL.md")):
        result = forge("skill", "validate", given)
        assert (result.code, "is valid. Requested capabilities: kv." in result.out) == (0, True)
    (folder / "SKILL.md").write_text("---\nname: other\ndescription: x\n---\n")
    result = forge("skill", "validate", str(folder))
    assert (result.code, "● SKILL.md:2 `name` is other" in result.out) == (2, True)
    checked = forge("skill", "validate", str(folder), "--json")
    assert (checked.code, checked.data["valid"], checked.data["problems"][0]["line"]) == (2, False, 2)
    assert forge("skill", "inspect", "to-check").code == 5


def test_folder_with_binary_files_is_validated(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "to-picture")
    (folder / "logo.png").write_bytes(b"\x89PNG\xff\x00")
    assert forge("skill", "validate", str(folder)).code == 0
    (folder / "SKILL.md").write_text("no front matter")
    assert forge("skill", "validate", str(folder)).code == 2


def test_archive_with_exactly_one_skill_is_validated(
    forge: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    files = read_folder(write_skill(tmp_path, "to-unpack", capabilities="kv")).files
    Path("pack.zip").write_bytes(pack(files, below="to-unpack"))
    result = forge("skill", "validate", "pack.zip")
    assert (result.code, result.out) == (0, "pack.zip is valid. Requested capabilities: kv.\n")
    write_skill(tmp_path, "to-pack")
    Path("two.zip").write_bytes(pack({k: v for k, v in read_folder(tmp_path).files.items() if "/" in k}))
    result = forge("skill", "validate", "./two.zip")
    assert (result.code, "The archive contains 2 skills" in result.err) == (2, True)
    assert forge("skill", "validate", "none.zip").code == 5


def test_validating_something_that_is_not_a_skill_fails(forge: Terminal, tmp_path: Path):
    assert forge("skill", "validate", str(tmp_path)).code == 2
    assert forge("skill", "validate", str(tmp_path / "none")).code == 5
    (tmp_path / "Odd Name").mkdir()
    (tmp_path / "Odd Name" / "SKILL.md").write_text("x")
    assert forge("skill", "validate", str(tmp_path / "Odd Name")).code == 2
    assert forge("skill", "validate", "nobody").code == 5
    assert forge("skill", "validate", "summarize").code == 0


def test_exported_skill_can_be_installed_again(
    forge: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    before = create_skill(forge, "to-carry", "--kind", "script")
    result = forge("skill", "export", "to-carry")
    assert (result.code, result.out, result.err) == (0, "", "Wrote to-carry.zip.\n")
    with zipfile.ZipFile(io.BytesIO(Path("to-carry.zip").read_bytes())) as archive:
        assert {f"to-carry/{file['path']}" for file in before["files"]} == set(archive.namelist())
    assert forge("skill", "export", "to-carry").code == 6
    assert forge("skill", "export", "to-carry", "--output", str(tmp_path / "none" / "x.zip")).code == 2
    assert forge("skill", "export", "to-carry", "--output", "other.zip").code == 0
    assert forge("skill", "remove", "to-carry", "--yes").code == 0
    assert forge("skill", "install", "./other.zip").code == 0
    assert forge("skill", "inspect", "to-carry", "--json").data["folder_hash"] == before["folder_hash"]


def test_removal_asks_for_confirmation(server: Server, forge: Terminal):
    create_skill(forge, "to-go")
    piped = forge("skill", "remove", "to-go", stdin="y\n")
    assert (piped.code, "Remove to-go?" in piped.err, "--yes" in piped.err) == (2, True, True)
    with open_screen(server.data_dir, "skill", "remove", "to-go") as screen:
        screen.wait_for("Remove to-go? [y/N]")
        screen.type("n\n")
        assert screen.end() == 130
    assert forge("skill", "remove", "to-go", "--yes", "--json").data["name"] == "to-go"
    assert forge("skill", "remove", "to-go", "--yes").code == 5
    starter = forge("skill", "remove", "summarize", "--yes")
    assert (starter.code, "comes with Forge and cannot be removed" in starter.err) == (6, True)


def test_unusable_skill_of_a_bot_shows_the_reason(forge: Terminal):
    create_skill(forge, "to-pin", "--kind", "script")
    forge("bots", "create", "Pinned")
    assert "does not have the skill" in forge("skill", "run", "to-pin", "--as", "pinned").err
    result = forge("skill", "attach", "to-pin", "pinned", "--version", "^9")
    reason = "skills.toml requires version ^9, but the library has 0.1.0."
    assert (result.code, result.err) == (0, f"The bot cannot use it yet: {reason}\n")
    assert reason in forge("skill", "run", "to-pin", "--as", "pinned").err
    forge("skill", "disable", "to-pin", "pinned")
    assert "is disabled for Pinned" in forge("skill", "run", "to-pin", "--as", "pinned").err
    forge("skill", "detach", "to-pin", "pinned")
    fits = forge("skill", "attach", "to-pin", "pinned")
    assert (fits.code, fits.err) == (0, "")
    assert forge("skill", "run", "to-pin", "--as", "pinned").code == 0


def test_file_is_edited_in_the_configured_editor(server: Server, forge: Terminal, tmp_path: Path):
    before = create_skill(forge, "to-edit", "--kind", "script", "--language", "js")
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'function run() { return 7; }\\n' > \"$1\"\n")
    editor.chmod(0o755)
    editing = Terminal(server.data_dir, EDITOR=str(editor), VISUAL=str(editor))
    saved = editing("skill", "edit", "to-edit", "skill.js", "--json").data
    assert saved["folder_hash"] != before["folder_hash"]
    assert [file["path"] for file in saved["files"]] == [file["path"] for file in before["files"]]
    assert forge("skill", "run", "to-edit").out == "7\n"
    assert editing("skill", "edit", "to-edit", "skill.js").err == "No changes.\n"
    assert editing("skill", "edit", "to-edit", "none.js").code == 5


def test_edit_that_cannot_be_saved_is_kept_in_a_file(server: Server, forge: Terminal, tmp_path: Path):
    create_skill(forge, "to-keep", "--kind", "script", "--language", "js")
    source = server.data_dir / "skills" / "to-keep" / "skill.js"
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\necho mine > \"$1\"; echo theirs > '{source}'\n")
    editor.chmod(0o755)
    editing = Terminal(server.data_dir, EDITOR=str(editor), VISUAL=str(editor), TMPDIR=str(tmp_path))
    result = editing("skill", "edit", "to-keep", "skill.js")
    assert (result.code, source.read_text()) == (6, "theirs\n")
    kept = Path(result.err.splitlines()[0].removeprefix("Your text was kept in ").removesuffix("."))
    assert kept.read_text() == "mine\n"
    kept.unlink()


def test_help_of_each_command_fits_on_one_line(forge: Terminal):
    for group in (("skill",), ("skill", "registry")):
        result = forge(*group, "--help")
        assert (result.code, "..." in result.out.partition("Commands:")[2]) == (0, False), result.out
