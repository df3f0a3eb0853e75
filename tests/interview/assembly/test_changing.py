"""The files of a bot that is changed: what was talked about is other, everything else stays as people wrote it."""

from collections.abc import Mapping
from typing import Any

from tests.interview.assembly.workbench import interview, settings

from forge.bots.files.identity import parse_identity
from forge.bots.files.skills import parse_skills
from forge.bots.files.soul import parse_soul
from forge.bots.files.user import parse_user
from forge.bots.models import BotFile
from forge.bots.versions.whole import BotFiles
from forge.interview.assembly.changing import changed_files
from forge.interview.assembly.current import current_fields, soul_fields
from forge.interview.assembly.files import files_of
from forge.interview.config import BuilderConfig, Fields
from forge.interview.phases import Mode
from forge.interview.state import Basis, Speaker, State, Written
from forge.interview.writing import settings_before, soul_hash

SOUL, IDENTITY, USER, SKILLS = BotFile.SOUL, BotFile.IDENTITY, BotFile.USER, BotFile.SKILLS

OWN: dict[BotFile, str] = {
    SOUL: """\
---
# who she is
name: Ada
tone: dry # as the sea is not
traits:
- exact
---

# Personality

Says little.

# Purpose

To watch the tides.

## For whom

Sailors.

# Boundaries

- No weather.

# Notes

Mine.
""",
    IDENTITY: "---\ndisplay_name: Ada # the first\ntemperature: 0.3\nmodel: claude-sonnet-4-5\n---\n",
    USER: "# Preferences\n\nShort answers.\n",
    SKILLS: '# mine\n[skills.tides]\nenabled = false\nversion = "1.2"\n\n[skills.winds]\n',
}


def files(contents: Mapping[BotFile, str]) -> BotFiles:
    soul, identity = parse_soul(contents[SOUL]).value, parse_identity(contents[IDENTITY]).value
    user, skills = parse_user(contents[USER]).value, parse_skills(contents[SKILLS]).value
    assert soul is not None
    assert identity is not None
    assert user is not None
    assert skills is not None
    return BotFiles(soul, contents[SOUL], 1, identity, user, skills)


def changing(contents: Mapping[BotFile, str], **more: Any) -> State:
    basis = Basis(fields=current_fields(files(contents)), bot_slug="ada", old_soul=contents[SOUL])
    return interview(Mode.RECONFIGURE, basis=basis, **more)


def altered(config: BuilderConfig, **changes: Any) -> BuilderConfig:
    given = config.model_dump(by_alias=True)
    for name, value in changes.items():
        part, _, inner = name.partition("__")
        given[part] = {**given[part], inner: value} if inner else value
    return BuilderConfig.model_validate(given)


def test_what_a_bot_is_is_read_from_its_files():
    known = current_fields(files(OWN))
    assert known == Fields.model_validate(
        {
            "name": "Ada",
            "description": "",
            "category": "assistant",
            "tags": [],
            "tone": "dry",
            "traits": ["exact"],
            "purpose": "To watch the tides.\n\n## For whom\n\nSailors.",
            "boundaries": "- No weather.",
            "model": "claude-sonnet-4-5",
            "temperature": 0.3,
            "max_tokens": 4096,
            "skills": [{"name": "tides"}, {"name": "winds"}],
        }
    )


def test_a_bot_that_forge_made_is_read_back_as_it_was_agreed_on():
    config = settings(skills=[{"name": "code-review"}])
    [made] = files_of(interview(), config)
    state = changing(made.contents)
    was = settings_before(state)
    assert altered(was, personality__boundaries="Never approve its own work") == config
    assert was.personality.boundaries == "- Never approve its own work."
    assert changed_files(state, was, made.contents) == {}


def test_nothing_changed_changes_nothing():
    state = changing(OWN)
    assert changed_files(state, settings_before(state), OWN) == {}


def test_only_the_keys_that_were_talked_about_are_other():
    state = changing(OWN)
    config = altered(settings_before(state), model_config__temperature=0.9, model_config__model="default")
    assert changed_files(state, config, OWN) == {
        IDENTITY: "---\ndisplay_name: Ada # the first\ntemperature: 0.9\n---\n"
    }
    config = altered(settings_before(state), model_config__model="openai:gpt-5", tags=["sea"])
    changed = changed_files(state, config, OWN)
    assert list(changed) == [IDENTITY]
    identity = parse_identity(changed[IDENTITY]).value
    assert identity is not None
    assert (identity.ref, identity.tags, identity.temperature) == ("openai:gpt-5", ["sea"], 0.3)
    assert "# the first" in changed[IDENTITY]


