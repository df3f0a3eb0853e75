"""The reference page shows files that are read without a word, and names all there is to know."""

import re
from pathlib import Path

from forge.skills.contents import MAX_FILES, MAX_SKILL_BYTES
from forge.skills.manifest import FIELDS, read_skill_md
from forge.skills.models import Capability, SkillCase, SkillKind
from forge.skills.trial import LIMITS, MOST_CASES
from forge.skills.writing import SOURCE_FILES

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "skill-files.md").read_text()


def example(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


def test_the_examples_are_without_a_mistake():
    found = read_skill_md(example("markdown"), "frost-dates")
    assert found.problems == []
    assert found.manifest
    assert found.manifest.kind is SkillKind.SCRIPT
    assert found.manifest.capabilities == [Capability.KV, Capability.LOG]
    assert SkillCase.model_validate_json(example("json")).expect["sure"] is True


def test_every_field_capability_kind_and_file_is_named():
    named = set(re.findall(r"`([^`\s]+)`", PAGE))
    assert {*FIELDS, *Capability, *SkillKind, *SOURCE_FILES.values()} <= named


def test_the_limits_are_those_that_hold():
    text = " ".join(PAGE.split())
    assert f"`SKILL.md` has {MAX_SKILL_BYTES // 1000} kB at most" in text
    assert f"There are {MAX_FILES} files at most" in text
    assert f"There are {MOST_CASES} tests at most" in text
    memory, processes = LIMITS.memory_bytes >> 20, LIMITS.processes
    assert f"{LIMITS.timeout_s:g} seconds, {memory} MB of memory and {processes} processes" in text
