"""Rendering the files of new bots."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.interview.assembly.workbench import interview, settings

from forge.bots.files.identity import parse_identity
from forge.bots.files.problems import find_problems
from forge.bots.files.skills_toml import parse_skills
from forge.bots.files.soul import parse_soul
from forge.bots.files.user import parse_user
from forge.bots.models import BotFile, Category, Identity, SkillEntry
from forge.bots.versions.file_status import BotFiles
from forge.interview.assembly.bot_files import changed_files, fields_from_files, fields_from_soul, render_bots
from forge.interview.assembly.soul_text import read_section
from forge.interview.domain.build_config import BuilderConfig, Fields
from forge.interview.domain.categories import CustomPurpose
from forge.interview.domain.config_builder import original_config, soul_hash
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Basis, InterviewSpeaker, State, Written

SUPPLIED_SOUL = "---\nname: Grace # mine\ntraits:\n- calm\n---\n\n# Purpose\n\nTo sail.\n"
BODY = "# Personality\n\nDry.\n\n# Purpose\n\nTo review.\n\n# Boundaries\n\n- None.\n"


def written_soul(soul: str, of: str) -> Written:
    return Written(of=of, by=InterviewSpeaker.MODEL, soul=soul)


def test_files_contain_the_settings():
    config = settings(
        skills=[{"name": "code-review"}], model_config__model="openai:gpt-5", tags=["coding", "reviews"]
    )
    [ada] = render_bots(interview(), config)
    assert (ada.name, ada.slug) == ("Ada", "ada")
    assert [find_problems(file, text) for file, text in ada.contents.items()] == [[], [], [], []]
    soul = parse_soul(ada.contents[BotFile.SOUL]).value
    assert soul is not None
    assert (soul.name, soul.tone, soul.traits) == ("Ada", "technical", ["precise", "patient"])
    assert "Review pull requests for two teams." in (read_section(soul.body, "Purpose") or "")
    assert "- Never approve its own work." in (read_section(soul.body, "Boundaries") or "")
    identity = parse_identity(ada.contents[BotFile.IDENTITY]).value
    assert identity is not None
    assert identity == Identity(
        display_name="Ada",
        description="Reviews pull requests.",
        category=Category.ASSISTANT,
        tags=["coding", "reviews"],
        provider="openai",
        model="gpt-5",
        temperature=0.2,
        max_tokens=4096,
        avatar=identity.avatar,
        colour=identity.colour,
    )
    assert parse_skills(ada.contents[BotFile.SKILLS]).value == [
        SkillEntry(skill_name="code-review", overrides={"origin": "builder-created"})
    ]
    user = parse_user(ada.contents[BotFile.USER]).value or ""
    assert user.endswith("I made Ada for this: Review pull requests for two teams.")


def test_default_model_is_not_written():
    [ada] = render_bots(interview(), settings())
    identity = parse_identity(ada.contents[BotFile.IDENTITY]).value
    assert identity is not None
    assert (identity.provider, identity.model) == (None, None)


def test_rendering_is_deterministic_and_look_depends_on_name():
    config = settings()
    assert render_bots(interview(), config) == render_bots(interview(session_id="another"), config)
    looks = [_look(interview(), name) for name in ("Ada", "Grace", "Edsger", "Barbara", "Donald")]
    assert len(set(looks)) > 1
    assert _look(interview(found_purpose=CustomPurpose(custom="knitting")), "Ada") != looks[0]


def _look(state: State, name: str) -> tuple[str, str]:
    [draft] = render_bots(state, settings(name=name))
    identity = parse_identity(draft.contents[BotFile.IDENTITY]).value
    assert identity is not None
    return identity.avatar, identity.colour


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ('Ada: "the first"', "ada-the-first"),
        ("Ada\nrole: admin", "ada-role-admin"),
        ("🦉 Owl", "owl"),
        ("x" * 200, "x" * 64),
        ("../x", "x"),
        ("--- # {[*&!|>%@`", None),
        ("--> <!-- 7", "7"),
        ("null", "null"),
    ],
)
def test_any_name_round_trips_through_the_files(name: str, slug: str | None):
    hostile = {
        "tone": f"': {name}"[:200],
        "traits": [f"- {name}"[:100]],
        "purpose": f"{name}\n---\n{name}",
        "boundaries": name,
    }
    config = settings(name=name, description=f"# {name}", personality=hostile)
    if slug is None:
        with pytest.raises(Exception, match="letter or a digit"):
            render_bots(interview(), config)
        return
    [draft] = render_bots(interview(), config)
    assert draft.slug == slug
    for file, text in draft.contents.items():
        assert [problem for problem in find_problems(file, text) if not problem.is_warning] == []
    soul, identity = (
        parse_soul(draft.contents[BotFile.SOUL]).value,
        parse_identity(draft.contents[BotFile.IDENTITY]).value,
    )
    assert soul is not None
    assert identity is not None
    assert (soul.name, soul.tone, soul.traits) == (name, hostile["tone"], hostile["traits"])
    assert (identity.display_name, identity.description) == (name, f"# {name}")


def test_written_soul_is_used_only_for_its_settings():
    config = settings()
    [matching] = render_bots(interview(written=written_soul(BODY, soul_hash(config))), config)
    assert matching.contents[BotFile.SOUL].endswith(f"\n---\n\n{BODY}")
    [plain] = render_bots(interview(), config)
    [stale] = render_bots(interview(written=written_soul(BODY, "of others")), config)
    assert stale == plain
    assert BODY not in plain.contents[BotFile.SOUL]


def test_supplied_soul_is_used_unchanged():
    [bot] = render_bots(interview(basis=Basis(soul=SUPPLIED_SOUL)), settings())
    assert bot.contents[BotFile.SOUL] == SUPPLIED_SOUL


def test_batch_bots_get_their_name_and_difference():
    variants = [{"name": "Ada Brief", "difference": "Answers in one sentence."}, {"name": "Ada Long"}]
    config = settings(variants=variants)
    brief, long = render_bots(interview(Mode.BATCH), config)
    assert [(bot.name, bot.slug) for bot in (brief, long)] == [
        ("Ada Brief", "ada-brief"),
        ("Ada Long", "ada-long"),
    ]
    assert "Answers in one sentence." in brief.contents[BotFile.SOUL]
    assert "one sentence" not in long.contents[BotFile.SOUL]
    identity = parse_identity(brief.contents[BotFile.IDENTITY]).value
    assert identity is not None
    assert identity.description == "Reviews pull requests. Answers in one sentence."


def test_difference_is_appended_to_the_written_purpose():
    config = settings(variants=[{"name": "Ada Brief", "difference": "Answers in one sentence."}])
    for state in (
        interview(Mode.BATCH, written=written_soul(BODY, soul_hash(config))),
        interview(Mode.BATCH, basis=Basis(soul=f"---\nname: Grace\n---\n\n{BODY}")),
    ):
        [brief] = render_bots(state, config)
        soul = parse_soul(brief.contents[BotFile.SOUL]).value
        assert soul is not None
        assert soul.name == "Ada Brief"
        assert soul.body == BODY.replace("To review.", "To review.\n\nAnswers in one sentence.")


SOUL, IDENTITY, USER, SKILLS = BotFile.SOUL, BotFile.IDENTITY, BotFile.USER, BotFile.SKILLS

OWN: dict[BotFile, str] = {
    SOUL: """\
