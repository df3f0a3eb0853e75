"""Reads a request to the Messages API, as strictly as the real one where it matters to an agent's loop."""

from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forge.demo.conversation import Conversation, Demand, JsonObject, OfferedTool, ToolResult, count_replies
from forge.demo.dialect import refuse
from forge.demo.reply import signature_of
from forge.errors import Malformed


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Block(_Open):
    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Any = None
    tool_use_id: str = ""
    content: "str | list[Block] | None" = ""
    thinking: str = ""
    signature: str = ""


class Message(_Open):
    role: Literal["user", "assistant", "system"]
    content: str | list[Block]

    def blocks(self) -> list[Block]:
        return [Block(type="text", text=self.content)] if isinstance(self.content, str) else self.content

    def of_type(self, kind: str) -> list[Block]:
        return [block for block in self.blocks() if block.type == kind]

    def text(self) -> str:
        return "\n".join(block.text for block in self.of_type("text"))


class Tool(_Open):
    name: str
    input_schema: JsonObject = Field(default_factory=dict[str, Any])


class ToolChoice(_Open):
    type: Literal["auto", "any", "tool", "none"]
    name: str = ""


class Request(_Open):
    model: str = Field(min_length=1)
    max_tokens: int = Field(ge=0)
    messages: list[Message] = Field(min_length=1)
    system: str | list[Block] = ""
    tools: list[Tool] = Field(default_factory=list[Tool])
    tool_choice: ToolChoice | None = None
    stream: bool = False
    output_config: JsonObject = Field(default_factory=dict[str, Any])
    output_format: JsonObject | None = None


class CountRequest(Request):
    """The same without the length of the answer."""

    max_tokens: int = 0


def read_request(body: JsonObject, kind: type[Request] = Request) -> Request:
    try:
        request = kind.model_validate(body)
    except ValidationError as error:
        raise refuse(error) from error
    _check_order(request.messages)
    _check_signatures(request.messages)
    return request


def _check_order(messages: list[Message]) -> None:
    """Every tool call is answered in the next message, and nothing else is."""
    if messages[0].role == "assistant":
        raise Malformed('messages: first message must use the "user" role')
    asked: list[str] = []
    seen: set[str] = set()
    for index, role, blocks in _turns(messages):
        if role == "user":
            _check_answers(
                index, asked, [block.tool_use_id for block in blocks if block.type == "tool_result"]
            )
        asked = [block.id for block in blocks if block.type == "tool_use"]
        if len(set(asked)) < len(asked) or seen & set(asked):
            raise Malformed(f"messages.{index}: `tool_use` ids must be unique")
        seen |= set(asked)


def _turns(messages: list[Message]) -> list[tuple[int, str, list[Block]]]:
    """Messages of the same role in a row are one."""
    turns: list[tuple[int, str, list[Block]]] = []
    for index, message in enumerate(messages):
        if turns and turns[-1][1] == message.role:
            turns[-1][2].extend(message.blocks())
        elif message.role != "system":
            turns.append((index, message.role, list(message.blocks())))
    return turns


def _check_answers(index: int, asked: list[str], answered: list[str]) -> None:
    if stray := [tool_id for tool_id in answered if tool_id not in asked]:
        raise Malformed(
            f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {stray[0]}. Each "
            "`tool_result` block must have a corresponding `tool_use` block in the previous message."
        )
    if missing := [tool_id for tool_id in asked if tool_id not in answered]:
        raise Malformed(
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}."
        )


def _check_signatures(messages: list[Message]) -> None:
    for index, message in enumerate(messages):
        for block in message.of_type("thinking"):
            if block.signature != signature_of(block.thinking):
                raise Malformed(f"messages.{index}: Invalid `signature` in `thinking` block")


def to_conversation(request: Request) -> Conversation:
    messages = [message for message in request.messages if message.role != "system"]
    texts = [message.text() for message in messages if message.role == "user"]
    is_continued = messages[-1].role == "assistant"
    return Conversation(
        model=request.model,
        system=_system_text(request),
        user_texts=tuple(text for text in texts if text),
        replies=count_replies([message.role for message in messages]) - is_continued,
        is_continued=is_continued,
        transcript="\n".join(_words(message) for message in messages),
        results=tuple(_results(messages)),
        tools=tuple(OfferedTool(tool.name, tool.input_schema) for tool in request.tools),
        demand=_demand(request),
        wants_stream=request.stream,
    )


def _system_text(request: Request) -> str:
    system = request.system
    parts = [system] if isinstance(system, str) else [block.text for block in system]
    return "\n".join([*parts, *(message.text() for message in request.messages if message.role == "system")])


def _words(message: Message) -> str:
    return "\n".join(block.text or block.thinking or _result_text(block) for block in message.blocks())


def _results(messages: list[Message]) -> list[ToolResult]:
    names = {block.id: block.name for message in messages for block in message.of_type("tool_use")}
    return [
        ToolResult(names.get(block.tool_use_id, ""), _result_text(block))
        for message in messages
        for block in message.of_type("tool_result")
    ]


def _result_text(block: Block) -> str:
    if isinstance(block.content, list):
        return "\n".join(inner.text for inner in block.content)
    return block.content or ""


def _demand(request: Request) -> Demand | None:
    form = request.output_format or request.output_config.get("format")
    if isinstance(form, dict) and cast(JsonObject, form).get("type") == "json_schema":
        return Demand(cast(JsonObject, form).get("schema", {}))
    choice = request.tool_choice
    if choice is None or choice.type not in ("any", "tool") or not request.tools:
        return None
    named = [tool for tool in request.tools if tool.name == choice.name]
    if choice.type == "tool" and not named:
        raise Malformed(f"tool_choice: Tool '{choice.name}' not found in provided tools")
    tool = (named or request.tools)[-1]
    return Demand(tool.input_schema, tool.name)
