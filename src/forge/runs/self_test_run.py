"""Run kind `self_test`, which uses every mechanism of the engine, for `forge doctor --deep` and the kill
tests.

Each step appends a line to a file of its run, so that repeated side effects can be counted.
"""

import asyncio
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from forge.errors import ForgeError, Unavailable
from forge.runs.attempt import Call, Retry, StepInfo
from forge.runs.context import RunContext
from forge.runs.kinds import RunKind
from forge.runs.models import Gate, GateOption, GateStatus, Question, RunStatus

KIND = "self_test"


class SelfTestInput(BaseModel):
    model_config = ConfigDict(extra="forbid")

    width: int = Field(default=3, ge=1, le=50, description="Number of parallel steps.")
    step_ms: int = Field(default=20, ge=0, le=60_000, description="Duration of each step.")
    ask: bool = Field(default=False, description="Open a gate and wait for an answer.")
    ask_timeout_s: float = Field(default=3600, gt=0, le=86_400)
    child: bool = Field(default=False, description="Run another self-test as a child run.")
    keep_effects: bool = Field(default=False, description="Keep the file that records side effects.")


class WrongResult(ForgeError):
    """The engine returned the result of another step, or lost it."""

    code = "wrong_result"


class SelfTest:
    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / "self-test"

    def kind(self) -> RunKind[SelfTestInput]:
        return RunKind(KIND, SelfTestInput, self.run, title=lambda _: "Self-test", is_public=True)

    async def run(self, context: RunContext, inputs: SelfTestInput) -> dict[str, Any]:
        total = 5
        await context.progress(0, total, "one step")
        expect("single", await context.step("single", self._square, 7, inputs.step_ms), 49)

        await context.progress(1, total, f"{inputs.width} steps in parallel")
        await self._check_parallel(context, inputs)

        await context.progress(2, total, "a step that fails once")
        retry = Retry(attempts=3, first_delay_s=0.05)
        expect("flaky", await context.step("flaky", self._flaky, retry=retry), 2)
        await context.sleep(timedelta(milliseconds=inputs.step_ms))

        await context.progress(3, total, "a child run")
        if inputs.child:
            await self._check_child(context, inputs)

        await context.progress(4, total, "a gate")
        gate = (
            await context.ask(QUESTION, timeout=timedelta(seconds=inputs.ask_timeout_s))
            if inputs.ask
            else None
        )
        if not inputs.keep_effects:
            await context.step("clean up", self._clean_up)
        await context.progress(5, total)
        return {"answer": answer_of(gate)}

    async def _check_parallel(self, context: RunContext, inputs: SelfTestInput) -> None:
        calls = [
            Call(f"branch {i}", self._square, (i, inputs.step_ms * (1 + (inputs.width - i) % 3)))
            for i in range(inputs.width)
        ]
        for i, outcome in enumerate(await context.parallel(calls)):
            expect(f"branch {i}", outcome.value, i * i)

    async def _check_child(self, context: RunContext, inputs: SelfTestInput) -> None:
        below = SelfTestInput(width=1, step_ms=inputs.step_ms, keep_effects=inputs.keep_effects)
        child = await context.child(KIND, below.model_dump())
        expect("child", child.status, RunStatus.COMPLETED)

    async def _square(self, step: StepInfo, number: int, duration_ms: int) -> int:
        await asyncio.to_thread(self._leave_mark, step)
        await asyncio.sleep(duration_ms / 1000)
        return number * number

    async def _flaky(self, step: StepInfo) -> int:
        await asyncio.to_thread(self._leave_mark, step)
        if step.attempt == 1:
            raise Unavailable("This step fails the first time, to test the retry.")
        return step.attempt

    async def _clean_up(self, step: StepInfo) -> None:
        await asyncio.to_thread(shutil.rmtree, self._folder / step.run_id, ignore_errors=True)

    def _leave_mark(self, step: StepInfo) -> None:
        folder = self._folder / step.run_id
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "effects").open("a") as effects:
            effects.write(f"{step.number}#{step.attempt}\n")


QUESTION = Question(
    kind="self_test",
    title="Can you see this question?",
    body="The self-test opens a gate to check that answers reach the run.",
    payload={"checks": "that an answer reaches the waiting run"},
    options=[
        GateOption(id="yes", label="Yes", tone="positive"),
        GateOption(id="no", label="No", tone="negative"),
    ],
)


def answer_of(gate: Gate | None) -> str | None:
    if gate is None:
        return None
    return gate.answer.option if gate.status is GateStatus.ANSWERED and gate.answer else gate.status.value


def expect(what: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise WrongResult(f"{what} returned {found!r}, but the journal has {expected!r}.")
