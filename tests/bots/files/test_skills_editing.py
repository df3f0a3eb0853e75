"""Editing one skill in skills.toml keeps hand-written lines."""

import pytest
from hypothesis import given
from tests.bots.files.strategies import skills

from forge.bots.files.skills_toml import parse_skills, render_skills, with_skill, without_skill
from forge.bots.models import SkillEntry

OWN = """\
# What Ada can do

[skills.maps]  # the good ones
enabled = true

[skills.maps.overrides]
region = "north"

# These are slow.
[skills.walks]
version = "^1.2"
"""


def test_new_skill_is_appended():
    changed = with_skill(OWN, SkillEntry(skill_name="tides", version="1.0.0"))
    assert changed == OWN + '\n[skills.tides]\nskill_name = "tides"\nenabled = true\nversion = "1.0.0"\n'


def test_changed_skill_is_replaced_in_place():
    changed = with_skill(OWN, SkillEntry(skill_name="maps", enabled=False))
    assert changed == (
        "# What Ada can do\n\n"
        '[skills.maps]\nskill_name = "maps"\nenabled = false\n'
        '\n# These are slow.\n[skills.walks]\nversion = "^1.2"\n'
    )


def test_skill_is_removed_with_its_tables():
    assert without_skill(OWN, "maps") == (
        '# What Ada can do\n\n# These are slow.\n[skills.walks]\nversion = "^1.2"\n'
    )
    assert without_skill(OWN, "walks").rstrip().endswith("# These are slow.")
    assert without_skill("[skills.maps]\n", "maps") == ""


@pytest.mark.parametrize(
    "text",
    [
        "skills = { maps = { enabled = true }, walks = {} }\n",
        "skills.maps.enabled = true\nskills.walks.enabled = true\n",
        "[skills]\nmaps = { enabled = true }\nwalks = {}\n",
        '[skills.maps]\n[skills.walks]\n[skills.maps.overrides]\nregion = "north"\n',
        "\ufeff[skills.maps]\r\nenabled = true\r\n[skills.walks]\r\n",
    ],
)
def test_any_table_layout_can_be_edited(text: str):
    off = SkillEntry(skill_name="maps", enabled=False)
    assert parse_skills(with_skill(text, off)).value == [off, SkillEntry(skill_name="walks")]
    assert parse_skills(without_skill(text, "maps")).value == [SkillEntry(skill_name="walks")]


@given(skills, skills)
def test_any_skill_can_be_added_and_removed(existing: list[SkillEntry], new: list[SkillEntry]):
    text = render_skills(existing)
    wanted = {entry.skill_name: entry for entry in existing}
    for entry in new:
        text = with_skill(text, entry)
        wanted[entry.skill_name] = entry
        assert parse_skills(text).value == list(wanted.values())
    for entry in existing:
        text = without_skill(text, entry.skill_name)
        del wanted[entry.skill_name]
        assert parse_skills(text).value == list(wanted.values())
