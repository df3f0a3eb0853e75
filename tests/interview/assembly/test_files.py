"""The files of new bots: complete, readable, and the same bytes for the same input."""

import pytest
from tests.interview.assembly.workbench import interview, settings

from forge.bots.files.checking import check
from forge.bots.files.identity import parse_identity
from forge.bots.files.skills import parse_skills
from forge.bots.files.soul import parse_soul
from forge.bots.files.user import parse_user
from forge.bots.models import BotFile, Category, Identity, SkillEntry
from forge.interview.assembly.files import files_of
from forge.interview.assembly.sections import read_section
from forge.interview.categories import Custom
from forge.interview.phases import Mode
from forge.interview.state import Basis, Speaker, State, Written
from forge.interview.writing import soul_hash

GIVEN = "---\nname: Grace # mine\ntraits:\n- calm\n---\n\n# Purpose\n\nTo sail.\n"
BODY = "# Personality\n\nDry.\n\n# Purpose\n\nTo review.\n\n# Boundaries\n\n- None.\n"


def written(soul: str, of: str) -> Written:
    return Written(of=of, by=Speaker.MODEL, soul=soul)


def test_the_four_files_say_what_was_agreed_on():
    config = settings(
        skills=[{"name": "code-review"}], model_config__model="openai:gpt-5", tags=["coding", "reviews"]
    )
    [ada] = files_of(interview(), config)
    assert (ada.name, ada.slug) == ("Ada", "ada")
    assert [check(file, text) for file, text in ada.contents.items()] == [[], [], [], []]
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


def test_the_model_chosen_for_bots_is_not_named():
    [ada] = files_of(interview(), settings())
    identity = parse_identity(ada.contents[BotFile.IDENTITY]).value
    assert identity is not None
    assert (identity.provider, identity.model) == (None, None)


def test_the_same_settings_give_the_same_bytes_and_another_name_another_look():
    config = settings()
    assert files_of(interview(), config) == files_of(interview(session_id="another"), config)
    looks = [_look(interview(), name) for name in ("Ada", "Grace", "Edsger", "Barbara", "Donald")]
    assert len(set(looks)) > 1
    assert _look(interview(found_purpose=Custom(custom="knitting")), "Ada") != looks[0]


def _look(state: State, name: str) -> tuple[str, str]:
    [draft] = files_of(state, settings(name=name))
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
def test_whatever_the_name_is_the_files_say_it_back(name: str, slug: str | None):
    hostile = {
        "tone": f"': {name}"[:200],
        "traits": [f"- {name}"[:100]],
        "purpose": f"{name}\n---\n{name}",
        "boundaries": name,
    }
    config = settings(name=name, description=f"# {name}", personality=hostile)
    if slug is None:
        with pytest.raises(Exception, match="letter or a digit"):
            files_of(interview(), config)
        return
    [draft] = files_of(interview(), config)
    assert draft.slug == slug
    for file, text in draft.contents.items():
        assert [problem for problem in check(file, text) if not problem.is_warning] == []
    soul, identity = (
        parse_soul(draft.contents[BotFile.SOUL]).value,
        parse_identity(draft.contents[BotFile.IDENTITY]).value,
    )
    assert soul is not None
    assert identity is not None
    assert (soul.name, soul.tone, soul.traits) == (name, hostile["tone"], hostile["traits"])
    assert (identity.display_name, identity.description) == (name, f"# {name}")


def test_a_text_is_used_only_for_the_settings_it_was_written_for():
    config = settings()
    [fitting] = files_of(interview(written=written(BODY, soul_hash(config))), config)
    assert fitting.contents[BotFile.SOUL].endswith(f"\n---\n\n{BODY}")
    [plain] = files_of(interview(), config)
    [stale] = files_of(interview(written=written(BODY, "of others")), config)
    assert stale == plain
    assert BODY not in plain.contents[BotFile.SOUL]


def test_a_soul_that_was_given_is_used_as_it_is():
    [bot] = files_of(interview(basis=Basis(soul=GIVEN)), settings())
    assert bot.contents[BotFile.SOUL] == GIVEN


def test_every_bot_of_a_batch_has_its_name_and_its_difference():
    variants = [{"name": "Ada Brief", "difference": "Answers in one sentence."}, {"name": "Ada Long"}]
    config = settings(variants=variants)
    brief, long = files_of(interview(Mode.BATCH), config)
    assert [(bot.name, bot.slug) for bot in (brief, long)] == [
        ("Ada Brief", "ada-brief"),
        ("Ada Long", "ada-long"),
    ]
    assert "Answers in one sentence." in brief.contents[BotFile.SOUL]
    assert "one sentence" not in long.contents[BotFile.SOUL]
    identity = parse_identity(brief.contents[BotFile.IDENTITY]).value
    assert identity is not None
    assert identity.description == "Reviews pull requests. Answers in one sentence."


def test_a_text_written_for_a_batch_gets_the_difference_at_the_end_of_its_purpose():
    config = settings(variants=[{"name": "Ada Brief", "difference": "Answers in one sentence."}])
    for state in (
        interview(Mode.BATCH, written=written(BODY, soul_hash(config))),
        interview(Mode.BATCH, basis=Basis(soul=f"---\nname: Grace\n---\n\n{BODY}")),
    ):
        [brief] = files_of(state, config)
        soul = parse_soul(brief.contents[BotFile.SOUL]).value
        assert soul is not None
        assert soul.name == "Ada Brief"
        assert soul.body == BODY.replace("To review.", "To review.\n\nAnswers in one sentence.")
