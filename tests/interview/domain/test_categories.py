import pytest

from forge.bots.models import Category as BotCategory
from forge.interview.domain.categories import (
    CustomPurpose,
    KnownPurpose,
    classify,
    defaults_for,
    purpose_key,
    purpose_name,
)


@pytest.mark.parametrize(
    ("description", "purpose"),
    [
        ("answer support emails", KnownPurpose.CUSTOMER_SERVICE),
        ("write code", KnownPurpose.CODING),
        ("Write release notes from git commits", KnownPurpose.CODING),
        ("Write a poem about autumn", KnownPurpose.CREATIVE),
        ("EMAIL reminders, please", KnownPurpose.SIMPLE_UTILITY),
        ("Convert currency", KnownPurpose.SIMPLE_UTILITY),
        ("Analyze metrics and build a dashboard", KnownPurpose.COMPLEX_ANALYST),
        ("Reports about our data.", KnownPurpose.COMPLEX_ANALYST),
        ("Research papers and write summaries of the literature", KnownPurpose.RESEARCH),
        ("a help desk for our tickets", KnownPurpose.CUSTOMER_SERVICE),
        ("fact-check articles", KnownPurpose.RESEARCH),
        ("keep my to-do list", KnownPurpose.SIMPLE_UTILITY),
    ],
)
def test_purpose_is_found_by_whole_words(description: str, purpose: KnownPurpose):
    assert classify(description) is purpose


@pytest.mark.parametrize(
    "description",
    [
        "a smart home helper",
        "party planner",
        "startup pitch coach",
        "garden planner",
        "metadata-ish things",
        "",
        "🌱",
    ],
)
def test_parts_of_words_do_not_match(description: str):
    assert classify(description) == CustomPurpose(custom=description)


def test_database_admin_is_not_an_analyst():
    assert classify("database admin") is not KnownPurpose.COMPLEX_ANALYST


def test_custom_purpose_is_named_by_its_first_words():
    found = classify("  Tell\nme \t jokes " + "ha " * 50)
    assert isinstance(found, CustomPurpose)
    assert found.custom.startswith("Tell me jokes ha ha")
    assert len(found.custom) == 50


@pytest.mark.parametrize("purpose", [*KnownPurpose, CustomPurpose(custom="gardens")])
def test_every_purpose_has_valid_defaults(purpose: KnownPurpose | CustomPurpose):
    defaults = defaults_for(purpose)
    assert 0 <= defaults.temperature <= 2
    assert defaults.budget.minimum <= defaults.budget.maximum
    assert defaults.traits
    assert isinstance(defaults.bot_category, BotCategory)


def test_purpose_has_a_display_name_and_a_key():
    assert (purpose_name(KnownPurpose.CUSTOMER_SERVICE), purpose_key(KnownPurpose.CUSTOMER_SERVICE)) == (
        "customer service",
        "customer_service",
    )
    assert (purpose_name(CustomPurpose(custom="x")), purpose_key(CustomPurpose(custom="x"))) == (
        "a special purpose",
        "custom",
    )
