import pytest

from forge.interview.categories import classify
from forge.interview.naming import name_of, names_for, skill_names_for, skill_slug, untaken


@pytest.mark.parametrize(
    ("description", "name"),
    [
        ("a bot that writes release notes from git commits", "Release Notes Writer"),
        ("a smart home helper", "Smart Home Helper"),
        ("party planner", "Party Planner"),
        ("answer support emails", "Support Email Responder"),
        ("I would like a bot which summarizes long articles for me", "Long Article Summarizer"),
        ("help me write code", "Code Writer"),
        ("a customer support assistant for a bike shop", "Customer Support Assistant"),
        ("Could you build me a translator for old letters?", "Old Letter Translator"),
        ("a helper for my taxes", "Tax Helper"),
        ("a bot for the garden", "Garden Companion"),
        ("A friendly tutor who explains mathematics to my daughter", "Mathematics Tutor"),
        ("helps our customers choose the right bicycle", "Bicycle Guide"),
        ("Ein Bot, der Kochrezepte vorschlägt", "Kochrezepte Vorschlägt Companion"),
        ("a bot that answers questions about our returns policy", "Returns Policy Responder"),
        ("help my daughter learn fractions", "Fraction Tutor"),
        ("Turns my meeting notes into a list of tasks", "Meeting Notes Converter"),
        ("Reads research papers and compares what they found", "Paper Reader"),
        ("bot", "Companion"),
    ],
)
def test_a_name_says_what_it_does(description: str, name: str):
    assert name_of(description, classify(description)) == name


def test_suggestions_differ_and_none_is_taken():
    taken = ["release notes writer", "Rivet", "Anvil", "Hex", "Turing", "Forge Hand"]
    description = "writes release notes from git commits"
    names = names_for(description, classify(description), taken)
    assert names == ["Release Notes Engineer", "Release Notes Companion"]
    every = [*taken, *names, "Engineer"]
    assert names_for(description, classify(description), every) == ["Release Notes Writer 2"]


def test_words_that_stand_apart_do_not_become_one_name():
    description = "plan my week and remind me to drink water"
    assert names_for(description, classify(description), [])[:3] == [
        *("Week Planner", "Week Helper", "Week Companion"),
    ]


def test_another_description_begins_with_another_name():
    described = [f"debug code number {number}" for number in range(20)]
    assert len({names_for(one, classify(one), [])[-1] for one in described}) > 1


def test_a_taken_name_gets_a_number():
    assert untaken("Atlas", ["atlas", "Atlas 2"]) == "Atlas 3"
    assert len(untaken("x" * 200, ["x" * 200])) <= 200


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Summarize Minutes", "summarize-minutes"),
        ("../../etc/passwd", "etc-passwd"),
        ("Straße & Café", "strasse-cafe"),
        ("--a--", "a"),
        ("a" * 100, "a" * 64),
        ("翻译", None),
        ("...", None),
    ],
)
def test_a_skill_has_a_name_that_a_folder_can_have(text: str, slug: str | None):
    assert skill_slug(text) == slug


def test_names_of_skills_begin_with_what_is_done():
    assert skill_names_for("a skill that fetches exchange rates and converts prices", []) == [
        *("fetch-exchange-rates", "fetches-exchange-rates", "exchange-rates-helper"),
    ]
    assert skill_names_for("翻译", ["my-skill"]) == ["helper"]
