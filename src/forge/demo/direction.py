"""Finds the turn a request is at, without any memory of earlier requests: replayed after a crash, it is the same."""

import fnmatch
import json
import re
from dataclasses import dataclass

from forge.demo.conversation import Conversation, Demand
from forge.demo.reply import Block, Redacted, Reply, Text, Thinking, ToolUse
from forge.demo.schema import fill_schema
from forge.demo.script import AfterLast, FaultKind, Match, Scene, Script, StopReason, Turn
from forge.demo.templates import Lookup, fill, fill_json
from forge.kernel.hashing import hash_json

DEFAULT_SCENE = "default"


@dataclass(frozen=True)
class Cue:
    """Where in the script a request is."""

    scene: str
    turn: int
    conversation: str
    """Names the conversation: the scene and how it was opened."""
    plan: Turn | None
    """None when the script has nothing to say here: the answer is made up."""
    groups: dict[str, str]


def find_cue(script: Script, talk: Conversation) -> Cue:
    for name, scene in script.scenes.items():
        groups = _match(scene.match, talk)
        if groups is not None:
            number = _position(scene, talk)
            return Cue(name, number, _conversation(name, talk), _turn(scene, number), groups)
    return Cue(DEFAULT_SCENE, talk.replies, _conversation(DEFAULT_SCENE, talk), None, {})


def _conversation(scene: str, talk: Conversation) -> str:
    return hash_json([scene, talk.model, talk.opening])[:12]


def _match(match: Match, talk: Conversation) -> dict[str, str] | None:
    """The groups its patterns found; None when one did not."""
    if match.model is not None and not fnmatch.fnmatchcase(talk.model, match.model):
        return None
    groups: dict[str, str] = {}
    wanted = [
        (match.text, "\n".join((talk.system, talk.opening, talk.latest))),
        (match.system, talk.system),
        (match.opening, talk.opening),
        (match.latest, talk.latest),
    ]
    for pattern, text in wanted:
        if pattern is None:
            continue
        found = pattern.search(text)
        if found is None:
            return None
        numbered = {str(number): found.group(number) or "" for number in range(pattern.groups + 1)}
        groups |= numbered | {name: value or "" for name, value in found.groupdict().items()}
    return groups


def _position(scene: Scene, talk: Conversation) -> int:
    if scene.position is not None:
        numbers = [int(found) for found in scene.position.findall(talk.transcript) if found.isdecimal()]
        if numbers:
            return numbers[-1]
    return talk.replies


def _turn(scene: Scene, number: int) -> Turn | None:
    turns = scene.all_turns()
    if number < len(turns):
        return turns[number]
    match scene.after:
        case AfterLast.REPEAT:
            return turns[-1]
        case AfterLast.RESTART:
            return turns[number % len(turns)]
        case AfterLast.STOP:
            return None


def write_reply(cue: Cue, talk: Conversation) -> Reply:
    if cue.plan is None:
        return _made_up(cue, talk)
    look_up = _lookup(cue, talk)
    pause = next((fault for fault in cue.plan.faults if fault.kind is FaultKind.PAUSE_TURN), None)
    if pause is not None and not talk.is_continued:
        return Reply((Text(fill(pause.text, look_up)),), StopReason.PAUSE_TURN)
    blocks = tuple(_blocks(cue, cue.plan, look_up))
    has_tools = any(isinstance(block, ToolUse) for block in blocks)
    return Reply(blocks, cue.plan.stop or (StopReason.TOOL_USE if has_tools else StopReason.END_TURN))


def _blocks(cue: Cue, plan: Turn, look_up: Lookup) -> list[Block]:
    blocks: list[Block] = []
    if plan.thinking is not None:
        blocks.append(Thinking(fill(plan.thinking, look_up)))
    if plan.redacted_thinking is not None:
        blocks.append(Redacted(plan.redacted_thinking))
    if plan.text is not None:
        blocks.append(Text(fill(plan.text, look_up)))
    if plan.json_text is not None:
        blocks.append(Text(json.dumps(fill_json(plan.json_text, look_up), ensure_ascii=False)))
    for index, call in enumerate(plan.tools):
        arguments = json.dumps(fill_json(call.input, look_up), ensure_ascii=False)
        blocks.append(ToolUse(call.id or _tool_id(cue, index), call.tool, arguments))
    return blocks


def _tool_id(cue: Cue, index: int) -> str:
    return f"toolu_{hash_json([cue.conversation, cue.turn, index])[:24]}"


def _lookup(cue: Cue, talk: Conversation) -> Lookup:
    known = {
        "turn": str(cue.turn),
        "tools": ", ".join(tool.name for tool in talk.tools),
        "model": talk.model,
        "system": talk.system,
        "opening": talk.opening,
        "latest": talk.latest,
    }

    def look_up(name: str) -> str:
        family, _, member = name.partition(".")
        if family == "result":
            return talk.result_of(member or None)
        return cue.groups.get(member, "") if family == "match" else known[family]

    return look_up


def _made_up(cue: Cue, talk: Conversation) -> Reply:
    demand = talk.demand
    if demand is None:
        return Reply((Text(_small_talk(talk)),), StopReason.END_TURN)
    return _in_form(cue, demand)


def _in_form(cue: Cue, demand: Demand) -> Reply:
    answer = json.dumps(fill_schema(demand.schema), ensure_ascii=False)
    if demand.tool is None:
        return Reply((Text(answer),), StopReason.END_TURN)
    return Reply((ToolUse(_tool_id(cue, 0), demand.tool, answer),), StopReason.TOOL_USE)


def _small_talk(talk: Conversation) -> str:
    said = re.sub(r"\s+", " ", talk.latest).strip()
    echo = f' You said: "{said[:200]}".' if said else ""
    return f"This answer comes from a script; no model was asked.{echo}"
