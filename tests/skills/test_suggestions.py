"""Suggestion of skills for the description of a bot."""

from forge.skills.library.library import starters
from forge.skills.models import Manifest, Skill, SkillSource
from forge.skills.suggestions import suggest_skills


def skill(name: str, description: str, categories: str = "") -> Skill:
    manifest = Manifest(name=name, description=description, metadata={"categories": categories})
    return Skill(manifest=manifest, body="", source=SkillSource.LIBRARY, files=[])


def suggestions(
    text: str, wanted: tuple[str, ...], skills: list[Skill], kind: str = ""
) -> list[tuple[str, str]]:
    return [(offer.name, offer.reason) for offer in suggest_skills(text, wanted, skills, kind=kind)]


ALL = list(starters().values())


def test_usual_skills_come_first_then_matches_of_the_description():
    assert suggestions("Summarizes sales reports and plans tasks", ("editing",), ALL, kind="writing") == [
        ("editing", "Usual for writing."),
        ("plan-tasks", "Your description mentions “plans” and “tasks”."),
        ("summarize", "Your description mentions “summarizes”."),
    ]


def test_only_whole_words_match():
    skills = [skill("art", "Makes art."), skill("cats", "About cats.")]
    assert suggestions("a smart startup for category theory", (), skills) == [
        ("art", "It is in your library."),
        ("cats", "It is in your library."),
    ]


def test_plurals_match_and_the_reason_quotes_the_description():
    skills = [skill("story-teller", "Tells a story about a customer.")]
    assert suggestions("Stories for customers", (), skills) == [
        ("story-teller", "Your description mentions “stories” and “customers”.")
    ]


def test_three_to_five_skills_are_suggested_for_any_description():
    for text in (
        "",
        "x",
        "a garden planner",
        "código e poesia",
        "data " * 500,
        "summary notes report plan code text",
    ):
        for wanted in ((), ("summarize",), ("code-review", "code-generation", "missing")):
            offers = suggest_skills(text, wanted, ALL)
            assert 3 <= len(offers) <= 5
            assert len({offer.name for offer in offers}) == len(offers)
            assert all(offer.reason for offer in offers)
            assert offers == suggest_skills(text, wanted, ALL[::-1])


def test_small_library_suggests_all_its_skills():
    assert suggest_skills("anything", ("missing",), []) == []
    assert [offer.name for offer in suggest_skills("anything", (), [skill("one", "First.")])] == ["one"]


def test_usual_skills_are_cut_to_the_limit():
    assert [offer.name for offer in suggest_skills("", tuple(starters()), ALL, 2)] == list(starters())[:2]
