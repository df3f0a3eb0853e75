"""docs/reference/triggers.md matches the code."""

import re
from pathlib import Path

import pytest

from forge.kernel.clock import now
from forge.workflows.definition.models import CronTrigger, EventTrigger, FileWatchTrigger, WebhookTrigger
from forge.workflows.schedules import read_schedule
from forge.workflows.triggers.event_names import EVENT_TYPES

PAGE = (Path(__file__).parents[3] / "docs/reference/triggers.md").read_text()


def rows(heading: str) -> str:
    return PAGE.partition(f"## `{heading}`")[2].partition("\n## ")[0]


PHRASES = re.findall(r"^\| (`.+`) \| `([^`]+)` \|$", rows("cron"), re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "trigger"),
    [
        ("cron", CronTrigger),
        ("webhook", WebhookTrigger),
        ("event", EventTrigger),
        ("file_watch", FileWatchTrigger),
    ],
)
def test_every_key_is_documented(heading: str, trigger: type[CronTrigger]):
    named = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", rows(heading), re.MULTILINE)
    assert sorted(named) == sorted(trigger.model_fields.keys() - {"type"})


def test_every_event_type_is_documented():
    assert {name for name in EVENT_TYPES if f"`{name}`" not in rows("event")} == set()
    first = "".join(re.findall(r"^\|([^|]+)\|[^|]+\|[^|]+\|[^|]+\|$", rows("event"), re.MULTILINE))
    assert set(re.findall(r"`([a-z]+\.[a-z]+)`", first)) == set(EVENT_TYPES)


@pytest.mark.parametrize(
    ("phrase", "fields"),
    [(phrase, fields) for row, fields in PHRASES for phrase in re.findall(r"`([^`]+)`", row)],
)
def test_documented_phrases_match_their_fields(phrase: str, fields: str):
    phrase_schedule, cron_schedule, moment = read_schedule(phrase), read_schedule(fields), now()
    for _ in range(5):
        next_moment = phrase_schedule.next_after(moment)
        assert next_moment == cron_schedule.next_after(moment)
        moment = next_moment


def test_phrase_table_is_found():
    assert len(PHRASES) > 10
