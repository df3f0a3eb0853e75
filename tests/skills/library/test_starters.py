"""The built-in skills."""

from forge.interview.domain.categories import KnownPurpose, defaults_for
from forge.skills.format.manifest import read_skill_md
from forge.skills.library.library import starter_files, starters
from forge.skills.models import SkillKind


def test_starters_are_complete():
    assert len(starters()) == 12
    for name, skill in starters().items():
        text = starter_files(name).files["SKILL.md"]
        assert read_skill_md(text, name).problems == []
        assert skill.manifest.kind is SkillKind.PROMPT
        assert " Use " in skill.manifest.description
        assert 40 <= text.count("\n") <= 120
        assert all(
            f"\n## {title}\n" in skill.body for title in ("When to use it", "How to proceed", "Pitfalls")
        )


def test_starters_cover_the_known_categories():
    known = {category.value for category in KnownPurpose}
    assert all(set(skill.manifest.categories) <= known for skill in starters().values())
    assert {category for skill in starters().values() for category in skill.manifest.categories} == known


def test_default_skills_of_each_purpose_have_its_category():
    for category in KnownPurpose:
        for name in defaults_for(category).skills:
            assert category.value in starters()[name].manifest.categories
