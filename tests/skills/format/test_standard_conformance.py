"""Compare our validation with the reference validator of the standard; the known differences are listed here."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skills_ref.validator import validate as reference

from forge.skills.execution import Language
from forge.skills.format.manifest import write_skill_md
from forge.skills.format.skill_writer import SkillText, new_skill, template_skill
from forge.skills.format.validation import validate
from forge.skills.library.library import starter_files, starters
from forge.skills.models import Manifest, SkillFiles, SkillKind


def reference_mistakes(name: str, skill_md: str) -> list[str]:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.mkdir()
        (path / "SKILL.md").write_text(skill_md, encoding="utf-8", newline="")
        return reference(path)


def forge_mistakes(name: str, skill_md: str) -> list[str]:
    found = validate(name, {"SKILL.md": skill_md.encode()})
    assert found.valid == (not [problem for problem in found.problems if not problem.is_warning])
    return [problem.message for problem in found.problems if not problem.is_warning]


def assert_valid_for_both(skill: SkillFiles) -> None:
    assert reference_mistakes(skill.name, skill.files["SKILL.md"]) == []
    found = validate(skill.name, {path: text.encode() for path, text in skill.files.items()})
    assert (found.valid, found.problems) == (True, [])


@pytest.mark.parametrize("name", starters())
def test_starters_are_valid(name: str):
    assert_valid_for_both(starter_files(name))


@pytest.mark.parametrize("kind", SkillKind)
@pytest.mark.parametrize("language", [None, Language.JS, Language.PY])
def test_templates_are_valid(kind: SkillKind, language: Language | None):
    assert_valid_for_both(new_skill("first-steps", kind, language, "Takes first steps. Use it to begin."))
    assert_valid_for_both(
        template_skill(SkillText("first-steps", "Steps: 1 # 2 --- 3", kind, "When?", "A.\nB."))
    )


words = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=60)
nasty = words | st.sampled_from(
    ["---", "a---b", "-----", "\\---", "yes", "1.0", "{a: b}", "# no", "a: b", "| x", "&a"]
)
manifests = st.builds(
    Manifest,
    name=st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}", fullmatch=True),
    description=nasty.filter(lambda text: bool(text.strip())),
    license=st.none() | nasty,
    compatibility=st.none() | nasty,
    allowed_tools=st.none() | nasty,
    metadata=st.dictionaries(nasty.filter(bool), nasty, max_size=4),
)


@settings(max_examples=80)
@given(manifests)
def test_any_written_manifest_passes_the_reference(manifest: Manifest):
    skill_md = write_skill_md(manifest, "# How\n")
    assert reference_mistakes(manifest.name, skill_md) == []
    assert forge_mistakes(manifest.name, skill_md) == []


plain = st.sampled_from(
    ["notes", "Notes", "no--tes", "-notes", "notes-", "no tes", "a" * 65, "other", "'  '", "''"]
)
values = st.sampled_from(
    ["x", "'x: y'", "''", "'   '", "x" * 1025, "x" * 1024, "x" * 501, "x" * 500, "[a, b]", "7"]
)
fields = st.fixed_dictionaries(
    {},
    optional={
        "name": plain | st.just("notes"),
        "description": values,
        "license": values,
        "compatibility": values,
        "metadata": st.sampled_from(["\n  version: '1'", "\n  a: b\n  c: d"]),
        "strange": st.just("x"),
    },
)
DIFFERENCES = {
    "strange": "Forge keeps unknown fields with a warning; the reference rejects them.",
    "[a, b]": "The reference does not parse YAML in flow style; Forge does, and requires strings.",
}


@settings(max_examples=150)
@given(fields)
def test_reference_and_forge_find_the_same_mistakes(given_fields: dict[str, str]):
    lines = [f"{key}: {value}" for key, value in given_fields.items()]
    skill_md = "\n".join(["---", *lines, "---", "", "# How", ""])
    is_different = any(one in skill_md for one in DIFFERENCES)
    theirs, ours = reference_mistakes("notes", skill_md), forge_mistakes("notes", skill_md)
    if not is_different:
        assert bool(theirs) == bool(ours), (skill_md, theirs, ours)
    elif ours:
        assert theirs


@pytest.mark.parametrize(
    ("name", "skill_md"),
    [
        ("übung", "---\nname: übung\ndescription: x\n---\n"),
        ("notes", "---\nname: notes\ndescription: x\nmetadata: text\n---\n"),
        ("notes", "---\nname: notes\ndescription: x\nlicense:\n  a: b\n---\n"),
        ("notes", "---\nname: notes\ndescription: a\x07b\n---\n"),
    ],
)
def test_some_skills_are_rejected_only_by_forge(name: str, skill_md: str):
    """Names with non-ASCII letters, values of wrong types, and control characters."""
    assert forge_mistakes(name, skill_md)


@pytest.mark.parametrize(
    "skill_md",
    [
        "\ufeff---\nname: notes\ndescription: x\n---\n",
        "---\nname: notes\ndescription: --- b\n---\n",
        "---\nname: notes\ndescription: x\nmetadata: {version: '1'}\n---\n",
        "---\nname: notes\ndescription: x\nmodel: opus\n---\n",
        "---\nname: notes\ndescription: x\nallowed-tools: [Read, Write]\n---\n",
    ],
)
def test_some_skills_are_rejected_only_by_the_reference(skill_md: str):
    """Byte order mark, three hyphens in a value, YAML in flow style, fields of other clients."""
    assert reference_mistakes("notes", skill_md)
    assert forge_mistakes("notes", skill_md) == []
