"""Answers of a given shape: the schema a model is shown, and what it is told when it did not keep to it."""

from typing import Any

from pydantic import BaseModel, ValidationError

from forge.kernel.misfit import misfits
from forge.llm.messages import StopReason, Text, ToolResult, UserMessage
from forge.llm.models import Reply, ToolSpec

ANSWER = "answer"
MAX_PROBLEMS = 20


def answer_spec(answer: type[BaseModel]) -> ToolSpec:
    described = (answer.__doc__ or "The answer.").strip()
    return ToolSpec(name=ANSWER, description=described, parameters=answer.model_json_schema())


def answer_text(reply: Reply) -> str:
    """The JSON of the answer: the call of the answer tool, or the text of a model that follows a schema."""
    calls = [call for call in reply.message.tool_calls if call.name == ANSWER]
    return calls[-1].arguments if calls else reply.message.text


def problems_of(error: ValidationError) -> list[str]:
    found = misfits(error)
    lines = [f"{_place(misfit.path)}: {misfit.message}" for misfit in found[:MAX_PROBLEMS]]
    left = len(found) - MAX_PROBLEMS
    return [*lines, f"and {left} more"] if left > 0 else lines


def correction(reply: Reply, problems: list[str]) -> UserMessage:
    """Only what is wrong: the model has its own answer before it."""
    text = "The answer does not fit the schema:\n" + "\n".join(f"- {line}" for line in problems)
    text += "\nGive the whole answer again, with these corrected."
    results: list[Text | ToolResult] = [
        ToolResult(call_id=call.id, name=call.name, text=text, failed=True)
        for call in reply.message.tool_calls
    ]
    return UserMessage(parts=results or [Text(text=text)])


def why_unusable(stop: StopReason, problems: list[str]) -> str:
    match stop:
        case StopReason.REFUSED:
            return "The model refused to answer."
        case StopReason.LENGTH:
            return "The model's answer is longer than it may be, and was cut off."
        case StopReason.CONTEXT_FULL:
            return "The model had no room left for its answer."
        case _:
            return "The model's answer does not fit what was asked: " + "; ".join(problems[:5])


def _place(location: tuple[Any, ...]) -> str:
    return ".".join(str(part) for part in location) or "the answer"
