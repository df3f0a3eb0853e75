"""The reference validator of the standard and ours: what Forge writes passes there, and they differ only where we say so."""

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


def judged_elsewhere(name: str, skill_md: str) -> list[str]:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.mkdir()
        (path / "SKILL.md").write_text(skill_md, encoding="utf-8", newline="")
        return reference(path)


def mistakes(name: str, skill_md: str) -> list[str]:
    found = validate(name, {"SKILL.md": skill_md.encode()})
    assert found.valid == (not [problem for problem in found.problems if not problem.is_warning])
    return [problem.message for problem in found.problems if not problem.is_warning]


def assert_good_everywhere(skill: SkillFiles) -> None:
    assert judged_elsewhere(skill.name, skill.files["SKILL.md"]) == []
    found = validate(skill.name, {path: text.encode() for path, text in skill.files.items()})
    assert (found.valid, found.problems) == (True, [])


@pytest.mark.parametrize("name", starters())
def test_all_that_comes_with_forge_is_good(name: str):
    assert_good_everywhere(starter_files(name))


@pytest.mark.parametrize("kind", SkillKind)
@pytest.mark.parametrize("language", [None, Language.JS, Language.PY])
def test_what_forge_writes_to_begin_with_is_good(kind: SkillKind, language: Language | None):
    assert_good_everywhere(new_skill("first-steps", kind, language, "Takes first steps. Use it to begin."))
    assert_good_everywhere(
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
def test_whatever_forge_writes_the_reference_takes_it(manifest: Manifest):
    skill_md = write_skill_md(manifest, "# How\n")
    assert judged_elsewhere(manifest.name, skill_md) == []
    assert mistakes(manifest.name, skill_md) == []


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
    "strange": "Fields that other clients add are left alone by us, with a warning; the reference refuses them.",
    "[a, b]": "The reference reads no YAML in flow style at all; we do, and want texts where there should be some.",
}


@settings(max_examples=150)
@given(fields)
def test_we_and_the_reference_find_the_same_mistakes(given_fields: dict[str, str]):
    lines = [f"{key}: {value}" for key, value in given_fields.items()]
    skill_md = "\n".join(["---", *lines, "---", "", "# How", ""])
    is_different = any(one in skill_md for one in DIFFERENCES)
    theirs, ours = judged_elsewhere("notes", skill_md), mistakes("notes", skill_md)
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
def test_what_we_refuse_and_the_reference_does_not(name: str, skill_md: str):
    """Names in other scripts, which are names of folders here; and texts that are none."""
    assert mistakes(name, skill_md)


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
def test_what_the_reference_refuses_and_we_do_not(skill_md: str):
    """A mark at the beginning, three hyphens in a text, YAML in flow style, fields of other clients."""
    assert judged_elsewhere("notes", skill_md)
    assert mistakes("notes", skill_md) == []
