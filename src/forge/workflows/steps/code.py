"""Steps that are code: a function in the WebAssembly runtime, with what it is given and its log."""

import base64
import binascii
import json
from collections.abc import Mapping

from pydantic import JsonValue

from forge.skills import execution
from forge.skills.entries import SCRIPTS
from forge.skills.execution import Program, RunEnd
from forge.skills.running import Runner
from forge.workflows.definition.models import CodeConfig, Language
from forge.workflows.engine.hands import Done, StepCall, StepError
from forge.workflows.steps.skill import MAX_ERROR, MAY_PASS, told

LANGUAGES: Mapping[Language, execution.Language] = {
    Language.JAVASCRIPT: execution.Language.JS,
    Language.PYTHON: execution.Language.PY,
    Language.WASM: execution.Language.WASM,
}


class CodeHand:
    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def do(self, call: StepCall, config: CodeConfig) -> Done:
        given = {} if config.input is None else config.input
        text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
        result = await self._runner.run_code(_program(config), text)
        ended, logs = result.ended, told(result.logs)
        if ended.end is not RunEnd.DONE:
            raise StepError(
                f"code_{ended.end.value}",
                f"The code of {call.step_id} failed: {_without_file(ended.error)[:MAX_ERROR]}",
                may_pass=ended.end in MAY_PASS,
                logs=logs,
            )
        output: dict[str, JsonValue] = {
            "type": "code",
            "language": config.language.value,
            "output": ended.output,
        }
        return Done(output, logs=logs)


def _program(config: CodeConfig) -> Program:
    language = LANGUAGES[config.language]
    if config.language is not Language.WASM:
        return Program(language, config.source.encode())
    try:
        return Program(language, base64.b64decode("".join(config.source.split()), validate=True))
    except (binascii.Error, ValueError) as error:
        raise StepError(
            "code_unusable",
            "The source is no base64, and a component is written down as such.",
            hint="Encode the file: base64 -w0 component.wasm",
        ) from error


def _without_file(error: str) -> str:
    """The runtimes speak of the file that a skill would have; here there is none."""
    for name in SCRIPTS:
        error = error.replace(name, "source")
    return error