---
# identity
name: Ada
tone: dry # not chatty
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


def parse_files(contents: Mapping[BotFile, str]) -> BotFiles:
    soul, identity = parse_soul(contents[SOUL]).value, parse_identity(contents[IDENTITY]).value
    user, skills = parse_user(contents[USER]).value, parse_skills(contents[SKILLS]).value
    assert soul is not None
    assert identity is not None
    assert user is not None
    assert skills is not None
    return BotFiles(soul, contents[SOUL], 1, identity, user, skills)


def reconfigure(contents: Mapping[BotFile, str], **more: Any) -> State:
    basis = Basis(fields=fields_from_files(parse_files(contents)), bot_slug="ada", old_soul=contents[SOUL])
    return interview(Mode.RECONFIGURE, basis=basis, **more)


def with_changes(config: BuilderConfig, **changes: Any) -> BuilderConfig:
    values = config.model_dump(by_alias=True)
    for name, value in changes.items():
        part, _, inner = name.partition("__")
        values[part] = {**values[part], inner: value} if inner else value
    return BuilderConfig.model_validate(values)


def test_fields_are_read_from_the_files():
    known = fields_from_files(parse_files(OWN))
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


def test_created_bot_is_read_back_unchanged():
    config = settings(skills=[{"name": "code-review"}])
    [made] = render_bots(interview(), config)
    state = reconfigure(made.contents)
    original = original_config(state)
    assert with_changes(original, personality__boundaries="Never approve its own work") == config
    assert original.personality.boundaries == "- Never approve its own work."
    assert changed_files(state, original, made.contents) == {}


def test_no_change_renders_no_files():
    state = reconfigure(OWN)
    assert changed_files(state, original_config(state), OWN) == {}


def test_only_changed_keys_are_written():
    state = reconfigure(OWN)
    config = with_changes(
        original_config(state), model_config__temperature=0.9, model_config__model="default"
    )
    assert changed_files(state, config, OWN) == {
        IDENTITY: "---\ndisplay_name: Ada # the first\ntemperature: 0.9\n---\n"
    }
    config = with_changes(original_config(state), model_config__model="openai:gpt-5", tags=["sea"])
    changed = changed_files(state, config, OWN)
    assert list(changed) == [IDENTITY]
    identity = parse_identity(changed[IDENTITY]).value
    assert identity is not None
    assert (identity.ref, identity.tags, identity.temperature) == ("openai:gpt-5", ["sea"], 0.3)
    assert "# the first" in changed[IDENTITY]


