"""Rendered files are parsed back unchanged, for any text."""

import pytest
import yaml
from hypothesis import given, settings
from tests.bots.files.strategies import NASTY, identities, skills, souls

from forge.bots.files.identity import parse_identity, render_identity
from forge.bots.files.skills_toml import parse_skills, render_skills
from forge.bots.files.soul import parse_soul, render_soul
from forge.bots.models import Identity, SkillEntry, Soul

MORE = settings(max_examples=150, deadline=None)


@MORE
@given(souls)
def test_soul_round_trips(soul: Soul):
    assert parse_soul(render_soul(soul)).value == soul


@MORE
@given(identities)
def test_identity_round_trips(identity: Identity):
    assert parse_identity(render_identity(identity)).value == identity


@MORE
@given(skills)
def test_skills_round_trip(entries: list[SkillEntry]):
    assert parse_skills(render_skills(entries)).value == entries


@pytest.mark.parametrize("text", NASTY)
def test_soul_body_is_not_parsed_as_front_matter(text: str):
    soul = Soul(name=text, traits=[text, text], tone=text, body=text)
    assert parse_soul(render_soul(soul)).value == soul


@pytest.mark.parametrize("text", NASTY)
def test_other_yaml_parsers_read_the_same_name(text: str):
    front = render_soul(Soul(name=text)).split("---\n", 1)[1].rsplit("---\n", 1)[0]
    assert yaml.safe_load(front) == {"name": text, "traits": [], "tone": ""}


def test_name_cannot_add_keys():
    name = 'x\ntone: evil\n---\n"'
    assert parse_soul(render_soul(Soul(name=name))).value == Soul(name=name)