def test_a_tone_is_changed_in_the_front_matter_and_the_text_stays():
    state = changing(OWN)
    config = altered(settings_before(state), personality__tone="warm", name="Ada II")
    changed = changed_files(state, config, OWN)
    assert set(changed) == {SOUL, IDENTITY}
    assert changed[SOUL] == OWN[SOUL].replace("name: Ada", "name: Ada II").replace("tone: dry", "tone: warm")


def test_a_section_that_was_talked_about_is_replaced_and_the_others_stay():
    state = changing(OWN)
    config = altered(settings_before(state), personality__boundaries="No politics")
    soul = changed_files(state, config, OWN)[SOUL]
    before, _, behind = soul.partition("# Boundaries\n\n- No politics.\n")
    assert OWN[SOUL].startswith(before)
    assert behind.endswith("\n\n# Notes\n\nMine.\n")
    assert "No weather" not in soul


def test_a_text_that_forge_wrote_is_written_anew_as_a_whole():
    [made] = files_of(interview(), settings())
    state = changing(made.contents)
    config = altered(settings_before(state), personality__tone="playful")
    [again] = files_of(interview(), altered(settings(), personality__tone="playful"))
    assert changed_files(state, config, made.contents) == {SOUL: again.contents[SOUL]}


def test_what_was_written_for_the_new_settings_takes_the_place_of_the_old_and_own_sections_stay():
    body = "# Personality\n\nNew.\n\n# Purpose\n\nNew.\n\n# Boundaries\n\n- New.\n"
    config = altered(settings_before(changing(OWN)), personality__tone="warm")
    state = changing(OWN, written=Written(of=soul_hash(config), by=Speaker.MODEL, soul=body))
    front = OWN[SOUL].partition("# Personality")[0].replace("tone: dry", "tone: warm")
    assert changed_files(state, config, OWN) == {SOUL: f"{front}{body}\n# Notes\n\nMine.\n"}
    unchanged = settings_before(state)
    stale = changing(OWN, written=Written(of=soul_hash(unchanged), by=Speaker.MODEL, soul=body))
    assert changed_files(stale, unchanged, OWN) == {}


def test_skills_that_stay_keep_all_they_have():
    state = changing(OWN)
    was = settings_before(state)
    more = altered(was, skills=[*was.model_dump()["skills"], {"name": "summarize"}])
    added = changed_files(state, more, OWN)[SKILLS]
    assert added.startswith(OWN[SKILLS])
    entries = parse_skills(added).value or []
    assert [(one.skill_name, one.enabled, one.version) for one in entries] == [
        ("tides", False, "1.2"),
        ("winds", True, None),
        ("summarize", True, None),
    ]
    fewer = altered(was, skills=[{"name": "tides"}])
    left = changed_files(state, fewer, OWN)[SKILLS]
    assert parse_skills(left).value == entries[:1] and left.startswith("# mine\n")
    none = altered(was, skills=[])
    assert changed_files(state, none, OWN) == {SKILLS: "# mine\n\n"}


def test_skills_in_one_line_can_be_added_to():
    contents = {**OWN, SKILLS: "skills = { tides = { enabled = false } }\n"}
    state = changing(contents)
    config = altered(settings_before(state), skills=[{"name": "tides"}, {"name": "summarize"}])
    entries = parse_skills(changed_files(state, config, contents)[SKILLS]).value or []
    assert [(one.skill_name, one.enabled) for one in entries] == [("tides", False), ("summarize", True)]


def test_what_somebody_changed_meanwhile_stays():
    state = changing(OWN)
    meanwhile = {
        **OWN,
        IDENTITY: OWN[IDENTITY].replace("0.3", "0.5"),
        SKILLS: OWN[SKILLS] + "\n[skills.summarize]\nenabled = false\n",
    }
    config = altered(
        settings_before(state),
        tags=["sea"],
        skills=[{"name": "tides"}, {"name": "winds"}, {"name": "summarize"}],
    )
    changed = changed_files(state, config, meanwhile)
    identity = parse_identity(changed[IDENTITY]).value
    assert identity is not None
    assert (identity.temperature, identity.tags) == (0.5, ["sea"])
    assert list(changed) == [IDENTITY]


def test_a_soul_that_was_given_says_what_it_says():
    assert soul_fields(OWN[SOUL]).tone == "dry"
    assert soul_fields("---\nname: Ada\n---\n") == Fields(name="Ada", traits=[])
