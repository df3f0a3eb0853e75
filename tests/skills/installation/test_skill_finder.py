"""Finding skills in a tree of files: each once, complete, and with its problems."""

import pytest

from forge.skills.format.validation import validate
from forge.skills.installation.skill_finder import FoundSkill, find_skills


def manifest(name: str, more: str = "") -> bytes:
    return f"---\nname: {name}\ndescription: Does {name}.\n{more}---\n\nDo it well.\n".encode()


def messages(found: FoundSkill) -> list[str]:
    return [problem.message for problem in found.problems]


def reason(found: FoundSkill) -> str | None:
    """Return the message of the problem that prevents the installation."""
    if found.mistake:
        return found.mistake.message
    report = validate(found.name, found.files)
    return next((problem.message for problem in report.problems if not problem.is_warning), None)


def test_folder_with_a_manifest_is_a_skill_with_all_files_below():
    files = {
        "README.md": b"Skills.",
        "skills/notes/SKILL.md": manifest("notes"),
        "skills/notes/scripts/run.py": b"print()\n",
        "skills/notes/examples/inner/SKILL.md": manifest("inner"),
        "more/deep/down/tables/SKILL.md": manifest("tables"),
        "more/deep/README.md": b"x",
    }
    assert find_skills(files) == [
        FoundSkill("tables", "more/deep/down/tables", {"SKILL.md": manifest("tables")}, []),
        FoundSkill(
            "notes",
            "skills/notes",
            {
                "SKILL.md": manifest("notes"),
                "examples/inner/SKILL.md": manifest("inner"),
                "scripts/run.py": b"print()\n",
            },
            [],
        ),
    ]


@pytest.mark.parametrize("prefix", ["", "notes-main/"])
def test_skill_at_the_root_is_named_by_its_manifest(prefix: str):
    found = find_skills({f"{prefix}SKILL.md": manifest("notes"), f"{prefix}a.md": b"a"})
    assert [(one.name, one.path, sorted(one.files)) for one in found] == [
        ("notes", prefix.strip("/"), ["SKILL.md", "a.md"])
    ]


def test_search_can_be_limited_to_a_folder():
    files = {
        "SKILL.md": manifest("all"),
        "skills/a/SKILL.md": manifest("a"),
        "skills/ab/SKILL.md": manifest("ab"),
    }
    assert [one.path for one in find_skills(files)] == [""]
    assert [one.path for one in find_skills(files, below="skills")] == ["skills/a", "skills/ab"]
    assert [one.path for one in find_skills(files, below="skills/a")] == ["skills/a"]
    assert find_skills(files, below="nowhere") == []


def test_lowercase_skill_md_is_renamed():
    (found,) = find_skills({"x/notes/skill.md": manifest("notes"), "y": b""})
    assert found.files == {"SKILL.md": manifest("notes")}


def test_refused_file_is_a_problem_only_of_its_skill():
    files = {"a/SKILL.md": manifest("a"), "b/SKILL.md": manifest("b")}
    a, b = find_skills(files, refused={"a/secret": "it is a link.", "c/other": "it is a link."})
    assert messages(a) == ["secret: it is a link."]
    assert a.mistake
    assert b.problems == []


def test_cache_files_are_skipped_with_a_warning():
    files = {
        "a/SKILL.md": manifest("a"),
        "a/__pycache__/x.pyc": b"x",
        "a/node_modules/b/SKILL.md": manifest("b"),
    }
    (found,) = find_skills(files)
    assert found.files == {"SKILL.md": manifest("a")}
    assert messages(found) == ["__pycache__/x.pyc and 1 more is not part of a skill and is left out."]
    assert found.mistake is None


def test_folder_is_renamed_to_the_name_in_the_manifest():
    (found,) = find_skills({"x/Old_Name/SKILL.md": manifest("notes"), "y": b""})
    assert (found.name, found.path, reason(found)) == ("notes", "x/Old_Name", None)
    assert messages(found) == ["Its folder Old_Name is renamed to notes, the name in its manifest."]


UNUSUAL: dict[str, tuple[dict[str, bytes], str | None]] = {
    "plain": ({"SKILL.md": manifest("plain")}, None),
    "windows": ({"SKILL.md": manifest("windows").replace(b"\n", b"\r\n")}, None),
    "marked": ({"SKILL.md": b"\xef\xbb\xbf" + manifest("marked")}, None),
    "extra": ({"SKILL.md": manifest("extra", "model: fast\ntags: [a, b]\n")}, None),
    "tiered": ({"SKILL.md": manifest("tiered", "metadata:\n  forge-tier: local\n")}, None),
    "binary": ({"SKILL.md": manifest("binary"), "logo.png": b"\x89PNG\xff\x00"}, None),
    "built": ({"SKILL.md": manifest("built"), "dist/run.js": b"run()"}, None),
    "Capital": ({"SKILL.md": manifest("Capital")}, "`name` has an invalid format."),
    "two--hyphens": ({"SKILL.md": manifest("two--hyphens")}, "`name` has an invalid format."),
    "nameless": ({"SKILL.md": b"---\ndescription: x\n---\n"}, "`name` is missing."),
    "silent": ({"SKILL.md": b"---\nname: silent\n---\n"}, "`description` is missing."),
    "bare": ({"SKILL.md": b"# Bare\n"}, "The file does not start with front matter."),
    "latin": (
        {"SKILL.md": b"---\nname: latin\ndescription: caf\xe9\n---\n"},
        "Its SKILL.md is not text in UTF-8.",
    ),
    "long": ({"SKILL.md": manifest("long") + bytes(b"x" * 200_000)}, "SKILL.md has more than 200 kB."),
    "many": (
        {"SKILL.md": manifest("many"), **{f"{n}.md": b"x" for n in range(200)}},
        "The skill has more than 200 files.",
    ),
    "twins": (
        {"SKILL.md": manifest("twins"), "a.md": b"1", "A.md": b"2"},
        "On some systems a.md and A.md are the same file.",
    ),
    "hidden": ({"SKILL.md": manifest("hidden"), ".GIT/hooks/x": b"x"}, "'.GIT' is protected"),
}


def test_unusual_skills_are_accepted_or_rejected_with_the_reason():
    tree = {
        f"skills/{name}/{path}": data for name, (files, _) in UNUSUAL.items() for path, data in files.items()
    }
    found = {one.name: reason(one) for one in find_skills(tree)}
    assert found.keys() == UNUSUAL.keys()
    for name, (_, expected) in UNUSUAL.items():
        assert (found[name] is None) == (expected is None), (name, found[name])
        assert found[name] is None or (expected or "") in str(found[name]), (name, found[name])


def test_two_thousand_skills_are_found():
    tree = {
        f"s/skill-{n}/{path}": manifest(f"skill-{n}")
        for n in range(2000)
        for path in ("SKILL.md", "a/b/c.md")
    }
    found = find_skills(tree)
    assert len(found) == 2000
    assert all(len(one.files) == 2 for one in found)
