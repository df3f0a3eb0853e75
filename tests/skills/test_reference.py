"""The reference page of skill files is complete, and its examples are valid."""

import re
from pathlib import Path

from forge.skills.execution import ENTRY_FILES, LIMITS
from forge.skills.format.contents import MAX_ANY_BYTES, MAX_BYTES, MAX_FILES, MAX_SKILL_BYTES, MAX_TOTAL_BYTES
from forge.skills.format.manifest import FIELDS, read_skill_md
from forge.skills.format.skill_writer import TRIGGERS_FILE
from forge.skills.format.validation import MAX_CASES, MAX_TRIGGERS, read_triggers, validate
from forge.skills.host.host import MAX_CALLS
from forge.skills.host.operations import MAX_KEYS
from forge.skills.invocations.trigger_tests import MAX_SKILLS
from forge.skills.models import Capability, SkillCase, SkillKind, Tier
from forge.skills.relations.skill_graph import MAX_LEVELS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "skill-files.md").read_text()
RUNTIMES = ROOT / "runtimes"


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_examples_are_valid():
    [skill_md] = examples("markdown")
    found = read_skill_md(skill_md, "frost-dates")
    assert found.problems == []
    assert found.manifest
    assert found.manifest.kind is SkillKind.SCRIPT
    assert [one.capability for one in validate("frost-dates", {"SKILL.md": skill_md.encode()}).asks] == [
        Capability.HTTP_GET,
        Capability.GET_SECRET,
        Capability.KV,
    ]
    case, triggers = examples("json")
    assert SkillCase.model_validate_json(case).expect["sure"] is True
    assert [one.should for one in read_triggers(triggers.encode())] == [True, False]


def test_every_field_capability_kind_tier_and_file_is_documented():
    documented = set(re.findall(r"`([^`\s]+)`", PAGE))
    entries = {entry for kind in ENTRY_FILES.values() for entry in kind}
    assert {*FIELDS, *Capability, *SkillKind, *Tier, *entries, TRIGGERS_FILE} <= documented


def test_every_forge_key_is_documented():
    read = re.findall(r'"(forge-[a-z]+)"', (ROOT / "src/forge/skills/models.py").read_text())
    assert len(set(read)) >= 10
    assert all(f"| `{key}` |" in PAGE for key in read)


def test_documented_limits_match_the_code():
    text = " ".join(PAGE.split())
    assert f"at most {MAX_FILES} files" in text
    assert f"with {MAX_ANY_BYTES >> 20} MB each and {MAX_TOTAL_BYTES >> 20} MB in total" in text
    assert f"limited to 1 MB each and {MAX_BYTES // 1_000_000} MB in total" in text
    assert f"`SKILL.md` to {MAX_SKILL_BYTES // 1000} kB" in text
    assert f"at most {MAX_CASES} tests" in text
    assert f"At most {MAX_TRIGGERS} questions" in text
    assert f"among up to {MAX_SKILLS} of the library" in text
    assert f"at most {MAX_CALLS:,} calls" in text
    assert f"up to {MAX_KEYS} keys" in text
    assert MAX_LEVELS == 3
    for tier, limits in LIMITS.items():
        assert f"| `{tier}` | {limits.memory_bytes >> 20} MB | {limits.seconds:g} seconds |" in text


def test_documented_script_functions_exist_in_the_runtimes():
    javascript, python = (RUNTIMES / "runtime.js").read_text(), (RUNTIMES / "runtime.py").read_text()
    rows = [line.split(" | ") for line in PAGE.splitlines() if re.match(r"\| `(\w+)` \| `\w+[.(]", line)]
    assert {row[0].strip("| `") for row in rows} == set(Capability)
    for row in rows:
        for name in re.findall(r"`(\w+)[.(]", row[1]):
            assert re.search(rf"\b(const|function) {name}\b", javascript), name
        for name in re.findall(r"`(\w+)[.(]", row[2]):
            assert f'"{name}": ' in python, name
