import pytest
from tests.interview.guide.facts import ATLAS, DESCRIPTIONS, EDITED_SKILL, FACTS
from tests.interview.walk import advance_to, new_state, started, walk_to_end

from forge.interview.domain.build_config import (
    DEFAULT_MODEL,
    BuilderConfig,
    Fields,
    ModelConfig,
    PersonalityConfig,
)
from forge.interview.domain.categories import KnownPurpose, classify, defaults_for
from forge.interview.domain.config_builder import (
    build_preview,
    initial_fields,
    missing_settings,
    to_config,
    to_skill_request,
)
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Basis
from forge.skills.models import SKILL_NAME_PATTERN, SkillKind

NOTES = "I need a bot that writes release notes from git commits"


def fields_of(description: str, mode: Mode = Mode.BOT, basis: Basis | None = None) -> Fields:
    return initial_fields(mode, description, classify(description), basis or Basis())


def test_description_alone_yields_a_complete_config():
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


@pytest.mark.parametrize("kind", list(KnownPurpose))
def test_unknown_settings_get_the_defaults_of_the_purpose(kind: KnownPurpose):
    config, defaults = to_config(new_state(DESCRIPTIONS[kind])), defaults_for(kind)
    assert config.category == defaults.bot_category
    assert config.personality.tone == defaults.tone
    assert config.personality.traits == list(defaults.traits)
    assert (config.model_settings.temperature, config.model_settings.max_tokens) == (
        defaults.temperature,
        defaults.max_tokens,
    )


def test_known_settings_are_not_replaced_by_defaults():
    fields = Fields(name="X", tone="dry", traits=[], tags=[], temperature=0, max_tokens=10, boundaries="")
    config = to_config(new_state(NOTES, basis=Basis(fields=fields)))
    assert (config.name, config.tags, config.personality.tone) == ("X", [], "dry")
    assert (config.personality.traits, config.personality.boundaries) == ([], None)
    assert (config.model_settings.temperature, config.model_settings.max_tokens) == (0, 10)


def test_existing_bot_keeps_its_settings():
    config = to_config(new_state("make it shorter", mode=Mode.RECONFIGURE, basis=ATLAS))
    assert (config.name, config.description, config.tags) == ("Atlas", "Plans trips", ["travel"])
    assert config.personality.purpose == "Atlas plans trips."


@pytest.mark.parametrize("description", ["", "   ", "hi", "🤖🤖", "<b>", "---\n- a: *b", "x" * 20_000])
def test_any_description_yields_a_valid_config(description: str):
    config = to_config(new_state(description))
    assert config == to_config(new_state(description))
    assert config.name


def test_initial_fields_come_from_the_description():
    assert fields_of("A helper named Ada for my to-do list") == Fields(
        name="Ada", description="A helper named Ada for my to-do list", category="utility"
    )
    assert fields_of("hi") == Fields()
    assert fields_of("make it shorter", Mode.RECONFIGURE) == Fields()
    assert fields_of("make it shorter", Mode.SKILL, EDITED_SKILL) == Fields()
    assert fields_of("Count words", Mode.SKILL) == Fields(description="Count words")


@pytest.mark.parametrize(
    "description", ["so-called experts", "a phone that is called when it rings", "called it"]
)
def test_called_without_a_name_yields_no_name(description: str):
    assert fields_of(description).name is None


def test_long_description_is_split_into_description_and_purpose():
    long = "Plans gardens. " * 200
    known = fields_of(long)
    assert known.description is not None and len(known.description) <= 1000
    assert known.description.endswith("…")
    assert known.purpose == long.strip()
    assert fields_of(long * 10).purpose is not None


def test_description_does_not_override_existing_fields():
    known = Fields(name="Nora", purpose="Nora reviews.", category="research", description="Reviews")
    assert fields_of("A coder called Ben, who writes code", basis=Basis(fields=known)) == Fields()


def test_missing_settings_are_listed_in_words():
    assert missing_settings(new_state("")) == ["a name", "what it is for", "a tone", "a model"]
    assert missing_settings(new_state(NOTES)) == ["a name", "a tone", "a model"]
    assert missing_settings(new_state("", mode=Mode.SKILL)) == ["a name", "what it does", "how it works"]


def test_nothing_is_missing_at_the_end():
    assert missing_settings(walk_to_end(started(NOTES, facts=FACTS))) == []
    assert missing_settings(walk_to_end(started(NOTES, mode=Mode.SKILL))) == []


def test_preview_shows_known_settings():
    state = walk_to_end(started(NOTES, facts=FACTS))
    preview = build_preview(state)
    assert preview.personality_summary == (
        "Release Notes Writer is precise, methodical and pragmatic, in a technical tone."
    )
    assert preview.model == "What is chosen for bots"
    assert preview.skills == [skill.name for skill in FACTS.skills]
    assert (preview.phase, preview.fields) == ("review", state.config)


def test_preview_omits_defaults():
    preview = build_preview(advance_to(started(NOTES, facts=FACTS), "name"))
    assert (preview.name, preview.personality_summary, preview.model, preview.skills) == (
        None,
        None,
        None,
        [],
    )


def test_skill_description_includes_its_trigger():
    basis = Basis(fields=Fields(trigger="When minutes are shared", kind=SkillKind.SCRIPT))
    request = to_skill_request(new_state("Summarize minutes", mode=Mode.SKILL, basis=basis))
    assert request.description == "Summarize minutes. When minutes are shared."
    assert (request.name, request.skill_type) == ("summarize-minutes", SkillKind.SCRIPT)


@pytest.mark.parametrize("description", ["", "翻译", "../../etc/passwd", "ö" * 5000, "word " * 1000])
def test_every_skill_request_has_a_valid_name(description: str):
    import re

    request = to_skill_request(new_state(description, mode=Mode.SKILL))
    assert re.fullmatch(SKILL_NAME_PATTERN, request.name)
    assert len(request.name) <= 64
    assert 1 <= len(request.description) <= 1024