def test_changed_tone_keeps_the_body():
    state = reconfigure(OWN)
    config = with_changes(original_config(state), personality__tone="warm", name="Ada II")
    changed = changed_files(state, config, OWN)
    assert set(changed) == {SOUL, IDENTITY}
    assert changed[SOUL] == OWN[SOUL].replace("name: Ada", "name: Ada II").replace("tone: dry", "tone: warm")


def test_only_changed_sections_are_replaced():
    state = reconfigure(OWN)
    config = with_changes(original_config(state), personality__boundaries="No politics")
    soul = changed_files(state, config, OWN)[SOUL]
    before, _, behind = soul.partition("# Boundaries\n\n- No politics.\n")
    assert OWN[SOUL].startswith(before)
    assert behind.endswith("\n\n# Notes\n\nMine.\n")
    assert "No weather" not in soul


def test_unedited_template_is_replaced_as_a_whole():
    [made] = render_bots(interview(), settings())
    state = reconfigure(made.contents)
    config = with_changes(original_config(state), personality__tone="playful")
    [again] = render_bots(interview(), with_changes(settings(), personality__tone="playful"))
    assert changed_files(state, config, made.contents) == {SOUL: again.contents[SOUL]}


def test_written_sections_replace_old_ones_and_custom_sections_stay():
    body = "# Personality\n\nNew.\n\n# Purpose\n\nNew.\n\n# Boundaries\n\n- New.\n"
    config = with_changes(original_config(reconfigure(OWN)), personality__tone="warm")
    state = reconfigure(OWN, written=Written(of=soul_hash(config), by=InterviewSpeaker.MODEL, soul=body))
    front = OWN[SOUL].partition("# Personality")[0].replace("tone: dry", "tone: warm")
    assert changed_files(state, config, OWN) == {SOUL: f"{front}{body}\n# Notes\n\nMine.\n"}
    unchanged = original_config(state)
    stale = reconfigure(OWN, written=Written(of=soul_hash(unchanged), by=InterviewSpeaker.MODEL, soul=body))
    assert changed_files(stale, unchanged, OWN) == {}


def test_remaining_skills_keep_their_entries():
    state = reconfigure(OWN)
    original = original_config(state)
    more = with_changes(original, skills=[*original.model_dump()["skills"], {"name": "summarize"}])
    added = changed_files(state, more, OWN)[SKILLS]
    assert added.startswith(OWN[SKILLS])
    entries = parse_skills(added).value or []
    assert [(one.skill_name, one.enabled, one.version) for one in entries] == [
        ("tides", False, "1.2"),
        ("winds", True, None),
        ("summarize", True, None),
    ]
    fewer = with_changes(original, skills=[{"name": "tides"}])
    remaining = changed_files(state, fewer, OWN)[SKILLS]
    assert parse_skills(remaining).value == entries[:1] and remaining.startswith("# mine\n")
    none = with_changes(original, skills=[])
    assert changed_files(state, none, OWN) == {SKILLS: "# mine\n\n"}


def test_skill_is_added_to_an_inline_list():
    contents = {**OWN, SKILLS: "skills = { tides = { enabled = false } }\n"}
    state = reconfigure(contents)
    config = with_changes(original_config(state), skills=[{"name": "tides"}, {"name": "summarize"}])
    entries = parse_skills(changed_files(state, config, contents)[SKILLS]).value or []
    assert [(one.skill_name, one.enabled) for one in entries] == [("tides", False), ("summarize", True)]


def test_concurrent_edits_in_files_are_kept():
    state = reconfigure(OWN)
    meanwhile = {
        **OWN,
        IDENTITY: OWN[IDENTITY].replace("0.3", "0.5"),
        SKILLS: OWN[SKILLS] + "\n[skills.summarize]\nenabled = false\n",
    }
    config = with_changes(
        original_config(state),
        tags=["sea"],
        skills=[{"name": "tides"}, {"name": "winds"}, {"name": "summarize"}],
    )
    changed = changed_files(state, config, meanwhile)
    identity = parse_identity(changed[IDENTITY]).value
    assert identity is not None
    assert (identity.temperature, identity.tags) == (0.5, ["sea"])
    assert list(changed) == [IDENTITY]


def test_fields_are_read_from_a_supplied_soul():
    assert fields_from_soul(OWN[SOUL]).tone == "dry"
    assert fields_from_soul("---\nname: Ada\n---\n") == Fields(name="Ada", traits=[])
