"""A skill with a script that asks for something, what it gets before and after somebody says yes, and its run."""

import json

from forge.bots.models import SkillView
from forge.skills.execution import RunEnd
from forge.skills.views import SkillDetail, SkillRan
from forge.tour.visit import PATIENCE_S, Visit

NAME = "count-words"
TEXT = "Seven words are enough for this demo."
SKILL_MD = """\
---
name: count-words
description: Counts the words of a text, and how often it was asked to. Use when somebody asks how long a text is.
metadata:
  version: 1.0.0
  forge-kind: script
  forge-capabilities: kv
---

# Count words

Give it `{"text": "…"}`; it gives `{"words": 2, "uses": 1}`.
"""
SOURCE = """\
function run(input) {
  const uses = (kv.get("uses") ?? 0) + 1;
  kv.set("uses", uses);
  return { words: input.text.split(/\\s+/).filter(Boolean).length, uses };
}
"""


def make_skill(visit: Visit, bot: str) -> None:
    visit.tell.quote(SOURCE)
    files = {"SKILL.md": SKILL_MD, "skill.js": SOURCE}
    made = visit.client.post("/skills", SkillDetail, {"name": NAME, "files": files})
    visit.note(f"The skill {NAME}", f"/skills/{NAME}")
    _refuse(visit)
    granted = _grant(visit, made)
    visit.client.post(f"/bots/{bot}/skills", SkillView, {"skill_name": granted.name})
    ran = _run(visit)
    visit.expect(ran.output == {"words": 7, "uses": 1}, f"The skill gave {ran.output}, which is wrong.")
    visit.tell.line("it gives", json.dumps(ran.output, ensure_ascii=False))
    visit.tell.done(
        f"Counted by WebAssembly in {ran.duration_ms:.0f} ms, with nothing in reach but what was granted."
    )


def _refuse(visit: Visit) -> None:
    ran = _run(visit)
    visit.expect(ran.end is not RunEnd.DONE, "The skill ran before anybody granted what it asks for.")
    visit.tell.line("refused", ran.error)


def _grant(visit: Visit, made: SkillDetail) -> SkillDetail:
    for asked in made.asks:
        visit.tell.line("it asks", f"to {asked.title}. {asked.allows} {asked.risk}")
    visit.tell.line("we say", "yes")
    wish = {"grants": [{"capability": asked.capability.value} for asked in made.asks]}
    return visit.client.put(f"/skills/{NAME}/grants", SkillDetail, {**wish, "folder_hash": made.folder_hash})


def _run(visit: Visit) -> SkillRan:
    with visit.tell.waiting("The script runs"):
        return visit.client.post(
            f"/skills/{NAME}/run", SkillRan, {"input": {"text": TEXT}}, within_s=PATIENCE_S
        )
