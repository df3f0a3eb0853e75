"""`forge skill install` and `update`: from folders, archives, repositories and registries, interactive or not."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.skills.cli.skill_folders import COUNTS, ECHO, write_skill
from tests.support.repositories import make_repository
from tests.support.server import Server
from tests.support.terminal import Terminal, open_screen

from forge.skills.format.zip_archive import pack, read_folder


def granted(forge: Terminal, name: str) -> dict[str, Any]:
    """Return the scopes of the grants in effect."""
    found = forge("skill", "inspect", name, "--json").data
    return {
        one["capability"]: one["scope"] for one in found["grants"] if one["capability"] in found["granted"]
    }


def test_folder_is_uploaded_and_installed_without_grants(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "from-folder", capabilities="kv")
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "x.js").write_text("x")
    (folder / "link").symlink_to("/etc/passwd")
    result = forge("skill", "install", str(folder))
    assert (result.code, "Skipped, not a regular file: link" in result.err) == (0, True)
    assert result.out.startswith("● installed from-folder 1.0.0")
    assert "forge skill grant from-folder" in result.out
    found = forge("skill", "inspect", "from-folder", "--json").data
    assert found["source"] == {"type": "folder", "path": str(folder.resolve())}
    assert (found["tier"], found["state"], found["granted"]) == ("untrusted", "review", [])
    assert {file["path"] for file in found["files"]} == {"SKILL.md", "skill.js"}


def test_only_capabilities_of_the_grant_option_are_granted(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "partly", capabilities="http_get kv log", hosts="a.example.com")
    result = forge(
        "skill",
        "install",
        str(folder),
        "--grant",
        "kv,http_get=b.example.com",
        "--tier",
        "verified",
        "--json",
    )
    assert (result.code, [one["installed"] for one in result.data]) == (0, [True])
    assert result.err == "partly does not request b.example.com; granted anyway.\n"
    scopes = granted(forge, "partly")
    assert (sorted(scopes), scopes["http_get"]["hosts"]) == (["http_get", "kv"], ["b.example.com"])
    assert forge("skill", "inspect", "partly", "--json").data["tier"] == "verified"


def test_yes_grants_all_capabilities_with_a_scope(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "all-of-it", capabilities="http_get get_secret kv", hosts="a.example.com")
    assert forge("skill", "install", str(folder), "--yes").code == 0
    assert sorted(granted(forge, "all-of-it")) == ["http_get", "kv"]


def test_grant_that_is_not_requested_installs_nothing(forge: Terminal, tmp_path: Path):
    result = forge("skill", "install", str(write_skill(tmp_path, "modest")), "--grant", "exec_command")
    assert (result.code, "modest does not request exec_command" in result.err) == (2, True)
    assert forge("skill", "inspect", "modest").code == 5
    assert forge("skill", "install", str(tmp_path / "modest"), "--grant", "kv", "--yes").code == 2


def test_different_skill_of_the_same_name_is_replaced_only_with_force(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "same-name")
    assert forge("skill", "install", str(folder)).code == 0
    again = forge("skill", "install", str(folder))
    assert (again.code, again.out) == (0, "● unchanged same-name 1.0.0\n")
    write_skill(tmp_path, "same-name", version="2.0.0")
    refused = forge("skill", "install", str(folder))
    assert (refused.code, "Version 1.0.0" in refused.out, "--force" in refused.out) == (1, True, True)
    assert forge("skill", "install", str(folder), "--force").out == "● installed same-name 2.0.0\n"
    assert forge("skill", "inspect", "same-name", "--json").data["version"] == "2.0.0"


def test_collection_is_installed_except_for_invalid_skills(forge: Terminal, tmp_path: Path):
    for name in ("col-a", "col-b"):
        write_skill(tmp_path, name)
    (tmp_path / "Col_C").mkdir()
    (tmp_path / "Col_C" / "SKILL.md").write_text("---\nname: Col_C\ndescription: x\n---\n")
    result = forge("skill", "install", str(tmp_path))
    assert (result.code, "The source contains 3 skills." in result.err, "--all" in result.err) == (
        2,
        True,
        True,
    )
    one = forge("skill", "install", str(tmp_path), "--skill", "col-b")
    assert (one.code, one.out) == (0, "● installed col-b 1.0.0\n")
    assert forge("skill", "install", str(tmp_path), "--skill", "col-z").code == 5
    result = forge("skill", "install", str(tmp_path), "--all")
    assert result.code == 1
    assert "● installed col-a 1.0.0" in result.out and "● unchanged col-b" in result.out
    assert "● Col_C: SKILL.md, line 2: " in result.out
    assert result.out.endswith("\n1 installed, 1 unchanged, 1 refused.\n")
    listed = forge("skill", "install", str(tmp_path), "--all", "--json")
    assert (listed.code, {one["name"]: one["installed"] for one in listed.data}) == (
        1,
        {"col-a": True, "col-b": True, "Col_C": False},
    )


def test_failing_source_does_not_stop_the_others(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "third")
    result = forge("skill", "install", str(tmp_path / "none"), "nobody-has-this", str(folder), "--json")
    assert (result.code, [one["name"] for one in result.data]) == (1, ["third"])
    assert "none does not exist." in result.err and "No registry has a skill 'nobody-has-this'" in result.err
    assert forge("skill", "install", str(tmp_path / "none")).code == 5


def test_bare_name_is_never_a_local_folder(forge: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_skill(tmp_path, "local-name")
    monkeypatch.chdir(tmp_path)
    result = forge("skill", "install", "local-name")
    assert (result.code, "forge skill install ./local-name" in result.err) == (5, True)
    assert forge("skill", "install", "./local-name").code == 0


def test_folder_and_skill_names_may_differ_on_install(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "real-name").rename(tmp_path / "real-name-main")
    assert forge("skill", "install", str(folder)).out == "● installed real-name 1.0.0\n"
    (folder / "SKILL.md").write_text("no front matter")
    refused = forge("skill", "install", str(folder))
    assert (refused.code, "SKILL.md, line 1: " in refused.out) == (1, True)


def test_archive_is_uploaded(forge: Terminal, tmp_path: Path):
    archive = tmp_path / "pack.zip"
    archive.write_bytes(pack(read_folder(write_skill(tmp_path, "from-zip")).files, below="from-zip"))
    assert forge("skill", "install", str(archive)).code == 0
    source = forge("skill", "inspect", "from-zip", "--json").data["source"]
    assert source == {
        "type": "zip",
        "name": "pack.zip",
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
    }
    archive.write_bytes(b"no zip")
    assert forge("skill", "install", str(archive)).code == 2


def test_installed_skill_is_attached_to_a_bot(forge: Terminal, tmp_path: Path):
    assert forge("bots", "create", "Porter").code == 0
    result = forge("skill", "install", str(write_skill(tmp_path, "to-porter")), "--attach", "porter")
    assert (result.code, "Attached to-porter to porter." in result.err) == (0, True)
    assert forge("skill", "inspect", "to-porter", "--json").data["bots"] == ["porter"]
    again = forge("skill", "install", str(tmp_path / "to-porter"), "--attach", "porter")
    assert (again.code, again.err) == (0, "to-porter is already attached to porter.\n")
    missing = forge("skill", "install", str(tmp_path / "to-porter"), "--attach", "nobody")
    assert missing.code == 1


def test_skill_is_attached_disabled_enabled_and_detached(forge: Terminal):
    assert forge("bots", "create", "Cook").code == 0
    assert forge("skill", "attach", "summarize", "cook").out == "Attached summarize to cook.\n"
    assert forge("skill", "disable", "summarize", "cook", "--json").data["enabled"] is False
    again = forge("skill", "attach", "summarize", "cook")
    assert (again.code, again.out) == (0, "summarize is already attached to cook.\n")
    assert again.err == "It is disabled for this bot. Enable it: forge skill enable summarize cook\n"
    assert forge("skill", "enable", "summarize", "cook").out == "Enabled summarize for cook.\n"
    assert forge("skill", "detach", "summarize", "cook").code == 0
    for given in (("summarize", "nobody"), ("nothing", "cook"), ("summarize", "../x")):
        assert forge("skill", "attach", *given).code == 5
    assert forge("skill", "detach", "summarize", "cook").code == 5


def test_attaching_again_changes_the_settings(forge: Terminal):
    assert forge("bots", "create", "Tailor").code == 0
    attach = ("skill", "attach", "summarize", "tailor")
    first = forge(*attach, "--set", "region=alpine", "--set", "tone=dry", "--only", "kv,log", "--json").data
    assert (first["overrides"], first["narrowed"], first["pin"]) == (
        {"region": "alpine", "tone": "dry"},
        ["kv", "log"],
        None,
    )
    pinned = forge(*attach, "--version", ">=0.0.1")
    assert (pinned.code, pinned.out) == (0, "Updated summarize for tailor.\n")
    then = forge(*attach, "--set", "tone=", "--set", "length=short", "--only", "all", "--json").data
    assert (then["overrides"], then["narrowed"], then["pin"]) == (
        {"region": "alpine", "length": "short"},
        None,
        ">=0.0.1",
    )
    for wrong in (("--set", "tone"), ("--only", "fly"), ("--version", "soon")):
        assert forge(*attach, *wrong).code == 2


def test_repository_skill_is_installed_and_updated(forge: Terminal, roots: Path):
    repo = roots / "repo"
    repository = make_repository(repo)
    write_skill(repo / "skills", "from-git", COUNTS, capabilities="kv")
    write_skill(repo / "skills", "also-git")
    repository.commit()
    result = forge("skill", "install", f"file://{repo}#skills/from-git", "--yes")
    assert (result.code, result.out) == (0, "● installed from-git 1.0.0\n"), result.err
    assert forge("skill", "update", "from-git").out == "● unchanged from-git 1.0.0\n"
    write_skill(repo / "skills", "from-git", ECHO, capabilities="kv", version="1.1.0")
    repository.commit()
    kept = forge("skill", "update", "from-git", "--keep", "--json")
    assert (kept.code, kept.data[0]["version"], sorted(granted(forge, "from-git"))) == (0, "1.1.0", ["kv"])
    write_skill(repo / "skills", "from-git", ECHO, capabilities="kv", version="1.2.0")
    repository.commit()
    result = forge("skill", "update", "from-git")
    assert (result.code, "installed from-git 1.2.0" in result.out, granted(forge, "from-git")) == (
        0,
        True,
        {},
    )
    lines = [line.split() for line in result.err.splitlines()]
    assert ["replaces", "version", "1.1.0"] in lines and ["changed", "SKILL.md"] in lines


def test_folder_skill_is_updated_from_the_folder(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "again")
    forge("skill", "install", str(folder), "--tier", "verified")
    write_skill(tmp_path, "again", version="1.1.0")
    result = forge("skill", "update", "again", "--json")
    assert (result.code, result.data[0]["version"], result.err) == (0, "1.1.0", "")
    assert forge("skill", "inspect", "again", "--json").data["tier"] == "verified"
    assert "again" in {one["name"] for one in forge("skill", "update", "--all", "--json").data}
    assert forge("skill", "install", str(folder), str(folder)).out.endswith("\n2 unchanged.\n")


def test_untrusted_program_is_not_ready(forge: Terminal, tmp_path: Path):
    folder = tmp_path / "program"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: program\ndescription: Says hello.\nmetadata:\n  forge-kind: local\n---\nHello.\n"
    )
    (folder / "scripts" / "run.sh").write_text("echo 1\n")
    result = forge("skill", "install", str(folder), "--yes")
    assert (result.code, result.out) == (
        0,
        "● installed program 0.1.0 (It is a program, and programs run only at the tier local.)\n"
        "  If you have reviewed it: forge skill trust program local\n",
    )
    assert forge("skill", "trust", "program", "local", "--yes", "--json").data["state"] == "ready"


def test_skill_without_a_source_cannot_be_updated(forge: Terminal):
    forge("skill", "create", "--blank", "own", "--description", "Mine.")
    assert forge("skill", "update", "own").code in (2, 6)
    assert forge("skill", "update").code == 2
    assert forge("skill", "update", "own", "--all").code == 2
    assert forge("skill", "update", "own", "--keep", "--yes").code == 2


def test_registry_is_added_searched_and_installed_from(forge: Terminal, roots: Path, tmp_path: Path):
    zipped = pack(read_folder(write_skill(tmp_path, "listed")).files, below="listed")
    for name in ("acme", "other"):
        (roots / name).mkdir()
        (roots / name / "listed.zip").write_bytes(zipped)
        offer = {
            "name": "listed",
            "version": "1.0.0",
            "description": "Does it.",
            "kind": "script",
            "url": "listed.zip",
        }
        offer["sha256"] = hashlib.sha256(zipped).hexdigest()
        index = {"forge_registry": 1, "name": name, "skills": [offer]}
        (roots / name / "index.json").write_text(json.dumps(index))
        added = forge("skill", "registry", "add", name, str(roots / name / "index.json"), "--json")
        assert (added.code, added.data["skills"]) == (0, 1), added.err
    assert [one["name"] for one in forge("skill", "registry", "list", "--json").data] == ["acme", "other"]
    assert "acme" in forge("skill", "registry", "list").out
    found = forge("skill", "search", "listed", "--json").data
    assert {(one["registry"], one["installed"]) for one in found} == {("acme", None), ("other", None)}
    assert "acme:listed" in forge("skill", "search", "listed").out
    assert len(forge("skill", "search", "--json").data) == 2
    odd = forge("skill", "registry", "add", "Odd name", str(roots / "acme" / "index.json"))
    assert (odd.code, "'Odd name' is not a valid registry name" in odd.err) == (2, True)
    both = forge("skill", "install", "listed")
    assert (both.code, "Choose one: acme:listed, other:listed" in both.err) == (2, True)
    near = forge("skill", "install", "liste")
    assert (near.code, "Did you mean acme:listed?" in near.err) == (5, True)
    assert forge("skill", "install", "acme:listed").out == "● installed listed 1.0.0\n"
    source = forge("skill", "inspect", "listed", "--json").data["source"]
    assert (source["type"], source["registry"], source["version"]) == ("registry", "acme", "1.0.0")
    assert forge("skill", "install", "acme:listed@9.9.9").code == 5
    assert forge("skill", "registry", "refresh").code == 0
    (roots / "other" / "index.json").unlink()
    missed = forge("skill", "registry", "refresh", "--json")
    assert (missed.code, [bool(one["problem"]) for one in missed.data]) == (1, [False, True])
    assert (
        forge("skill", "registry", "refresh").err
        == "other could not be fetched; the previous index stays in use.\n"
    )
    assert forge("skill", "registry", "refresh", "acme").code == 0
    assert forge("skill", "registry", "remove", "other").out == "Removed other.\n"
    assert forge("skill", "registry", "remove", "other").code == 5
    assert forge("skill", "registry", "refresh", "other").code == 5
    assert forge("skill", "install", "listed", "--force").code == 0


def test_terminal_asks_about_each_capability(server: Server, forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "asked", capabilities="http_get kv", hosts="a.example.com")
    with open_screen(server.data_dir, "skill", "install", str(folder)) as screen:
        screen.wait_for("Grant http_get? [y/N]")
        assert "asked 1.0.0" in screen.text and "Requested: a.example.com" in screen.text
        screen.type("\n")
        screen.wait_for("Grant kv? [y/N]")
        screen.type("y\n")
        screen.wait_for("installed asked 1.0.0")
        assert screen.end() == 0
    assert list(granted(forge, "asked")) == ["kv"]
    write_skill(tmp_path, "asked", capabilities="kv", version="2.0.0")
    with open_screen(server.data_dir, "skill", "install", str(folder)) as screen:
        screen.wait_for("Replace version 1.0.0? [y/N]")
        screen.type("n\n")
        screen.wait_for("asked: Not replaced.")
        assert screen.end() == 1
    assert forge("skill", "inspect", "asked", "--json").data["version"] == "1.0.0"
    with open_screen(server.data_dir, "skill", "update", "asked") as screen:
        screen.wait_for("Previously granted.")
        screen.wait_for("Grant kv? [y/N]")
        screen.type("y\n")
        assert screen.end() == 0
    assert list(granted(forge, "asked")) == ["kv"]
    assert forge("skill", "inspect", "asked", "--json").data["version"] == "2.0.0"


def test_terminal_asks_which_skills_of_a_collection_to_install(
    server: Server, forge: Terminal, tmp_path: Path
):
    for name in ("pick-a", "pick-b"):
        write_skill(tmp_path, name)
    with open_screen(server.data_dir, "skill", "install", str(tmp_path)) as screen:
        screen.wait_for("Which skills (separated by spaces), or all?")
        screen.type("pick-b\n")
        assert screen.end() == 0
    assert forge("skill", "inspect", "pick-a").code == 5
    assert forge("skill", "inspect", "pick-b").code == 0
