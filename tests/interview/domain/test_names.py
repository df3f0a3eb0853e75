import pytest

from forge.interview.domain.categories import classify
from forge.interview.domain.names import (
    make_unique,
    suggest_name,
    suggest_names,
    suggest_skill_names,
    to_skill_name,
)


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
def test_name_is_derived_from_the_description(description: str, name: str):
    assert suggest_name(description, classify(description)) == name


def test_suggested_names_are_distinct_and_free():
    taken = ["release notes writer", "Rivet", "Anvil", "Hex", "Turing", "Forge Hand"]
    description = "writes release notes from git commits"
    names = suggest_names(description, classify(description), taken)
    assert names == ["Release Notes Engineer", "Release Notes Companion"]
    all_names = [*taken, *names, "Engineer"]
    assert suggest_names(description, classify(description), all_names) == ["Release Notes Writer 2"]


def test_distant_words_are_not_combined():
    description = "plan my week and remind me to drink water"
    assert suggest_names(description, classify(description), [])[:3] == [
        *("Week Planner", "Week Helper", "Week Companion"),
    ]


def test_proper_names_vary_with_the_description():
    described = [f"debug code number {number}" for number in range(20)]
    assert len({suggest_names(one, classify(one), [])[-1] for one in described}) > 1


def test_taken_name_gets_a_number():
    assert make_unique("Atlas", ["atlas", "Atlas 2"]) == "Atlas 3"
    assert len(make_unique("x" * 200, ["x" * 200])) <= 200


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
def test_text_is_converted_to_a_skill_name(text: str, slug: str | None):
    assert to_skill_name(text) == slug


def test_skill_names_begin_with_the_verb():
    assert suggest_skill_names("a skill that fetches exchange rates and converts prices", []) == [
        *("fetch-exchange-rates", "fetches-exchange-rates", "exchange-rates-helper"),
    ]
    assert suggest_skill_names("翻译", ["my-skill"]) == ["helper"]
