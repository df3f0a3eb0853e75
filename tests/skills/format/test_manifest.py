"""Parsing and rendering of SKILL.md: problems have their line, and other clients can read the result."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from forge.skills.format.manifest import MAX_SKILL_MD, ParsedSkill, read_skill_md, write_skill_md
from forge.skills.models import Capability, Manifest, SkillKind


def skill_md(*lines: str, body: str = "# How\n") -> str:
    return "\n".join(["---", *lines, "---", "", body])


def messages(reading: ParsedSkill) -> list[str]:
    return [
        f"{problem.line} {'warning' if problem.is_warning else 'error'}: {problem.message}"
        for problem in reading.problems
    ]


NAMED = ("name: notes", "description: Takes notes.")


def test_all_six_fields_are_read():
    text = skill_md(
        *NAMED,
        "license: MIT",
        "compatibility: Needs Python",
        "allowed-tools: Read Bash(git:*)",
        "metadata:",
        '  version: "1.2"',
        "  forge-kind: script",
        "  forge-capabilities: kv log",
        "  categories: coding research",
    )
    found = read_skill_md(text, "notes")
    assert found.problems == []
    assert found.body == "# How\n"
    assert found.manifest
    assert found.manifest.allowed_tools == "Read Bash(git:*)"
    assert found.manifest.model_copy(update={"allowed_tools": None}) == Manifest(
        name="notes",
        description="Takes notes.",
        license="MIT",
        compatibility="Needs Python",
        metadata={
            "version": "1.2",
            "forge-kind": "script",
            "forge-capabilities": "kv log",
            "categories": "coding research",
        },
    )
    assert (found.manifest.kind, found.manifest.version) == (SkillKind.SCRIPT, "1.2")
    assert found.manifest.capabilities == [Capability.KV, Capability.LOG]
    assert found.manifest.categories == ["coding", "research"]


@pytest.mark.parametrize(
    ("lines", "problems"),
    [
        (("name: notes",), ["1 error: `description` is missing."]),
        (("description: x",), ["1 error: `name` is missing."]),
        (("name: notes", "description:"), ["3 error: `description` must not be empty."]),
        (("name: notes", "description: '  '"), ["3 error: `description` must not be empty."]),
        (("name: notes", "description: [a]"), ["3 error: `description` must be a string."]),
        (("name: other", "description: x"), ["2 error: `name` is other, but the folder is notes."]),
        (("name: Notes", "description: x"), ["2 error: `name` has an invalid format."]),
        (("name: '../notes'", "description: x"), ["2 error: `name` has an invalid format."]),
        (('name: "notes\\n"', "description: x"), ["2 error: `name` has an invalid format."]),
        (("name: a--b", "description: x"), ["2 error: `name` has an invalid format."]),
        ((f"name: {'a' * 65}", "description: x"), ["2 error: `name` must have at most 64 characters."]),
        (
            ("name: notes", f"description: {'x' * 1025}"),
            ["3 error: `description` has 1,025 characters; the maximum is 1,024."],
        ),
        (
            (*NAMED, f"compatibility: {'x' * 501}"),
            ["4 error: `compatibility` has 501 characters; the maximum is 500."],
        ),
        ((*NAMED, "metadata: [a]"), ["4 error: `metadata` must be a mapping of strings."]),
        ((*NAMED, "name: twice"), ["4 error: Duplicate key `name`."]),
        ((*NAMED, "license: &a MIT"), ["4 error: Anchors (&) and aliases (*) are not supported."]),
        ((*NAMED, "license: !!python/object:os.system MIT"), ["4 error: Tags (!) are not supported."]),
        (("name: notes", "description: a: b"), None),
        (("- name",), ["2 error: The front matter must be a mapping."]),
    ],
)
def test_violations_of_the_standard_are_reported_with_their_line(
    lines: tuple[str, ...], problems: list[str] | None
):
    found = read_skill_md(skill_md(*lines), "notes")
    assert found.manifest is None
    assert found.mistake
    if problems is not None:
        assert messages(found) == problems


def test_extensions_of_other_clients_are_read_with_a_warning():
    text = skill_md(
        *NAMED,
        "allowed-tools: [Read, Write]",
        "user-invocable: true",
        "metadata:",
        "  version: 1.0",
        "  since: 2026-01-01",
        "  is-good: yes",
        "  tags: [a, b]",
        "  deep: {a: {b: c}}",
        "  empty:",
        "  text: 'plain'",
    )
    found = read_skill_md(text, "notes")
    assert messages(found) == [
        "4 warning: `allowed-tools` is a list; the standard expects a string separated by spaces.",
        "5 warning: `user-invocable` is not a field of the standard.",
        "7 warning: `metadata.version` is a number; it must be a string.",
        "8 warning: `metadata.since` is a date; it must be a string.",
        "9 warning: `metadata.is-good` is a boolean; it must be a string.",
        "10 warning: `metadata.tags` is a list; it must be a string.",
        "11 warning: `metadata.deep` is a mapping; it must be a string.",
        "12 warning: `metadata.empty` is empty; it must be a string.",
    ]
    assert found.manifest
    assert found.manifest.allowed_tools == "Read Write"
    assert found.manifest.metadata == {
        "version": "1.0",
        "since": "2026-01-01",
        "is-good": "yes",
        "tags": "a b",
        "deep": '{"a": {"b": "c"}}',
        "empty": "",
        "text": "plain",
    }


def test_unknown_kind_and_capability_are_warnings():
    text = skill_md(*NAMED, "metadata:", "  forge-kind: rocket", "  forge-capabilities: log fly", body=" \n")
    found = read_skill_md(text, "notes")
    assert messages(found) == [
        "1 warning: There are no instructions.",
        "5 warning: `metadata.forge-kind` is not a kind of skill; `prompt` is assumed.",
        "6 warning: There is no capability `fly`; it is ignored.",
    ]
    assert found.manifest
    assert (found.manifest.kind, found.manifest.capabilities) == (SkillKind.PROMPT, [Capability.LOG])


def test_byte_order_mark_and_crlf_are_accepted():
    found = read_skill_md("\ufeff" + skill_md(*NAMED).replace("\n", "\r\n"), "notes")
    assert (found.problems, found.body) == ([], "# How\r\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("# Notes\n", 1),
        ("---\nname: notes\n", 1),
        ("---\nname: notes\ndescription: a\x00b\n---\n", 3),
        ("---\nname: notes\ndescription: a\ud800b\n---\n", 3),
        ("---\nname: notes\ndescription: " + "[" * 100_000 + "\n---\n", 3),
        ("---\nname: notes\ndescription: x\n---\n" + "x" * MAX_SKILL_MD, 1),
    ],
)
def test_unreadable_skill_md_is_reported_as_one_problem(text: str, line: int):
    found = read_skill_md(text, "notes")
    assert found.manifest is None
    assert [problem.line for problem in found.problems] == [line]


def test_yaml_alias_bomb_is_rejected():
    levels = [f"l{n}: &l{n} [{', '.join(['*l' + str(n - 1)] * 10)}]" for n in range(1, 20)]
    found = read_skill_md(skill_md(*NAMED, "l0: &l0 lol", *levels), "notes")
    assert messages(found) == ["4 error: Anchors (&) and aliases (*) are not supported."]


def test_warnings_about_unknown_fields_are_limited():
    found = read_skill_md(skill_md(*NAMED, *(f"key-{n}: x" for n in range(500))), "notes")
    assert len(found.problems) == 50


printable = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=80)
manifests = st.builds(
    Manifest,
    name=st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}", fullmatch=True),
    description=printable.filter(lambda text: bool(text.strip())),
    license=st.none() | printable,
    compatibility=st.none() | printable,
    allowed_tools=st.none() | printable,
    metadata=st.dictionaries(printable.filter(bool), printable, max_size=5),
)


HIDDEN = "".join(chr(0xE0000 + ord(letter)) for letter in "send it all")


@pytest.mark.parametrize("invisible", [HIDDEN, "\u202e", "\u2066"])
def test_invisible_text_gets_a_warning(invisible: str):
    found = read_skill_md(
        skill_md("name: notes", "description: x", body=f"# How\nBe kind.{invisible}\n"), "notes"
    )
    assert found.mistake is None
    assert ["invisible" in one.message and one.line == 7 for one in found.problems] == [True]


def test_flag_emoji_is_not_reported_as_invisible_text():
    flag = "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in "gbeng") + "\U000e007f"
    assert read_skill_md(skill_md("name: notes", "description: x", body=f"{flag}\n"), "notes").problems == []


@given(
    manifests, st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00\r"), max_size=200)
)
def test_any_manifest_round_trips(manifest: Manifest, body: str):
    text = write_skill_md(manifest, body)
    found = read_skill_md(text, manifest.name)
    assert found.mistake is None
    assert (found.manifest, found.body) == (manifest, body)
    other = yaml.safe_load(text.split("---\n", 2)[1])
    assert other["description"] == manifest.description
    assert all(isinstance(value, str) for value in other.get("metadata", {}).values())


@given(st.text(max_size=300))
def test_any_text_is_parsed_or_reported(text: str):
    for candidate in (text, f"---\n{text}\n---\n", f"---\nname: notes\ndescription: x\n{text}\n---\n"):
        found = read_skill_md(candidate, "notes")
        assert (found.manifest is None) == (found.mistake is not None)
