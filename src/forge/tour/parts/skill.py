"""Create a skill with a script, run it before and after granting its capability."""

import json

from forge.bots.models import SkillView
from forge.skills.execution import RunEnd
from forge.skills.views import SkillDetail, SkillRan
from forge.tour.demo_context import TIMEOUT_S, DemoContext

NAME = "count-words"
TEXT = "Seven words are enough for this demo."
SKILL_MD = """\
---
name: count-words
description: Counts the words of a text, and how often it was used. Use when someone asks for the length of a text.
metadata:
  version: 1.0.0
  forge-kind: script
  forge-capabilities: kv
---

# Count words

Input: `{"text": "…"}`. Output: `{"words": 2, "uses": 1}`.
"""
SOURCE = """\
function run(input) {
  const uses = (kv.get("uses") ?? 0) + 1;
  kv.set("uses", uses);
  return { words: input.text.split(/\\s+/).filter(Boolean).length, uses };
}
"""


def create_skill(context: DemoContext, bot: str) -> None:
    context.narrator.quote(SOURCE)
    files = {"SKILL.md": SKILL_MD, "skill.js": SOURCE}
    skill = context.client.post("/skills", SkillDetail, {"name": NAME, "files": files})
    context.add_link(f"The skill {NAME}", f"/skills/{NAME}")
    _refuse(context)
    granted = _grant(context, skill)
    context.client.post(f"/bots/{bot}/skills", SkillView, {"skill_name": granted.name})
    ran = _run(context)
    context.expect(
        ran.output == {"words": 7, "uses": 1}, f"The skill returned the wrong output {ran.output}."
    )
    context.narrator.line("output", json.dumps(ran.output, ensure_ascii=False))
    context.narrator.done(
        f"Counted in WebAssembly in {ran.duration_ms:.0f} ms, with access only to what was granted."
    )


def _refuse(context: DemoContext) -> None:
    ran = _run(context)
    context.expect(ran.end is not RunEnd.DONE, "The skill ran without the capability it requests.")
    context.narrator.line("denied", ran.error)


def _grant(context: DemoContext, skill: SkillDetail) -> SkillDetail:
    for capability in skill.asks:
        context.narrator.line("requests", f"{capability.title}. {capability.allows} {capability.risk}")
    context.narrator.line("you", "grant")
    request = {"grants": [{"capability": capability.capability.value} for capability in skill.asks]}
    return context.client.put(
        f"/skills/{NAME}/grants", SkillDetail, {**request, "folder_hash": skill.folder_hash}
    )


def _run(context: DemoContext) -> SkillRan:
    with context.narrator.waiting("Running the script"):
        return context.client.post(
            f"/skills/{NAME}/run", SkillRan, {"input": {"text": TEXT}}, within_s=TIMEOUT_S
        )
