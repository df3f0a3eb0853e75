"""`forge skill install` and `update`: from folders, archives, repositories and registries, with and without a person."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.skills.cli.making import COUNTS, ECHO, write_skill
from tests.support.repositories import make_repository
from tests.support.server import Server
from tests.support.terminal import Terminal, open_screen

from forge.skills.format.zip_archive import pack, read_folder


def granted(forge: Terminal, name: str) -> dict[str, Any]:
    """What counts, and how far."""
    found = forge("skill", "inspect", name, "--json").data
    return {
        one["capability"]: one["scope"] for one in found["grants"] if one["capability"] in found["granted"]
    }


def test_a_folder_is_sent_and_installed_without_a_single_grant(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "from-folder", capabilities="kv")
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "x.js").write_text("x")
    (folder / "link").symlink_to("/etc/passwd")
    said = forge("skill", "install", str(folder))
    assert (said.code, "Left out, as it is no file: link" in said.err) == (0, True)
    assert said.out.startswith("● installed from-folder 1.0.0")
    assert "forge skill grant from-folder" in said.out
    found = forge("skill", "inspect", "from-folder", "--json").data
    assert found["source"] == {"type": "folder", "path": str(folder.resolve())}
    assert (found["tier"], found["state"], found["granted"]) == ("untrusted", "review", [])
    assert {file["path"] for file in found["files"]} == {"SKILL.md", "skill.js"}


def test_what_is_said_is_granted_and_nothing_else(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "said", capabilities="http_get kv log", hosts="a.example.com")
    said = forge(
        "skill",
        "install",
        str(folder),
        "--grant",
        "kv,http_get=b.example.com",
        "--tier",
        "verified",
        "--json",
    )
    assert (said.code, [one["installed"] for one in said.data]) == (0, [True])
    assert said.err == "said: It does not ask for b.example.com; granted as you said.\n"
    scopes = granted(forge, "said")
    assert (sorted(scopes), scopes["http_get"]["hosts"]) == (["http_get", "kv"], ["b.example.com"])
    assert forge("skill", "inspect", "said", "--json").data["tier"] == "verified"


def test_yes_grants_all_that_says_how_far(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "all-of-it", capabilities="http_get get_secret kv", hosts="a.example.com")
    assert forge("skill", "install", str(folder), "--yes").code == 0
    assert sorted(granted(forge, "all-of-it")) == ["http_get", "kv"]


def test_grant_that_is_not_requested_installs_nothing(forge: Terminal, tmp_path: Path):
    said = forge("skill", "install", str(write_skill(tmp_path, "modest")), "--grant", "exec_command")
    assert (said.code, "modest does not ask for exec_command" in said.err) == (2, True)
    assert forge("skill", "inspect", "modest").code == 5
    assert forge("skill", "install", str(tmp_path / "modest"), "--grant", "kv", "--yes").code == 2


def test_another_of_the_same_name_is_replaced_by_force_only(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "same-name")
    assert forge("skill", "install", str(folder)).code == 0
    again = forge("skill", "install", str(folder))
    assert (again.code, again.out) == (0, "● unchanged same-name 1.0.0\n")
    write_skill(tmp_path, "same-name", version="2.0.0")
    refused = forge("skill", "install", str(folder))
    assert (refused.code, "version 1.0.0" in refused.out, "--force" in refused.out) == (1, True, True)
    assert forge("skill", "install", str(folder), "--force").out == "● installed same-name 2.0.0\n"
    assert forge("skill", "inspect", "same-name", "--json").data["version"] == "2.0.0"


def test_a_collection_is_installed_and_a_bad_one_stops_no_other(forge: Terminal, tmp_path: Path):
    for name in ("col-a", "col-b"):
        write_skill(tmp_path, name)
    (tmp_path / "Col_C").mkdir()
    (tmp_path / "Col_C" / "SKILL.md").write_text("---\nname: Col_C\ndescription: x\n---\n")
    asked = forge("skill", "install", str(tmp_path))
    assert (asked.code, "There are 3 skills in it." in asked.err, "--all" in asked.err) == (2, True, True)
    one = forge("skill", "install", str(tmp_path), "--skill", "col-b")
    assert (one.code, one.out) == (0, "● installed col-b 1.0.0\n")
    assert forge("skill", "install", str(tmp_path), "--skill", "col-z").code == 5
    every = forge("skill", "install", str(tmp_path), "--all")
    assert every.code == 1
    assert "● installed col-a 1.0.0" in every.out and "● unchanged col-b" in every.out
    assert "● Col_C: SKILL.md, line 2: " in every.out
    assert every.out.endswith("\n1 installed, 1 unchanged, 1 refused.\n")
    told = forge("skill", "install", str(tmp_path), "--all", "--json")
    assert (told.code, {one["name"]: one["installed"] for one in told.data}) == (
        1,
        {"col-a": True, "col-b": True, "Col_C": False},
    )


def test_several_sources_are_each_tried(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "third")
    said = forge("skill", "install", str(tmp_path / "none"), "nobody-has-this", str(folder), "--json")
    assert (said.code, [one["name"] for one in said.data]) == (1, ["third"])
    assert "There is no " in said.err and "No registry has a skill 'nobody-has-this'" in said.err
    assert forge("skill", "install", str(tmp_path / "none")).code == 5


def test_bare_name_is_never_a_local_folder(forge: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_skill(tmp_path, "local-name")
    monkeypatch.chdir(tmp_path)
    said = forge("skill", "install", "local-name")
    assert (said.code, "forge skill install ./local-name" in said.err) == (5, True)
    assert forge("skill", "install", "./local-name").code == 0


def test_folder_and_skill_names_may_differ_on_install(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "real-name").rename(tmp_path / "real-name-main")
    assert forge("skill", "install", str(folder)).out == "● installed real-name 1.0.0\n"
    (folder / "SKILL.md").write_text("no front matter")
    refused = forge("skill", "install", str(folder))
    assert (refused.code, "SKILL.md, line 1: " in refused.out) == (1, True)


def test_an_archive_is_sent(forge: Terminal, tmp_path: Path):
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


def test_a_skill_is_given_to_a_bot_when_it_is_installed(forge: Terminal, tmp_path: Path):
    assert forge("bots", "create", "Porter").code == 0
    said = forge("skill", "install", str(write_skill(tmp_path, "to-porter")), "--attach", "porter")
    assert (said.code, "porter has to-porter now." in said.err) == (0, True)
    assert forge("skill", "inspect", "to-porter", "--json").data["bots"] == ["porter"]
    again = forge("skill", "install", str(tmp_path / "to-porter"), "--attach", "porter")
    assert (again.code, again.err) == (0, "porter has to-porter already.\n")
    missing = forge("skill", "install", str(tmp_path / "to-porter"), "--attach", "nobody")
    assert missing.code == 1


def test_a_bot_gets_loses_and_pauses_a_skill(forge: Terminal):
    assert forge("bots", "create", "Cook").code == 0
    assert forge("skill", "attach", "summarize", "cook").out == "cook has summarize now.\n"
    assert forge("skill", "disable", "summarize", "cook", "--json").data["enabled"] is False
    again = forge("skill", "attach", "summarize", "cook")
    assert (again.code, again.out) == (0, "cook has summarize already.\n")
    assert again.err == "It is disabled for it: forge skill enable summarize cook\n"
    assert forge("skill", "enable", "summarize", "cook").out == "cook uses summarize from now on.\n"
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
    assert (pinned.code, pinned.out) == (0, "tailor has summarize as you said now.\n")
    then = forge(*attach, "--set", "tone=", "--set", "length=short", "--only", "all", "--json").data
    assert (then["overrides"], then["narrowed"], then["pin"]) == (
        {"region": "alpine", "length": "short"},
        None,
        ">=0.0.1",
    )
    for wrong in (("--set", "tone"), ("--only", "fly"), ("--version", "soon")):
        assert forge(*attach, *wrong).code == 2


def test_a_repository_is_fetched_and_fetched_again(forge: Terminal, roots: Path):
    repo = roots / "repo"
    made = make_repository(repo)
    write_skill(repo / "skills", "from-git", COUNTS, capabilities="kv")
    write_skill(repo / "skills", "also-git")
    made.commit()
    said = forge("skill", "install", f"file://{repo}#skills/from-git", "--yes")
    assert (said.code, said.out) == (0, "● installed from-git 1.0.0\n"), said.err
    assert forge("skill", "update", "from-git").out == "● unchanged from-git 1.0.0\n"
    write_skill(repo / "skills", "from-git", ECHO, capabilities="kv", version="1.1.0")
    made.commit()
    kept = forge("skill", "update", "from-git", "--keep", "--json")
    assert (kept.code, kept.data[0]["version"], sorted(granted(forge, "from-git"))) == (0, "1.1.0", ["kv"])
    write_skill(repo / "skills", "from-git", ECHO, capabilities="kv", version="1.2.0")
    made.commit()
    said = forge("skill", "update", "from-git")
    assert (said.code, "installed from-git 1.2.0" in said.out, granted(forge, "from-git")) == (0, True, {})
    told = [line.split() for line in said.err.splitlines()]
    assert ["replaces", "version", "1.1.0"] in told and ["different", "SKILL.md"] in told


def test_a_folder_is_sent_again(forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "again")
    forge("skill", "install", str(folder), "--tier", "verified")
    write_skill(tmp_path, "again", version="1.1.0")
    said = forge("skill", "update", "again", "--json")
    assert (said.code, said.data[0]["version"], said.err) == (0, "1.1.0", "")
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
    said = forge("skill", "install", str(folder), "--yes")
    assert (said.code, said.out) == (
        0,
        "● installed program 0.1.0 (It is a program, and programs run only at the tier local.)\n"
        "  If you have reviewed it: forge skill trust program local\n",
    )
    assert forge("skill", "trust", "program", "local", "--yes", "--json").data["state"] == "ready"


def test_what_was_made_here_comes_from_nowhere(forge: Terminal):
    forge("skill", "create", "--blank", "own", "--description", "Mine.")
    assert forge("skill", "update", "own").code in (2, 6)
    assert forge("skill", "update").code == 2
    assert forge("skill", "update", "own", "--all").code == 2
    assert forge("skill", "update", "own", "--keep", "--yes").code == 2


def test_a_registry_is_added_searched_and_installed_from(forge: Terminal, roots: Path, tmp_path: Path):
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
    assert (odd.code, "cannot be called 'Odd name'" in odd.err) == (2, True)
    both = forge("skill", "install", "listed")
    assert (both.code, "Say which: acme:listed, other:listed" in both.err) == (2, True)
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
    assert missed.err == "other could not be fetched; what was fetched before is used.\n"
    assert forge("skill", "registry", "refresh", "acme").code == 0
    assert forge("skill", "registry", "remove", "other").out == "Removed other.\n"
    assert forge("skill", "registry", "remove", "other").code == 5
    assert forge("skill", "registry", "refresh", "other").code == 5
    assert forge("skill", "install", "listed", "--force").code == 0


def test_a_person_at_a_terminal_is_asked_one_by_one(server: Server, forge: Terminal, tmp_path: Path):
    folder = write_skill(tmp_path, "asked", capabilities="http_get kv", hosts="a.example.com")
    with open_screen(server.data_dir, "skill", "install", str(folder)) as screen:
        screen.wait_for("Grant http_get? [y/N]")
        assert "asked 1.0.0" in screen.text and "Asked for: a.example.com" in screen.text
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
        screen.wait_for("asked: It was left as it is.")
        assert screen.end() == 1
    assert forge("skill", "inspect", "asked", "--json").data["version"] == "1.0.0"
    with open_screen(server.data_dir, "skill", "update", "asked") as screen:
        screen.wait_for("It was granted until now.")
        screen.wait_for("Grant kv? [y/N]")
        screen.type("y\n")
        assert screen.end() == 0
    assert list(granted(forge, "asked")) == ["kv"]
    assert forge("skill", "inspect", "asked", "--json").data["version"] == "2.0.0"


def test_a_person_chooses_from_a_collection(server: Server, forge: Terminal, tmp_path: Path):
    for name in ("pick-a", "pick-b"):
        write_skill(tmp_path, name)
    with open_screen(server.data_dir, "skill", "install", str(tmp_path)) as screen:
        screen.wait_for("Which, with blanks between, or all?")
        screen.type("pick-b\n")
        assert screen.end() == 0
    assert forge("skill", "inspect", "pick-a").code == 5
    assert forge("skill", "inspect", "pick-b").code == 0
