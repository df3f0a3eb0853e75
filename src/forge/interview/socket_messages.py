"""The messages of `/ws/builder`, in the spelling of the client.

A client writes `{"type": "start_bot", …}`, or uses the names of the protocol documents: `{"type": "StartBot", …}` or
`{"StartBot": {…}}`. Replies have the form of the client's last message. A client with the documents' names receives only
the replies that the documents define.
"""

import json
from enum import Enum, auto
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from forge.errors import ForgeError, Invalid, Malformed
from forge.http.hints import name_requests
from forge.interview.domain.build_config import BuilderConfig, SkillBuildRequest
from forge.interview.domain.dialogue import Answer, ReadyToCreateSkill
from forge.interview.domain.state import InterviewSpeaker, Made
from forge.interview.models import RequestDescription, Result, SessionView, Slug
from forge.kernel.validation import first_problem
from forge.skills.models import SkillName


class Style(Enum):
    """How a client spells messages."""

    SNAKE_CASE = auto()
    PASCAL_CASE = auto()
    EXTERNALLY_TAGGED = auto()


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid")


class StartBot(_Message):
    type: Literal["start_bot"]
    description: RequestDescription = ""
    speaker: InterviewSpeaker | None = None


class StartSkill(_Message):
    type: Literal["start_skill"]
    description: RequestDescription = ""
    skill: SkillName | None = None
    """An existing skill to change."""
    speaker: InterviewSpeaker | None = None


class Reconfigure(_Message):
    type: Literal["reconfigure"]
    bot_slug: Slug
    description: RequestDescription = ""
    speaker: InterviewSpeaker | None = None


class GiveAnswer(_Message):
    type: Literal["answer"]
    answer: Answer
    turn: int | None = Field(default=None, ge=0)


class AssembleBot(_Message):
    type: Literal["assemble_bot"]
    config: BuilderConfig | None = None


class CreateSkill(_Message):
    type: Literal["create_skill"]
    skill_request: SkillBuildRequest | None = None


class Resume(_Message):
    type: Literal["resume"]


class Cancel(_Message):
    type: Literal["cancel"]


class Ping(_Message):
    type: Literal["ping"]


Message = (
    StartBot | StartSkill | Reconfigure | GiveAnswer | AssembleBot | CreateSkill | Resume | Cancel | Ping
)
_MESSAGE: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])
TYPES: tuple[str, ...] = tuple(get_args(one.model_fields["type"].annotation)[0] for one in get_args(Message))


def _pascal(name: str) -> str:
    return "".join(part.title() for part in name.split("_"))


_BY_PASCAL = {_pascal(name): name for name in TYPES}


def read_message(text: str) -> tuple[object, Style]:
    """Return the message with the names of this server, and how the client spells them."""
    try:
        return _normalize(from_json(text))
    except ValueError as error:
        raise Malformed("The message is not valid JSON.") from error


def validate_message(value: object) -> Message:
    try:
        return _MESSAGE.validate_python(value)
    except ValidationError as error:
        misfit = first_problem(error)
        if misfit.kind == "model_attributes_type":
            raise Malformed("A message is a JSON object with a `type`.") from error
        if misfit.kind.startswith("union_tag"):
            raise Malformed("Unknown message type.", hint=f"`type` is one of {', '.join(TYPES)}.") from error
        path = ".".join(str(part) for part in misfit.path[1:])  # the first part is the type
        raise Invalid(f"{path}: {misfit.message}" if path else misfit.message) from error


def _normalize(value: object) -> tuple[object, Style]:
    if isinstance(value, str) and value in _BY_PASCAL:
        return {"type": _BY_PASCAL[value]}, Style.EXTERNALLY_TAGGED
    if not isinstance(value, dict):
        return value, Style.SNAKE_CASE
    message = cast("dict[str, Any]", value)
    if (name := message.get("type")) in _BY_PASCAL:
        return {**message, "type": _BY_PASCAL[name]}, Style.PASCAL_CASE
    if len(message) == 1 and (name := next(iter(message))) in _BY_PASCAL:
        content: object = message[name]
        if content is None or isinstance(content, dict):
            fields = cast("dict[str, Any]", content or {})
            return {**fields, "type": _BY_PASCAL[name]}, Style.EXTERNALLY_TAGGED
    return message, Style.SNAKE_CASE


def _format(style: Style, kind: str, **fields: str) -> str:
    """Write a reply, whose fields are JSON."""
    content = ",".join(f"{json.dumps(name)}:{text}" for name, text in fields.items())
    match style:
        case Style.SNAKE_CASE:
            return f'{{"type":"{kind}"{"," if content else ""}{content}}}'
        case Style.PASCAL_CASE:
            return f'{{"type":"{_pascal(kind)}"{"," if content else ""}{content}}}'
        case Style.EXTERNALLY_TAGGED:
            return f'{{"{_pascal(kind)}":{{{content}}}}}' if content else f'"{_pascal(kind)}"'


def turn_reply(session: SessionView, style: Style) -> str:
    """Repeat the turn beside the session, where older clients expect it."""
    turn = session.turn.model_dump(mode="json") if session.turn else None
    if isinstance(session.turn, ReadyToCreateSkill) and style is not Style.SNAKE_CASE and turn is not None:
        turn |= {"action": "ready_to_assemble", "config": turn["skill_request"]}
    return _format(style, "turn", turn=json.dumps(turn), session=session.model_dump_json())


def state_reply(session: SessionView, style: Style) -> str | None:
    if style is not Style.SNAKE_CASE:
        return None
    return _format(style, "state", session=session.model_dump_json())


def delta_reply(text: str, style: Style) -> str | None:
    return _format(style, "delta", text=json.dumps(text)) if style is Style.SNAKE_CASE else None


def result_reply(made: Made, style: Style) -> str:
    kind = "bot_assembled" if made.skill is None else "skill_created"
    return _format(style, kind, result=Result.of(made).model_dump_json())


def error_reply(error: ForgeError, style: Style) -> str:
    hint = error.websocket_hint and name_requests(error.websocket_hint)
    parts = {"message": error.message, "code": error.code, "hint": hint}
    return _format(style, "error", **{name: json.dumps(value) for name, value in parts.items()})


def pong(style: Style) -> str:
    return _format(style, "pong")


def heartbeat(style: Style) -> str | None:
    """Return the message sent at each heartbeat: not one that the documents do not define."""
    return pong(style) if style is Style.SNAKE_CASE else None
