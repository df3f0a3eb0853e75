"""Code steps, in the real runtimes."""

import asyncio
import base64
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import JsonValue
from tests.skills.wasm.test_components import ECHO
from tests.workflows.steps.skill_services import open_skills
from tests.workflows.steps.step_calls import call_of

from forge.skills.execution import LIMITS
from forge.skills.invocations.runner import Runner
from forge.skills.models import Tier
from forge.store.database import Store
from forge.workflows.engine.step_executor import StepError, StepResult
from forge.workflows.models import LogLine
from forge.workflows.steps.code import CodeStepExecutor

BOTH = pytest.mark.parametrize("language", ["javascript", "python"])


@pytest.fixture(scope="module")
async def runner(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runner]:
    """No database is needed, because code steps do not use it."""
    folder = tmp_path_factory.mktemp("code")
    async with open_skills(Store(f"sqlite:///{folder}/never-opened.db"), folder) as (component, _):
        yield component.runner


async def run(runner: Runner, language: str, source: str, **config: Any) -> StepResult:
    call = call_of("code", language=language, source=source, **config)
    return await CodeStepExecutor(runner).execute(call, call.config())


async def failure(runner: Runner, language: str, source: str, **config: Any) -> StepError:
    with pytest.raises(StepError) as raised:
        await run(runner, language, source, **config)
    return raised.value


ECHOES = {
    "javascript": "function run(input) { return input }",
    "python": "def run(input):\n    return input\n",
}


@BOTH
@pytest.mark.parametrize("value", [None, {"a": [1, None, "é"]}, [1, 2], "text", 7, False])
async def test_code_returns_its_result(runner: Runner, language: str, value: JsonValue):
    done = await run(runner, language, ECHOES[language], input=value)
    assert done == StepResult(
        {"type": "code", "language": language, "output": {} if value is None else value}
    )


async def test_wasm_component_is_executed(runner: Runner):
    done = await run(runner, "wasm", base64.encodebytes(ECHO).decode(), input={"a": 1})
    assert done == StepResult({"type": "code", "language": "wasm", "output": {"a": 1}})


@pytest.mark.parametrize("source", ["no base64!", "AAAA", base64.b64encode(ECHO[:40]).decode()])
async def test_invalid_component_is_reported(runner: Runner, source: str):
    error = await failure(runner, "wasm", source)
    assert (error.problem.code, error.problem.retryable) == ("code_unusable", False)


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("javascript", "function run() { console.warn('careful'); console.log('so', 1); return 1 }"),
        ("python", "def run(input):\n    log('careful', level='warn')\n    print('so', 1)\n    return 1\n"),
    ],
)
async def test_console_output_is_logged(runner: Runner, language: str, source: str):
    done = await run(runner, language, source)
    assert done.logs == (LogLine(level="warn", text="careful"), LogLine(text="so 1"))


@pytest.mark.parametrize(
    ("language", "source", "place"),
    [
        ("javascript", "// one\nfunction run() {\n  throw new TypeError('oops')\n}", "source:3"),
        ("python", "# one\ndef run(input):\n    raise TypeError('oops')\n", "source, line 3"),
    ],
)
async def test_error_contains_line(runner: Runner, language: str, source: str, place: str):
    error = await failure(runner, language, source)
    assert (error.problem.code, error.problem.retryable) == ("code_raised", False)
    assert error.message.startswith("The code of one failed: TypeError: oops")
    assert place in error.message


@pytest.mark.parametrize(
    ("language", "source", "code"),
    [
        ("javascript", "let run = 1", "code_unusable"),
        ("python", "def run(input)\n    return 1", "code_unusable"),
        ("javascript", "function run() { return () => 1 }", "code_output"),
        ("javascript", "function run() { return new Array(1e9).fill('x'.repeat(1e6)) }", "code_memory"),
        ("python", "def run(input):\n    return run(input)\n", "code_stack"),
    ],
)
async def test_code_failures_have_codes(runner: Runner, language: str, source: str, code: str):
    assert (await failure(runner, language, source)).problem.code == code


@pytest.mark.parametrize(
    ("language", "reach"),
    [
        ("javascript", "fetch('https://example.com')"),
        ("javascript", "kv.set('a', 1)"),
        ("javascript", "secrets.get('A')"),
        ("javascript", "files.read('a')"),
        ("python", "fetch('https://example.com')"),
        ("python", "exec_command(['ls'])"),
        ("python", "env.get('HOME')"),
    ],
)
async def test_code_has_no_capabilities(runner: Runner, language: str, reach: str):
    sources = {
        "javascript": f"function run() {{ try {{ {reach} }} catch (e) {{}} return 1 }}",
        "python": f"def run(input):\n    try:\n        {reach}\n    except BaseException:\n        pass\n    return 1\n",
    }
    error = await failure(runner, language, sources[language])
    assert error.problem.code == "code_refused"
    assert "write a skill to use capabilities" in error.message


async def test_cancelled_code_stops_at_once(runner: Runner):
    running = asyncio.create_task(run(runner, "javascript", "function run() { for (;;) {} }"))
    await asyncio.sleep(0.3)
    started = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - started < LIMITS[Tier.VERIFIED].seconds / 2
    assert (await run(runner, "javascript", ECHOES["javascript"])).output
