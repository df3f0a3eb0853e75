import pytest
from tests.interview.guide.offers import ATLAS, DESCRIPTIONS, EDITED_SKILL, FACTS
from tests.interview.walking import new_state, on_to, started, to_the_end

from forge.interview.categories import Known, classify, defaults_for
from forge.interview.completing import missing, opening_of, preview_of, to_config, to_skill_request
from forge.interview.config import DEFAULT_MODEL, BuilderConfig, Fields, ModelConfig, PersonalityConfig
from forge.interview.phases import Mode
from forge.interview.state import Basis
from forge.skills.models import SKILL_NAME_PATTERN, SkillKind

NOTES = "I need a bot that writes release notes from git commits"


def opened(description: str, mode: Mode = Mode.BOT, basis: Basis | None = None) -> Fields:
    return opening_of(mode, description, classify(description), basis or Basis())


def test_a_description_alone_is_enough_for_a_whole_bot():
    assert to_config(new_state(NOTES)) == BuilderConfig(
        name="Release Notes Writer",
        description=NOTES,
        category="assistant",
        tags=["coding", "release", "notes", "git", "commits"],
        personality=PersonalityConfig(
            tone="technical",
            traits=["precise", "methodical", "pragmatic"],
            purpose="Release Notes Writer is a bot that writes release notes from git commits.",
            boundaries=None,
        ),
        model_config=ModelConfig(model=DEFAULT_MODEL, temperature=0.2, max_tokens=4096),
        skills=[],
        variants=[],
    )


@pytest.mark.parametrize("kind", list(Known))
def test_what_nobody_said_has_the_default_of_its_kind(kind: Known):
    config, usual = to_config(new_state(DESCRIPTIONS[kind])), defaults_for(kind)
    assert config.category == usual.bot_category
    assert config.personality.tone == usual.tone
    assert config.personality.traits == list(usual.traits)
    assert (config.model_settings.temperature, config.model_settings.max_tokens) == (
        usual.temperature,
        usual.max_tokens,
    )


def test_what_was_said_is_not_replaced_by_a_default():
    said = Fields(name="X", tone="dry", traits=[], tags=[], temperature=0, max_tokens=10, boundaries="")
    config = to_config(new_state(NOTES, basis=Basis(fields=said)))
    assert (config.name, config.tags, config.personality.tone) == ("X", [], "dry")
    assert (config.personality.traits, config.personality.boundaries) == ([], None)
    assert (config.model_settings.temperature, config.model_settings.max_tokens) == (0, 10)


def test_a_bot_that_exists_keeps_what_it_has():
    config = to_config(new_state("make it shorter", mode=Mode.RECONFIGURE, basis=ATLAS))
    assert (config.name, config.description, config.tags) == ("Atlas", "Plans trips", ["travel"])
    assert config.personality.purpose == "Atlas plans trips."


@pytest.mark.parametrize("description", ["", "   ", "hi", "🤖🤖", "<b>", "---\n- a: *b", "x" * 20_000])
def test_even_nothing_becomes_something_that_can_be_made(description: str):
    config = to_config(new_state(description))
    assert config == to_config(new_state(description))
    assert config.name


def test_a_description_says_what_it_says_and_no_more():
    assert opened("A helper named Ada for my to-do list") == Fields(
        name="Ada", description="A helper named Ada for my to-do list", category="utility"
    )
    assert opened("hi") == Fields()
    assert opened("make it shorter", Mode.RECONFIGURE) == Fields()
    assert opened("make it shorter", Mode.SKILL, EDITED_SKILL) == Fields()
    assert opened("Count words", Mode.SKILL) == Fields(description="Count words")


@pytest.mark.parametrize(
    "description", ["so-called experts", "a phone that is called when it rings", "called it"]
)
def test_not_everything_that_is_called_has_a_name(description: str):
    assert opened(description).name is None


def test_of_a_long_description_all_that_fits_is_kept():
    long = "Plans gardens. " * 200
    known = opened(long)
    assert known.description is not None and len(known.description) <= 1000
    assert known.description.endswith("…")
    assert known.purpose == long.strip()
    assert opened(long * 10).purpose is not None


def test_what_it_began_with_is_not_overwritten_by_the_description():
    known = Fields(name="Nora", purpose="Nora reviews.", category="research", description="Reviews")
    assert opened("A coder called Ben, who writes code", basis=Basis(fields=known)) == Fields()


def test_what_is_missing_is_said_in_words():
    assert missing(new_state("")) == ["a name", "what it is for", "a tone", "a model"]
    assert missing(new_state(NOTES)) == ["a name", "a tone", "a model"]
    assert missing(new_state("", mode=Mode.SKILL)) == ["a name", "what it does", "how it works"]


def test_in_the_end_nothing_is_missing():
    assert missing(to_the_end(started(NOTES, facts=FACTS))) == []
    assert missing(to_the_end(started(NOTES, mode=Mode.SKILL))) == []


def test_a_preview_shows_what_is_known():
    state = to_the_end(started(NOTES, facts=FACTS))
    preview = preview_of(state)
    assert preview.personality_summary == (
        "Release Notes Writer is precise, methodical and pragmatic, in a technical tone."
    )
    assert preview.model == "What is chosen for bots"
    assert preview.skills == [skill.name for skill in FACTS.skills]
    assert (preview.phase, preview.fields) == ("review", state.config)


def test_a_preview_does_not_show_what_nobody_said():
    preview = preview_of(on_to(started(NOTES, facts=FACTS), "name"))
    assert (preview.name, preview.personality_summary, preview.model, preview.skills) == (
        None,
        None,
        None,
        [],
    )


def test_a_skill_is_described_by_what_it_does_and_when_to_use_it():
    basis = Basis(fields=Fields(trigger="When somebody shares minutes", kind=SkillKind.SCRIPT))
    request = to_skill_request(new_state("Summarize minutes", mode=Mode.SKILL, basis=basis))
    assert request.description == "Summarize minutes. When somebody shares minutes."
    assert (request.name, request.skill_type) == ("summarize-minutes", SkillKind.SCRIPT)


@pytest.mark.parametrize("description", ["", "翻译", "../../etc/passwd", "ö" * 5000, "word " * 1000])
def test_every_skill_gets_a_name_a_folder_can_have(description: str):
    import re

    request = to_skill_request(new_state(description, mode=Mode.SKILL))
    assert re.fullmatch(SKILL_NAME_PATTERN, request.name)
    assert len(request.name) <= 64
    assert 1 <= len(request.description) <= 1024
