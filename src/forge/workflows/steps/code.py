"""Executor of code steps: runs a function in the WebAssembly runtime."""

import base64
import binascii
import json
from collections.abc import Mapping

from pydantic import JsonValue

from forge.skills import execution
from forge.skills.execution import SCRIPTS, Program, RunEnd
from forge.skills.invocations.runner import Runner
from forge.workflows.definition.models import CodeConfig, Language
from forge.workflows.engine.step_executor import StepCall, StepError, StepResult
from forge.workflows.steps.skill import MAX_ERROR, RETRYABLE_ENDS, log_lines

LANGUAGES: Mapping[Language, execution.Language] = {
    Language.JAVASCRIPT: execution.Language.JS,
    Language.PYTHON: execution.Language.PY,
    Language.WASM: execution.Language.WASM,
}


class CodeStepExecutor:
    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def execute(self, call: StepCall, config: CodeConfig) -> StepResult:
        value = {} if config.input is None else config.input
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        result = await self._runner.run_code(_program(config), text)
        ended, logs = result.outcome, log_lines(result.logs)
        if ended.end is not RunEnd.DONE:
            raise StepError(
                f"code_{ended.end.value}",
                f"The code of {call.step_id} failed: {_without_file(ended.error)[:MAX_ERROR]}",
                retryable=ended.end in RETRYABLE_ENDS,
                logs=logs,
            )
        output: dict[str, JsonValue] = {
            "type": "code",
            "language": config.language.value,
            "output": ended.output,
        }
        return StepResult(output, logs=logs)


def _program(config: CodeConfig) -> Program:
    language = LANGUAGES[config.language]
    if config.language is not Language.WASM:
        return Program(language, config.source.encode())
    try:
        return Program(language, base64.b64decode("".join(config.source.split()), validate=True))
    except (binascii.Error, ValueError) as error:
        raise StepError(
            "code_unusable",
            "The source is not valid base64.",
            hint="Encode the component: base64 -w0 component.wasm",
        ) from error


def _without_file(error: str) -> str:
    """Replace the script's file name, which only skills have, in a message of the runtime."""
    for name in SCRIPTS:
        error = error.replace(name, "source")
    return error
