"""Whatever a person calls things, the files keep it."""

import pytest
import yaml
from hypothesis import given, settings
from tests.bots.files.words import NASTY, identities, skills, souls

from forge.bots.files.identity import parse_identity, render_identity
from forge.bots.files.skills import parse_skills, render_skills
from forge.bots.files.soul import parse_soul, render_soul
from forge.bots.models import Identity, SkillEntry, Soul

MORE = settings(max_examples=150, deadline=None)


@MORE
@given(souls)
def test_a_soul_is_read_as_it_was_written(soul: Soul):
    assert parse_soul(render_soul(soul)).value == soul


@MORE
@given(identities)
def test_an_identity_is_read_as_it_was_written(identity: Identity):
    assert parse_identity(render_identity(identity)).value == identity


@MORE
@given(skills)
def test_skills_are_read_as_they_were_written(entries: list[SkillEntry]):
    assert parse_skills(render_skills(entries)).value == entries


@pytest.mark.parametrize("text", NASTY)
def test_no_text_of_a_soul_is_taken_for_something_else(text: str):
    soul = Soul(name=text, traits=[text, text], tone=text, body=text)
    assert parse_soul(render_soul(soul)).value == soul


@pytest.mark.parametrize("text", NASTY)
def test_other_readers_of_yaml_see_the_same_name(text: str):
    front = render_soul(Soul(name=text)).split("---\n", 1)[1].rsplit("---\n", 1)[0]
    assert yaml.safe_load(front) == {"name": text, "traits": [], "tone": ""}


def test_a_name_cannot_add_keys():
    name = 'x\ntone: evil\n---\n"'
    assert parse_soul(render_soul(Soul(name=name))).value == Soul(name=name)
