"""Reads a request to the Chat Completions API, as strictly as the real one where it matters to an agent's loop."""

from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forge.demo.conversation import Conversation, Demand, JsonObject, OfferedTool, ToolResult, count_replies
from forge.demo.dialect import refuse
from forge.errors import Malformed


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Part(_Open):
    type: str
    text: str = ""


class FunctionCall(_Open):
    name: str
    arguments: str = ""


class ToolCall(_Open):
    id: str
    function: FunctionCall


class Message(_Open):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[Part] | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None

    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class Function(_Open):
    name: str
    parameters: JsonObject = Field(default_factory=dict[str, Any])


class Tool(_Open):
    type: Literal["function"]
    function: Function


class StreamOptions(_Open):
    include_usage: bool = False


class Request(_Open):
    model: str = Field(min_length=1)
    messages: list[Message] = Field(min_length=1)
    tools: list[Tool] = Field(default_factory=list[Tool])
    tool_choice: str | JsonObject | None = None
    response_format: JsonObject | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None


def read_request(body: JsonObject) -> Request:
    try:
        request = Request.model_validate(body)
    except ValidationError as error:
        raise refuse(error) from error
    _check_order(request.messages)
    return request


def _check_order(messages: list[Message]) -> None:
    """Every tool call is answered before anything else is said, and nothing else is."""
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        if message.role == "tool":
            if message.tool_call_id not in open_calls:
                raise Malformed(
                    f"messages.{index}: messages with role 'tool' must be a response to a preceding message "
                    "with 'tool_calls'."
                )
            open_calls.remove(message.tool_call_id)
        elif open_calls:
            raise Malformed(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                "'tool_call_id'. The following tool_call_ids did not have response messages: "
                f"{', '.join(open_calls)}"
            )
        open_calls += [call.id for call in message.tool_calls or []]


def to_conversation(request: Request) -> Conversation:
    messages = request.messages
    said = [message for message in messages if message.role not in ("system", "developer")]
    is_continued = bool(said) and said[-1].role == "assistant"
    texts = [message.text() for message in said if message.role == "user"]
    return Conversation(
        model=request.model,
        system="\n".join(message.text() for message in messages if message not in said),
        user_texts=tuple(text for text in texts if text),
        replies=count_replies([message.role for message in said]) - is_continued,
        is_continued=is_continued,
        transcript="\n".join(message.text() for message in said),
        results=tuple(_results(said)),
        tools=tuple(OfferedTool(tool.function.name, tool.function.parameters) for tool in request.tools),
        demand=_demand(request),
        wants_stream=request.stream,
        wants_usage=request.stream_options is not None and request.stream_options.include_usage,
    )


def _results(messages: list[Message]) -> list[ToolResult]:
    names = {call.id: call.function.name for message in messages for call in message.tool_calls or []}
    return [
        ToolResult(names.get(message.tool_call_id or "", ""), message.text())
        for message in messages
        if message.role == "tool"
    ]


def _demand(request: Request) -> Demand | None:
    form = request.response_format or {}
    if form.get("type") == "json_schema":
        return Demand(cast(JsonObject, form.get("json_schema", {})).get("schema", {}))
    if form.get("type") == "json_object":
        return Demand({"type": "object"})
    choice = request.tool_choice
    if not request.tools or choice in (None, "auto", "none"):
        return None
    functions = [tool.function for tool in request.tools]
    if isinstance(choice, dict):
        name = choice.get("function", {}).get("name")
        functions = [function for function in functions if function.name == name]
        if not functions:
            raise Malformed(f"Tool choice '{name}' not found in 'tools' parameter.")
    return Demand(functions[-1].parameters, functions[-1].name)
