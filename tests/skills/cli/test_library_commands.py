"""`forge skill` and the skills of the library, against a real server and real runtimes."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.skills.cli.making import COUNTS, FETCHES, write_skill
from tests.support.server import Server
from tests.support.terminal import Terminal, open_screen

from forge.skills.format.zip_archive import pack, read_folder

WORDS = ["--description", "Counts words. Use when somebody asks how long a text is."]


def make(forge: Terminal, name: str, *options: str) -> dict[str, Any]:
    said = forge("skill", "create", "--blank", name, *WORDS, *options, "--json")
    assert said.code == 0, said.err
    return said.data


def install(forge: Terminal, folder: Path, *options: str) -> None:
    said = forge("skill", "install", str(folder), *options)
    assert said.code == 0, said.err + said.out


@pytest.mark.parametrize(("language", "entry"), [("js", "skill.js"), ("py", "skill.py")])
def test_a_blank_script_runs_and_passes_its_tests(forge: Terminal, language: str, entry: str):
    name = f"blank-{language}"
    made = make(forge, name, "--kind", "script", "--language", language)
    assert (made["entry"], made["state"], made["tier"]) == (entry, "ready", "local")
    ran = forge("skill", "run", name, "--input", '{"text": " three  small words"}')
    assert (ran.code, json.loads(ran.out), ran.err) == (0, {"text": "three small words", "words": 3}, "")
    tested = forge("skill", "test", name)
    assert (tested.code, tested.out.count("● passed "), tested.out.count("failed")) == (0, 3, 0)


def test_instructions_need_nothing_but_a_description(forge: Terminal):
    said = forge("skill", "create", "--blank", "blank-prompt", *WORDS)
    assert (said.code, said.err) == (0, "")
    assert "blank-prompt: SKILL.md\n" in said.out
    assert forge("skill", "create", "--blank", "blank-prompt", *WORDS).code == 6
    assert forge("skill", "create", "--blank", "Blank", *WORDS).code == 2
    assert forge("skill", "create", "--blank", "other").code == 2
    assert (
        forge("skill", "create", "--blank", "other", "--language", "js", "--kind", "prompt", *WORDS).code == 2
    )
    assert forge("skill", "create", "--kind", "script").code == 2
    assert forge("skill", "create", "--blank", "other", "--edit", "other", *WORDS).code == 2


def test_a_list_is_searched_and_filtered(forge: Terminal):
    make(forge, "to-find", "--kind", "script")
    everything = forge("skill", "list", "--json").data
    assert {"to-find", "summarize"} <= {card["name"] for card in everything}
    found = forge(
        "skill", "list", "to-find", "--kind", "script", "--tier", "local", "--state", "ready", "--json"
    ).data
    assert [card["name"] for card in found] == ["to-find"]
    assert "● ready" in forge("skill", "list", "to-find").out
    assert forge("skill", "list", "--capability", "exec_command", "--json").data == []
    said = forge("skill", "list", "zebra")
    assert (said.code, said.out, "no such skills" in said.err) == (0, "", True)


def test_what_is_inspected_is_what_the_server_says(forge: Terminal, server: Server):
    make(forge, "to-see", "--kind", "script", "--language", "js")
    assert forge("skill", "inspect", "to-see", "--json").data == server.call("GET", "/api/v1/skills/to-see")
    page = forge("skill", "inspect", "to-see").out
    for told in ("script (skill.js)", "256 MB, 60 s", "made here", "tests/a-text-is-tidied.json", "SKILL.md"):
        assert told in page
    for name in ("nobody", "../bots", "A"):
        said = forge("skill", "inspect", name)
        assert (said.code, said.out) == (5, "")


def test_an_input_comes_from_a_file_or_a_pipe_and_has_to_be_an_object(forge: Terminal, tmp_path: Path):
    make(forge, "to-feed", "--kind", "script", "--language", "js")
    path = tmp_path / "input.json"
    path.write_text('{"text": "a b"}')
    run = ("skill", "run", "to-feed", "--input")
    assert json.loads(forge(*run, f"@{path}").out)["words"] == 2
    assert json.loads(forge(*run, "-", stdin='{"text": "a"}').out)["words"] == 1
    assert forge(*run, f"@{tmp_path / 'none'}").code == 5
    for given in ("{", "[1]", '"text"', "nul", "[" * 100_000, '{"a": NaN}', '{"a": "\\ud800"}'):
        said = forge(*run, given)
        assert (said.code, said.out) == (2, "")


def test_json_run_prints_everything_and_logs_go_to_stderr(forge: Terminal, tmp_path: Path):
    install(forge, write_skill(tmp_path, "to-hear"))
    said = forge("skill", "run", "to-hear", "--input", '{"text": "x"}', "--json")
    assert (said.code, said.data["end"], said.data["output"], said.data["purpose"]) == (
        0,
        "done",
        {"heard": "x"},
        "cli",
    )
    assert "heard\n" in said.err
    logged = forge("skill", "runs", "to-hear", "--json").data
    assert [run["id"] for run in logged] == [said.data["id"]]
    assert "output" not in logged[0]
    assert "● done" in forge("skill", "runs", "to-hear").out
    assert len(forge("skill", "runs", "to-hear", "--limit", "1", "--json").data) == 1
    forge("skill", "remove", "to-hear", "--yes")
    assert len(forge("skill", "runs", "to-hear", "--json").data) == 1


def test_what_never_ran_is_told_from_what_never_was(forge: Terminal):
    said = forge("skill", "runs", "summarize")
    assert (said.code, said.err) == (0, "It was not run yet.\n")
    for options in ((), ("--json",)):
        assert forge("skill", "runs", "never-was", *options).code == 5


def test_failing_run_prints_the_reason_and_exits_with_one(forge: Terminal, tmp_path: Path):
    install(forge, write_skill(tmp_path, "to-fail", "function run() { throw new Error('no bread'); }\n"))
    said = forge("skill", "run", "to-fail")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("raised: ") and "no bread" in said.err
    assert forge("skill", "run", "to-fail", "--json").data["end"] == "raised"


def test_a_refused_run_names_the_command_that_grants(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "to-count", COUNTS, capabilities="kv")
    install(forge, folder)
    said = forge("skill", "run", "to-count")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("refused: ") and said.err.endswith(": forge skill grant to-count kv\n")
    assert said.err.count("\n") == 1
    assert forge("skill", "grant", "to-count", "kv").code == 0
    assert [json.loads(forge("skill", "run", "to-count").out)["n"] for _ in range(2)] == [1, 2]
    assert forge("skill", "revoke", "to-count", "kv", "--json").data["granted"] == []
    assert forge("skill", "run", "to-count").code == 1
    assert forge("skill", "revoke", "to-count", "kv").code == 5


def test_grants_add_up_and_end_with_the_folder_they_were_for(forge: Terminal, server: Server, tmp_path: Path):
    install(
        forge, write_skill(tmp_path, "to-reach", FETCHES, capabilities="http_get kv", hosts="a.example.com")
    )
    assert forge("skill", "grant", "to-reach", "http_get").code == 0
    found = forge("skill", "grant", "to-reach", "http_get=b.example.com,kv", "--json").data
    scopes = {grant["capability"]: grant["scope"] for grant in found["grants"]}
    assert scopes["http_get"]["hosts"] == ["a.example.com", "b.example.com"]
    further = forge("skill", "grant", "to-reach", "http_get=evil.com", "--json")
    assert "It does not ask for evil.com; granted as you said." in further.err
    assert (sorted(found["granted"]), found["state"]) == (["http_get", "kv"], "ready")
    with (server.data_dir / "skills" / "to-reach" / "skill.js").open("a") as file:
        file.write("// edited\n")
    page = forge("skill", "inspect", "to-reach").out
    assert page.count("does not count: the skill changed since") == 2
    again = forge("skill", "grant", "to-reach", "kv", "--json").data
    assert (again["granted"], [grant["capability"] for grant in again["grants"]]) == (["kv"], ["kv"])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("exec_command", "does not ask for exec_command"),
        ("fly", "no capability 'fly'"),
        ("http_get=a/b", "cannot be granted for a/b"),
        ("kv=x", "has nothing to choose"),
    ],
)
def test_grant_with_a_wrong_scope_is_refused(forge: Terminal, tmp_path: Path, given: str, told: str):
    install(forge, write_skill(tmp_path, "to-refuse", capabilities="http_get kv"), "--force")
    said = forge("skill", "grant", "to-refuse", given)
    assert (said.code, said.out, told in said.err) == (2, "", True)
    assert forge("skill", "grant", "to-refuse").code == 2


def test_all_that_is_asked_for_can_be_granted_at_once(forge: Terminal, tmp_path: Path):
    install(forge, write_skill(tmp_path, "to-grant", capabilities="kv log"))
    assert forge("skill", "grant", "to-grant", "--yes", "--json").data["granted"] == ["kv", "log"]


def test_trust_is_raised_after_a_question_and_lowered_without(forge: Terminal, tmp_path: Path):
    install(forge, write_skill(tmp_path, "to-trust"))
    said = forge("skill", "trust", "to-trust", "verified", stdin="y\n")
    assert (said.code, "you have read it" in said.err, "--yes" in said.err) == (2, True, True)
    assert forge("skill", "inspect", "to-trust", "--json").data["tier"] == "untrusted"
    assert forge("skill", "trust", "to-trust", "verified", "--yes", "--json").data["tier"] == "verified"
    assert forge("skill", "trust", "to-trust", "untrusted", "--json").data["tier"] == "untrusted"


def test_failing_test_exits_with_one(forge: Terminal, tmp_path: Path):
    cases = {"right": {"heard": "right"}, "wrong": {"heard": "else"}}
    install(forge, write_skill(tmp_path, "to-test", cases=cases))
    said = forge("skill", "test", "to-test")
    assert (said.code, "● passed right" in said.out, "● failed wrong\n  " in said.out) == (1, True, True)
    report = forge("skill", "test", "to-test", "--json")
    assert (report.code, report.data["passed"], len(report.data["cases"])) == (1, False, 2)


def test_a_skill_without_tests_says_so(forge: Terminal, tmp_path: Path):
    install(forge, write_skill(tmp_path, "to-believe"))
    said = forge("skill", "test", "to-believe")
    assert (said.code, "The skill has no tests" in said.out, said.err) == (1, True, "")
    followed = forge("skill", "test", "summarize")
    assert (followed.code, followed.out) == (0, "● passed SKILL.md\n")


def test_triggers_that_could_not_be_tried_did_not_pass(forge: Terminal):
    said = forge("skill", "test", "summarize", "--triggers")
    assert (said.code, said.out) == (1, "● passed SKILL.md\n")
    assert said.err.startswith("The triggers were not tested: There is no key")


def test_a_folder_is_validated_before_it_is_installed(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "to-check", capabilities="kv")
    for given in (str(folder), str(folder / "SKILL.md")):
        said = forge("skill", "validate", given)
        assert (said.code, "is a skill. It asks for kv." in said.out) == (0, True)
    (folder / "SKILL.md").write_text("---\nname: other\ndescription: x\n---\n")
    said = forge("skill", "validate", str(folder))
    assert (said.code, "● SKILL.md:2 `name` is other" in said.out) == (2, True)
    checked = forge("skill", "validate", str(folder), "--json")
    assert (checked.code, checked.data["valid"], checked.data["problems"][0]["line"]) == (2, False, 2)
    assert forge("skill", "inspect", "to-check").code == 5


def test_files_that_are_no_text_are_validated_too(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "to-picture")
    (folder / "logo.png").write_bytes(b"\x89PNG\xff\x00")
    assert forge("skill", "validate", str(folder)).code == 0
    (folder / "SKILL.md").write_text("no front matter")
    assert forge("skill", "validate", str(folder)).code == 2


def test_an_archive_is_validated_when_one_skill_is_in_it(
    forge: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    files = read_folder(write_skill(tmp_path, "to-unpack", capabilities="kv")).files
    Path("pack.zip").write_bytes(pack(files, below="to-unpack"))
    said = forge("skill", "validate", "pack.zip")
    assert (said.code, said.out) == (0, "pack.zip is a skill. It asks for kv.\n")
    write_skill(tmp_path, "to-pack")
    Path("two.zip").write_bytes(pack({k: v for k, v in read_folder(tmp_path).files.items() if "/" in k}))
    said = forge("skill", "validate", "./two.zip")
    assert (said.code, "There are 2 skills in it." in said.err) == (2, True)
    assert forge("skill", "validate", "none.zip").code == 5


def test_what_is_no_folder_of_a_skill_cannot_be_validated(forge: Terminal, tmp_path: Path):
    assert forge("skill", "validate", str(tmp_path)).code == 2
    assert forge("skill", "validate", str(tmp_path / "none")).code == 5
    (tmp_path / "Odd Name").mkdir()
    (tmp_path / "Odd Name" / "SKILL.md").write_text("x")
    assert forge("skill", "validate", str(tmp_path / "Odd Name")).code == 2
    assert forge("skill", "validate", "nobody").code == 5
    assert forge("skill", "validate", "summarize").code == 0


def test_a_skill_is_exported_and_comes_back_as_it_was(
    forge: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    before = make(forge, "to-carry", "--kind", "script")
    said = forge("skill", "export", "to-carry")
    assert (said.code, said.out, said.err) == (0, "", "Wrote to-carry.zip.\n")
    with zipfile.ZipFile(io.BytesIO(Path("to-carry.zip").read_bytes())) as archive:
        assert {f"to-carry/{file['path']}" for file in before["files"]} == set(archive.namelist())
    assert forge("skill", "export", "to-carry").code == 6
    assert forge("skill", "export", "to-carry", "--output", str(tmp_path / "none" / "x.zip")).code == 2
    assert forge("skill", "export", "to-carry", "--output", "other.zip").code == 0
    assert forge("skill", "remove", "to-carry", "--yes").code == 0
    assert forge("skill", "install", "./other.zip").code == 0
    assert forge("skill", "inspect", "to-carry", "--json").data["folder_hash"] == before["folder_hash"]


def test_removal_asks_for_confirmation(server: Server, forge: Terminal):
    make(forge, "to-go")
    nobody = forge("skill", "remove", "to-go", stdin="y\n")
    assert (nobody.code, "Remove to-go?" in nobody.err, "--yes" in nobody.err) == (2, True, True)
    with open_screen(server.data_dir, "skill", "remove", "to-go") as screen:
        screen.wait_for("Remove to-go? [y/N]")
        screen.type("n\n")
        assert screen.end() == 130
    assert forge("skill", "remove", "to-go", "--yes", "--json").data["name"] == "to-go"
    assert forge("skill", "remove", "to-go", "--yes").code == 5
    stays = forge("skill", "remove", "summarize", "--yes")
    assert (stays.code, "comes with Forge and cannot be removed" in stays.err) == (6, True)


def test_unusable_skill_of_a_bot_shows_the_reason(forge: Terminal):
    make(forge, "to-pin", "--kind", "script")
    forge("bots", "create", "Pinned")
    assert "does not have the skill" in forge("skill", "run", "to-pin", "--as", "pinned").err
    said = forge("skill", "attach", "to-pin", "pinned", "--version", "^9")
    why = "skills.toml requires version ^9, but the library has 0.1.0."
    assert (said.code, said.err) == (0, f"It cannot use it yet: {why}\n")
    assert why in forge("skill", "run", "to-pin", "--as", "pinned").err
    forge("skill", "disable", "to-pin", "pinned")
    assert "is disabled for Pinned" in forge("skill", "run", "to-pin", "--as", "pinned").err
    forge("skill", "detach", "to-pin", "pinned")
    fits = forge("skill", "attach", "to-pin", "pinned")
    assert (fits.code, fits.err) == (0, "")
    assert forge("skill", "run", "to-pin", "--as", "pinned").code == 0


def test_a_file_is_edited_in_the_editor_of_the_person(server: Server, forge: Terminal, tmp_path: Path):
    before = make(forge, "to-edit", "--kind", "script", "--language", "js")
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'function run() { return 7; }\\n' > \"$1\"\n")
    editor.chmod(0o755)
    person = Terminal(server.data_dir, EDITOR=str(editor), VISUAL=str(editor))
    saved = person("skill", "edit", "to-edit", "skill.js", "--json").data
    assert saved["folder_hash"] != before["folder_hash"]
    assert [file["path"] for file in saved["files"]] == [file["path"] for file in before["files"]]
    assert forge("skill", "run", "to-edit").out == "7\n"
    assert person("skill", "edit", "to-edit", "skill.js").err == "Nothing was changed.\n"
    assert person("skill", "edit", "to-edit", "none.js").code == 5


def test_what_cannot_be_saved_is_not_lost(server: Server, forge: Terminal, tmp_path: Path):
    make(forge, "to-keep", "--kind", "script", "--language", "js")
    source = server.data_dir / "skills" / "to-keep" / "skill.js"
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\necho mine > \"$1\"; echo theirs > '{source}'\n")
    editor.chmod(0o755)
    person = Terminal(server.data_dir, EDITOR=str(editor), VISUAL=str(editor), TMPDIR=str(tmp_path))
    said = person("skill", "edit", "to-keep", "skill.js")
    assert (said.code, source.read_text()) == (6, "theirs\n")
    kept = Path(said.err.splitlines()[0].removeprefix("What you wrote is in ").removesuffix("."))
    assert kept.read_text() == "mine\n"
    kept.unlink()


def test_the_help_has_a_whole_line_for_each_command(forge: Terminal):
    for group in (("skill",), ("skill", "registry")):
        said = forge(*group, "--help")
        assert (said.code, "..." in said.out.partition("Commands:")[2]) == (0, False), said.out
