"""Generated skill files are valid for any input, and edits keep what they do not change."""

import json
from dataclasses import replace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import Invalid
from forge.skills.execution import Language
from forge.skills.format.manifest import FIELDS, read_skill_md
from forge.skills.format.skill_writer import (
    SkillText,
    edit_skill,
    new_skill,
    next_patch,
    render_skill,
    template_skill,
)
from forge.skills.format.validation import validate
from forge.skills.models import Capability, SkillCase, SkillFiles, SkillKind

STORY = SkillText(
    name="tell-story",
    description="Tells a story.",
    trigger="When somebody is sad.",
    steps="1. Ask for a theme\n- Think of an ending\nTell it",
    capabilities=(Capability.LOG, Capability.HTTP_GET),
)


def manifest_of(skill: SkillFiles):
    found = read_skill_md(skill.files["SKILL.md"], skill.name)
    assert found.problems == []
    assert found.manifest
    return found.manifest


def test_instructions_are_generated_from_a_template():
    skill = template_skill(STORY)
    assert list(skill.files) == ["SKILL.md"]
    text = skill.files["SKILL.md"]
    assert text.startswith(
        "---\nname: tell-story\ndescription: Tells a story.\nmetadata:\n  version: 0.1.0\n  forge-kind: prompt\n"
        "  forge-origin: builder-created\n  forge-capabilities: http_get log\n---\n\n# Tell story\n\nTells a story.\n\n"
        "## When to use it\n\nWhen somebody is sad.\n\n"
        "## How to proceed\n\n1. Ask for a theme\n2. Think of an ending\n3. Tell it\n\n"
    )
    assert template_skill(STORY) == skill


@pytest.mark.parametrize(
    ("kind", "path"), [(SkillKind.SCRIPT, "skill.py"), (SkillKind.LOCAL, "scripts/run.py")]
)
def test_template_program_marks_what_is_left_to_write(kind: SkillKind, path: str):
    skill = template_skill(SkillText("tell-story", "Tells a story.", kind, steps="Ask. Tell."))
    assert manifest_of(skill).kind is kind
    assert "LEFT TO WRITE" in skill.files[path]
    assert f"`{path}` is a frame" in skill.files["SKILL.md"]
    cases = [
        SkillCase.model_validate_json(text) for name, text in skill.files.items() if name.startswith("tests/")
    ]
    assert len(cases) == 3


def test_text_of_a_model_is_kept_unchanged():
    cases = tuple(
        SkillCase(name=name, input={"a": 1}, expect={"ü": 2}) for name in ("Adds", "adds!", "→", "x" * 200)
    )
    text = SkillText(
        "adder",
        "Adds.",
        SkillKind.SCRIPT,
        body="# Adder\n\nAdds.",
        source="def run(input):\n    ...",
        cases=cases,
    )
    skill = render_skill(text)
    assert list(skill.files) == [
        "SKILL.md",
        "skill.py",
        "tests/adds-2.json",
        "tests/adds.json",
        "tests/case-3.json",
        f"tests/{'x' * 48}.json",
    ]
    assert skill.files["skill.py"] == "def run(input):\n    ...\n"
    assert skill.files["SKILL.md"].endswith("---\n\n# Adder\n\nAdds.\n")
    assert json.loads(skill.files["tests/adds.json"]) == {
        "name": "Adds",
        "input": {"a": 1},
        "expect": {"ü": 2},
    }


OWN = SkillFiles(
    name="adder",
    files={
        "SKILL.md": "---\nname: adder\ndescription: Adds.\nlicense: MIT\nmetadata:\n  author: Ines\n  version: '1.4'\n"
        "  forge-kind: script\n  forge-capabilities: kv\n---\n\n# Adder\n\nMine.\n\n## How to proceed\n\nOld.\n\n## More\n\nKept.\n",
        "skill.py": "def run(input):\n    return {'sum': 3}\n",
        "tests/one.json": '{"name": "one", "input": {}, "expect": {}}',
        "references/notes.md": "Notes",
        "LICENSE": "MIT",
    },
)


def test_rewriting_a_skill_keeps_other_files_and_raises_the_version():
    text = SkillText("adder", "Adds up.", SkillKind.SCRIPT, body="New.", source="def run(input): ...")
    skill = render_skill(text, OWN)
    manifest = manifest_of(skill)
    assert (manifest.description, manifest.license) == ("Adds up.", "MIT")
    assert manifest.metadata == {"author": "Ines", "version": "1.4.1", "forge-kind": "script"}
    assert {path for path in skill.files} == {"SKILL.md", "skill.py", "references/notes.md", "LICENSE"}
    assert skill.files["skill.py"] == "def run(input): ...\n"


def test_template_update_keeps_source_tests_and_other_sections():
    text = SkillText(
        "adder", "Adds up.", SkillKind.SCRIPT, steps="Add.\nTell.", capabilities=(Capability.KV,)
    )
    skill = template_skill(text, OWN)
    assert {**skill.files, "SKILL.md": ""} == {**OWN.files, "SKILL.md": ""}
    body = read_skill_md(skill.files["SKILL.md"], "adder").body
    assert body == "# Adder\n\nMine.\n\n## How to proceed\n\n1. Add.\n2. Tell.\n\n## More\n\nKept.\n"
    updated = template_skill(SkillText("adder", "Adds up.", SkillKind.SCRIPT, trigger="Always."), OWN)
    assert updated.files["SKILL.md"].endswith("## More\n\nKept.\n\n## When to use it\n\nAlways.\n")


