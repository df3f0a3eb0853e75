import pytest

from forge.bots.models import Category as BotCategory
from forge.interview.categories import Custom, Known, classify, defaults_for, purpose_key, purpose_name


@pytest.mark.parametrize(
    ("description", "purpose"),
    [
        ("answer support emails", Known.CUSTOMER_SERVICE),
        ("write code", Known.CODING),
        ("Write release notes from git commits", Known.CODING),
        ("Write a poem about autumn", Known.CREATIVE),
        ("EMAIL reminders, please", Known.SIMPLE_UTILITY),
        ("Convert currency", Known.SIMPLE_UTILITY),
        ("Analyze metrics and build a dashboard", Known.COMPLEX_ANALYST),
        ("Reports about our data.", Known.COMPLEX_ANALYST),
        ("Research papers and write summaries of the literature", Known.RESEARCH),
        ("a help desk for our tickets", Known.CUSTOMER_SERVICE),
        ("fact-check articles", Known.RESEARCH),
        ("keep my to-do list", Known.SIMPLE_UTILITY),
    ],
)
def test_whole_words_tell_the_kind(description: str, purpose: Known):
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
def test_a_part_of_a_word_tells_nothing(description: str):
    assert classify(description) == Custom(custom=description)


def test_an_admin_of_databases_is_no_analyst():
    assert classify("database admin") is not Known.COMPLEX_ANALYST


def test_something_of_its_own_is_named_by_its_first_words():
    found = classify("  Tell\nme \t jokes " + "ha " * 50)
    assert isinstance(found, Custom)
    assert found.custom.startswith("Tell me jokes ha ha")
    assert len(found.custom) == 50


@pytest.mark.parametrize("purpose", [*Known, Custom(custom="gardens")])
def test_every_kind_has_defaults_that_can_be_used(purpose: Known | Custom):
    defaults = defaults_for(purpose)
    assert 0 <= defaults.temperature <= 2
    assert defaults.budget.fewest <= defaults.budget.most
    assert defaults.traits
    assert isinstance(defaults.bot_category, BotCategory)


def test_a_kind_has_a_name_for_people_and_one_to_be_remembered_by():
    assert (purpose_name(Known.CUSTOMER_SERVICE), purpose_key(Known.CUSTOMER_SERVICE)) == (
        "customer service",
        "customer_service",
    )
    assert (purpose_name(Custom(custom="x")), purpose_key(Custom(custom="x"))) == (
        "something of its own",
        "custom",
    )
