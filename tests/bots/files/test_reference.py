"""The reference page of bot files: its examples are valid and complete."""

import re
from pathlib import Path

import pytest

from forge.bots.files.identity import parse_identity
from forge.bots.files.problems import find_problems
from forge.bots.files.skills_toml import parse_skills
from forge.bots.files.soul import parse_soul
from forge.bots.files.user import parse_user
from forge.bots.models import BotFile, Identity, SkillEntry, Soul

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "bot-files.md").read_text()


def section(file: BotFile) -> str:
    return PAGE.partition(f"\n## {file.file_name}\n")[2].partition("\n## ")[0]


def example(file: BotFile) -> str:
    found = re.search(r"```\w+\n(.*?)^```$", section(file), re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


@pytest.mark.parametrize("file", BotFile)
def test_examples_are_valid(file: BotFile):
    assert find_problems(file, example(file)) == []


def test_examples_are_parsed_as_described():
    soul, identity = parse_soul(example(BotFile.SOUL)).value, parse_identity(example(BotFile.IDENTITY)).value
    user, skills = parse_user(example(BotFile.USER)).value, parse_skills(example(BotFile.SKILLS)).value
    assert soul and soul.name == "Ada" and soul.body.startswith("# Personality\n")
    assert identity and identity.ref == "anthropic:claude-sonnet-5"
    assert user and "north" in user and "<!--" not in user
    assert skills == [
        SkillEntry(
            skill_name="frost-dates",
            version="^0.1",
            capabilities=["read_file"],
            overrides={"region": "alpine"},
        )
    ]


@pytest.mark.parametrize(
    ("file", "keys"),
    [
        (BotFile.SOUL, set(Soul.model_fields) - {"body"}),
        (BotFile.IDENTITY, set(Identity.model_fields)),
        (BotFile.SKILLS, set(SkillEntry.model_fields)),
    ],
)
def test_every_key_is_described(file: BotFile, keys: set[str]):
    assert set(re.findall(r"^\| `(\w+)` \|", section(file), re.MULTILINE)) == keys


@pytest.mark.parametrize("file", BotFile)
def test_each_file_is_checked_by_its_own_rules(file: BotFile):
    problems = find_problems(file, "---\nnonsense = [\n---\n\x00")
    assert problems and {problem.file for problem in problems} == {file}