def test_changing_the_kind_adds_or_removes_the_program():
    prompt = template_skill(STORY)
    script = template_skill(SkillText("tell-story", "Tells a story.", SkillKind.SCRIPT), prompt)
    assert "skill.py" in script.files
    assert manifest_of(script).version == "0.1.1"
    assert list(template_skill(STORY, script).files) == ["SKILL.md"]


def test_scopes_are_replaced_or_kept():
    text = SkillText(
        "ask", "Asks.", SkillKind.SCRIPT, capabilities=(Capability.HTTP_GET,), source="x", entry="skill.js"
    )
    first = render_skill(
        replace(text, reach={"forge-hosts": ["a.example", "a.example"], "forge-env": ["LANG"]})
    )
    assert (manifest_of(first).hosts, manifest_of(first).env) == (["a.example"], [])
    assert manifest_of(render_skill(text, first)).hosts == ["a.example"]
    assert manifest_of(edit_skill(first, name="ask", capabilities=())).hosts == []
    assert "forge-hosts" not in manifest_of(render_skill(replace(text, reach={}), first)).metadata


def test_name_and_capabilities_can_be_edited_alone():
    skill = edit_skill(OWN, name="summer", capabilities=(Capability.LOG, Capability.HTTP_POST))
    assert skill.name == "summer"
    manifest = manifest_of(skill)
    assert (manifest.name, manifest.version) == ("summer", "1.4")
    assert manifest.capabilities == [Capability.HTTP_POST, Capability.LOG]
    assert edit_skill(skill, name="adder", capabilities=(Capability.KV,)) == OWN


JS = SkillFiles(
    name="adder",
    files={
        "SKILL.md": OWN.files["SKILL.md"],
        "skill.js": "function run() { return { sum: 3 }; }\n",
        "tests/one.json": '{"name": "one", "input": {}, "expect": {}}',
        "tests/triggers.json": '[{"say": "Add up."}]',
    },
)


def test_script_keeps_its_language_unless_rewritten():
    updated = template_skill(SkillText("adder", "Adds up.", SkillKind.SCRIPT, steps="Add."), JS)
    assert {**updated.files, "SKILL.md": ""} == {**JS.files, "SKILL.md": ""}
    rewritten = render_skill(SkillText("adder", "Adds.", SkillKind.SCRIPT, source="def run(input): ..."), JS)
    assert sorted(rewritten.files) == ["SKILL.md", "skill.py", "tests/triggers.json"]
    assert "skill.js" not in template_skill(SkillText("adder", "Adds."), JS).files


def test_scripts_of_a_prompt_skill_are_kept():
    prompt = template_skill(SkillText("adder", "Adds."))
    own = SkillFiles(name="adder", files={**prompt.files, "scripts/run.sh": "true", "skill.js": "1"})
    assert {"scripts/run.sh", "skill.js"} <= set(template_skill(SkillText("adder", "Adds up."), own).files)


@pytest.mark.parametrize(
    ("kind", "language", "entry"),
    [
        (SkillKind.PROMPT, None, None),
        (SkillKind.SCRIPT, None, "skill.py"),
        (SkillKind.SCRIPT, Language.JS, "skill.js"),
        (SkillKind.LOCAL, Language.PY, "scripts/run.py"),
        (SkillKind.LOCAL, Language.JS, "scripts/run.js"),
    ],
)
def test_blank_skill_has_the_files_of_its_kind(kind: SkillKind, language: Language | None, entry: str | None):
    skill = new_skill("adder", kind, language, "Adds.")
    manifest = manifest_of(skill)
    assert manifest.metadata == {"version": "0.1.0", "forge-kind": kind.value}
    assert [path for path in skill.files if path == entry] == ([entry] if entry else [])
    assert len([path for path in skill.files if path.startswith("tests/")]) == (3 if entry else 0)


def test_component_cannot_be_generated():
    with pytest.raises(Invalid, match="WebAssembly component"):
        new_skill("adder", SkillKind.SCRIPT, Language.WASM, "Adds.")


@pytest.mark.parametrize(
    ("version", "after"),
    [
        ("0.1.0", "0.1.1"),
        ("1", "1.0.1"),
        ("2.9", "2.9.1"),
        ("1.2.3-beta", "1.2.4"),
        ("new", "0.1.0"),
        ("", "0.1.0"),
    ],
)
def test_next_patch_increments_the_patch_version(version: str, after: str):
    assert next_patch(version) == after


words = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1, max_size=200
)
nasty = words | st.sampled_from(
    [
        "---\nname: x\n---",
        '"""',
        "'''\n\\",
        "# -*- coding: utf-7 -*-",
        "```",
        "</skill>",
        "a\n## When to use it\nb",
        "\u2028x",
        "\r",
    ]
)


@given(
    nasty.filter(lambda text: bool(text.strip())),
    nasty,
    nasty,
    st.sampled_from(SkillKind),
    st.sampled_from(["py", "js"]),
)
def test_generated_files_are_valid_for_any_text(
    description: str, trigger: str, steps: str, kind: SkillKind, ending: str
):
    entry = {SkillKind.SCRIPT: f"skill.{ending}", SkillKind.LOCAL: f"scripts/run.{ending}"}.get(kind, "")
    skill = template_skill(SkillText("any", description, kind, trigger, steps, entry=entry))
    found = validate("any", {path: text.encode() for path, text in skill.files.items()})
    assert found.valid, found.problems
    assert manifest_of(skill).description == description
    front = yaml.safe_load(skill.files["SKILL.md"].split("---\n", 2)[1])
    assert set(front) <= set(FIELDS)
    assert skill.files["SKILL.md"].count("\n## When to use it\n") == 1
