"""Guarantees for run code."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from tests.support.engine import ACCOUNT, kind, open_engine
from tests.support.timeouts import PATIENCE_S

from forge.errors import Conflict, Gone, Invalid, NotFound, Unavailable
from forge.runs.attempt import Call, Retry, StepInfo
from forge.runs.context import RunContext, StepFailed
from forge.runs.models import GateOption, GateStatus, NewAnswer, Question, RunStatus
from forge.store.database import Store

QUICK = Retry(attempts=3, first_delay_s=0.01)
QUESTION = Question(
    kind="test", title="Go on?", options=[GateOption(id="yes", label="Yes"), GateOption(id="no", label="No")]
)


async def double(step: StepInfo, number: int) -> int:
    return number * 2


async def test_run_completes_with_all_events(store: Store):
    async def body(context: RunContext, given: Any) -> Any:
        return {"doubled": await context.step("double", double, given.number)}

    async with open_engine(store, kind("plain", body)) as engine:
        run = await engine.start("plain", number=21)
        assert run.status is RunStatus.PENDING
        ended = await engine.finished(run.id)
        assert (ended.status, ended.output, ended.attempt) == (RunStatus.COMPLETED, {"doubled": 42}, 1)
        assert (await engine.runs.get(ACCOUNT, run.id)).input == {"number": 21}
        assert await engine.types(run.id) == [
            "run.created",
            "run.started",
            "step.started",
            "step.finished",
            "run.completed",
        ]


async def test_parallel_outcomes_come_in_the_order_of_the_calls(store: Store):
    async def slow_first(step: StepInfo, number: int) -> int:
        await asyncio.sleep(0.05 * (5 - number))
        if number == 3:
            raise Invalid("three is bad")
        return number

    async def body(context: RunContext, given: Any) -> Any:
        outcomes = await context.parallel([Call(f"branch {n}", slow_first, (n,)) for n in range(5)])
        return [outcome.value if outcome.error is None else outcome.error.message for outcome in outcomes]

    async with open_engine(store, kind("wide", body)) as engine:
        ended = await engine.finished((await engine.start("wide")).id)
        assert ended.output == [0, 1, 2, "three is bad", 4]


async def test_failing_step_is_retried_and_then_fails(store: Store):
    seen: list[int] = []

    async def flaky(step: StepInfo) -> None:
        seen.append(step.attempt)
        raise Unavailable("not now", hint="later")

    async def body(context: RunContext, given: Any) -> Any:
        await context.step("flaky", flaky, retry=QUICK)

    async with open_engine(store, kind("doomed", body)) as engine:
        run = await engine.start("doomed")
        ended = await engine.finished(run.id)
        assert (seen, ended.status) == ([1, 2, 3], RunStatus.FAILED)
        assert ended.error is not None
        assert (ended.error.code, ended.error.message, ended.error.hint) == (
            "unavailable",
            "flaky: not now",
            "later",
        )
        (step,) = (await engine.runs.get(ACCOUNT, run.id)).steps
        assert (step.name, step.attempt, step.status.value) == ("flaky", 3, "failed")


async def test_permanent_error_is_not_retried(store: Store):
    seen: list[int] = []

    async def wrong(step: StepInfo) -> None:
        seen.append(step.attempt)
        raise Invalid("never right")

    async def body(context: RunContext, given: Any) -> Any:
        try:
            await context.step("wrong", wrong, retry=QUICK)
        except StepFailed as error:
            return error.problem.code

    async with open_engine(store, kind("wrong", body)) as engine:
        ended = await engine.finished((await engine.start("wrong")).id)
        assert (ended.output, seen) == ("invalid", [1])


async def test_parallel_branches_are_retried_separately(store: Store):
    async def flaky(step: StepInfo, fails: int) -> int:
        if step.attempt <= fails:
            raise Unavailable("not yet")
        return step.attempt

    async def body(context: RunContext, given: Any) -> Any:
        outcomes = await context.parallel([Call("b", flaky, (n,), retry=QUICK) for n in (0, 2, 1, 3)])
        return [outcome.value for outcome in outcomes]

    async with open_engine(store, kind("mixed", body)) as engine:
        assert (await engine.finished((await engine.start("mixed")).id)).output == [1, 3, 2, None]


async def test_step_fails_after_its_timeout(store: Store):
    async def endless(step: StepInfo) -> None:
        await asyncio.sleep(60)

    async def body(context: RunContext, given: Any) -> Any:
        await context.step("endless", endless, timeout_s=0.05)

    async with open_engine(store, kind("endless", body)) as engine:
        ended = await engine.finished((await engine.start("endless")).id)
        assert ended.error is not None
        assert (ended.error.code, ended.error.message) == (
            "timeout",
            "endless: The step did not finish within 0.05 s.",
        )


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), object()])
async def test_step_result_must_be_json(store: Store, value: Any):
    async def odd(step: StepInfo) -> Any:
        return value

    async def body(context: RunContext, given: Any) -> Any:
        await context.step("odd", odd)

    async with open_engine(store, kind("odd", body)) as engine:
        ended = await engine.finished((await engine.start("odd")).id)
        assert ended.status is RunStatus.FAILED


async def test_exception_in_run_code_fails_the_run(store: Store):
    async def body(context: RunContext, given: Any) -> Any:
        raise KeyError("oops")

    async with open_engine(store, kind("broken", body)) as engine:
        ended = await engine.finished((await engine.start("broken")).id)
        assert ended.error is not None
        assert (ended.status, ended.error.message) == (RunStatus.FAILED, "KeyError: 'oops'")


async def test_gate_accepts_only_the_first_valid_answer(store: Store):
    async def body(context: RunContext, given: Any) -> Any:
        gate = await context.ask(QUESTION)
        return gate.answer and gate.answer.option

    async with open_engine(store, kind("asking", body)) as engine:
        run = await engine.start("asking")
        gate = await engine.open_gate()
        assert (await engine.when(run.id, lambda run: True)).status is RunStatus.WAITING
        answer = NewAnswer(option="yes", comment="fine", shown_hash=gate.shown_hash)

        with pytest.raises(Conflict, match="question changed"):
            await engine.runs.answer(
                ACCOUNT, gate.id, answer.model_copy(update={"shown_hash": "0" * 64}), by="me"
            )
        with pytest.raises(Invalid, match="not one of the options"):
            await engine.runs.answer(ACCOUNT, gate.id, answer.model_copy(update={"option": "maybe"}), by="me")
        with pytest.raises(NotFound):
            await engine.runs.answer("other-account", gate.id, answer, by="them")

        racing = [engine.runs.answer(ACCOUNT, gate.id, answer, by=f"me {n}") for n in range(5)]
        results = await asyncio.gather(*racing, return_exceptions=True)
        won = [result for result in results if not isinstance(result, BaseException)]
        lost = [result for result in results if isinstance(result, Conflict)]
        assert (len(won), len(lost)) == (1, 4)
        assert (await engine.finished(run.id)).output == "yes"
        assert (await engine.types(run.id)).count("gate.answered") == 1


async def test_unanswered_gate_expires(store: Store):
    async def body(context: RunContext, given: Any) -> Any:
        gate = await context.ask(QUESTION, timeout=timedelta(seconds=0.2))
        return gate.status.value

    async with open_engine(store, kind("ignored", body)) as engine:
        run = await engine.start("ignored")
        assert (await engine.finished(run.id)).output == "expired"
        (gate,) = (await engine.runs.get(ACCOUNT, run.id)).gates
        late = NewAnswer(option="yes", shown_hash=gate.shown_hash)
        with pytest.raises(Gone):
            await engine.runs.answer(ACCOUNT, gate.id, late, by="me")
        assert (await engine.types(run.id))[-3:] == ["gate.expired", "run.resumed", "run.completed"]


async def test_messages_arrive_in_order_even_before_receive(store: Store):
    async def body(context: RunContext, given: Any) -> Any:
        await context.sleep(timedelta(milliseconds=100))
        received = [await context.receive("chat", timeout=timedelta(seconds=60)) for _ in range(5)]
        return [*received, await context.receive("chat", timeout=timedelta(milliseconds=10))]

    async with open_engine(store, kind("listening", body)) as engine:
        run = await engine.start("listening")
        await engine.when(run.id, lambda run: run.status is not RunStatus.PENDING)
        for n in range(5):
            async with store.begin() as tx:
                await engine.runs.send(tx, run.id, "chat", {"n": n})
        assert (await engine.finished(run.id)).output == [{"n": n} for n in range(5)] + [None]


async def test_transaction_returns_the_result_of_its_function(store: Store):
    async def body(context: RunContext, given: Any) -> Any:
        return await context.transact("effect", lambda tx: context_effect(tx))

    async def context_effect(tx: Any) -> dict[str, int]:
        return {"rows": 1}

    async with open_engine(store, kind("writing", body)) as engine:
        assert (await engine.finished((await engine.start("writing")).id)).output == {"rows": 1}


async def test_parent_gets_output_and_error_of_its_children(store: Store):
    async def parent(context: RunContext, given: Any) -> Any:
        good = await context.child("small", {"fail": False})
        bad = await context.child("small", {"fail": True})
        return [good.output, bad.status, bad.error and bad.error.code]

    async def small(context: RunContext, given: Any) -> Any:
        if given.fail:
            raise Invalid("invalid")
        return "done"

    async with open_engine(store, kind("parent", parent), kind("small", small)) as engine:
        run = await engine.start("parent")
        assert (await engine.finished(run.id)).output == ["done", "failed", "invalid"]
        children = (await engine.runs.get(ACCOUNT, run.id)).children
        assert [child.parent_id for child in children] == [run.id, run.id]


@pytest.mark.parametrize("where", ["step", "gate", "sleep", "message", "child"])
async def test_cancel_stops_run_in_any_state(store: Store, where: str):
    entered, interrupted = asyncio.Event(), asyncio.Event()

    async def endless(step: StepInfo) -> None:
        entered.set()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            interrupted.set()
            raise

    async def body(context: RunContext, given: Any) -> Any:
        match where:
            case "step":
                await context.step("endless", endless)
            case "gate":
                await context.ask(QUESTION)
            case "sleep":
                await context.sleep(timedelta(minutes=10))
            case "message":
                await context.receive("nothing")
            case _:
                await context.child("below", {})

    async def below(context: RunContext, given: Any) -> Any:
        await context.step("endless", endless)

    async with open_engine(store, kind("long", body), kind("below", below)) as engine:
        run = await engine.start("long")
        async with asyncio.timeout(PATIENCE_S):
            if where in {"step", "child"}:
                await entered.wait()
        await _wait_until_blocked(engine, run.id, where)
        cancelled = await engine.runs.cancel(ACCOUNT, run.id, by="me")
        assert cancelled.status is RunStatus.CANCELLED
        async with asyncio.timeout(PATIENCE_S):
            while engine.runs.executing:
                await asyncio.sleep(0.01)
            if where in {"step", "child"}:
                await interrupted.wait()
        detail = await engine.runs.get(ACCOUNT, run.id)
        assert {child.status for child in detail.children} <= {RunStatus.CANCELLED}
        assert {gate.status for gate in detail.gates} <= {GateStatus.CLOSED}
        with pytest.raises(Conflict, match="already cancelled"):
            await engine.runs.cancel(ACCOUNT, run.id, by="me")


async def _wait_until_blocked(engine: Any, run_id: str, where: str) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            detail = await engine.runs.get(ACCOUNT, run_id)
            steps = [*detail.steps]
            for child in detail.children:
                steps += (await engine.runs.get(ACCOUNT, child.id)).steps
            if steps or (where not in {"step", "child"} and detail.run.status is RunStatus.WAITING):
                return
            await asyncio.sleep(0.02)


async def test_unknown_child_kind_fails_the_parent(store: Store):
    async def parent(context: RunContext, given: Any) -> Any:
        await context.child("unknown", {})

    async with open_engine(store, kind("parent", parent)) as engine:
        ended = await engine.finished((await engine.start("parent")).id)
        assert ended.status is RunStatus.FAILED


async def test_lists_are_paged_newest_first(store: Store):
    async def body(context: RunContext, given: Any) -> Any:
        return None

    async with open_engine(store, kind("tiny", body), kind("other", body)) as engine:
        ids = [(await engine.start("tiny")).id for _ in range(5)]
        await engine.start("other")
        first = await engine.runs.find(ACCOUNT, kind="tiny", limit=3)
        assert first.next_cursor is not None
        from forge.store.pagination import Cursor

        second = await engine.runs.find(
            ACCOUNT, kind="tiny", limit=3, cursor=Cursor.decode(first.next_cursor)
        )
        assert [run.id for run in (*first.items, *second.items)] == ids[::-1]
        assert second.next_cursor is None
        assert (await engine.runs.find("other-account")).items == []


async def test_unknown_kind_cannot_be_started(store: Store):
    async with open_engine(store) as engine:
        with pytest.raises(Invalid, match="Runs of kind 'nothing' cannot be started"):
            await engine.start("nothing")


@pytest.mark.parametrize("output", [{"at": object()}, float("nan"), {"text": "a\x00b"}, "\ud800"])
async def test_run_with_unstorable_output_ends(store: Store, output: Any):
    """A run whose end cannot be stored must not stay in the status `running`."""

    async def body(context: RunContext, given: Any) -> Any:
        return output

    async with open_engine(store, kind("odd", body)) as engine:
        ended = await engine.finished((await engine.start("odd")).id)
        assert ended.status in {RunStatus.FAILED, RunStatus.COMPLETED}
        assert ended.status is RunStatus.FAILED or ended.output == output


async def test_run_taken_over_by_its_own_process_can_be_cancelled(store: Store):
    async def body(context: RunContext, given: Any) -> Any:
        await context.ask(QUESTION)

    async with open_engine(store, kind("asking", body)) as engine:
        run = await engine.start("asking")
        await engine.open_gate()
        workers = await engine.runs.workers()
        assert await engine.runs._engine.take_over(workers[0].id) == 1
        await engine.when(run.id, lambda run: run.attempt == 2)
        await engine.runs.cancel(ACCOUNT, run.id, by="me")
        async with asyncio.timeout(PATIENCE_S):
            while engine.runs.executing:
                await asyncio.sleep(0.01)


async def test_stale_attempt_cannot_complete_the_run(store: Store):
    async def body(context: RunContext, given: Any) -> Any:
        await context.ask(QUESTION)

    async with open_engine(store, kind("asking", body)) as engine:
        run = await engine.start("asking")
        await engine.open_gate()
        stale = (await engine.runs.get(ACCOUNT, run.id)).run.model_copy(update={"attempt": 0})
        await engine.runs._journal.completed(stale, "too late")
        assert (await engine.runs.get(ACCOUNT, run.id)).run.status is RunStatus.WAITING


async def test_concurrent_effect_happens_once(store: Store):
    """The first worker may have been considered dead by mistake: the second waits for it and uses its result."""
    from forge.runs import store as queries

    async def body(context: RunContext, given: Any) -> Any:
        await context.ask(QUESTION)

    async with open_engine(store, kind("asking", body)) as engine:
        run = await engine.start("asking")
        await engine.open_gate()

        async def effect(result: str) -> tuple[bool, Any]:
            async with store.begin() as tx:
                if not await queries.claim_effect(tx, run.id, 99):
                    return False, await queries.find_effect(tx, run.id, 99)
                await asyncio.sleep(0.1)
                await queries.record_effect(tx, run.id, 99, result)
                return True, result

        (first, one), (second, two) = await asyncio.gather(effect("a"), effect("b"))
        assert sorted([first, second]) == [False, True]
        assert one == two


async def test_error_in_a_transaction_fails_the_step(store: Store):
    async def body(context: RunContext, given: Any) -> Any:
        async def refuse(tx: Any) -> None:
            raise Conflict("not like this")

        try:
            await context.transact("refused", refuse)
        except StepFailed as error:
            return error.problem.code

    async with open_engine(store, kind("refused", body)) as engine:
        assert (await engine.finished((await engine.start("refused")).id)).output == "conflict"


async def test_cancelled_parent_starts_no_child(store: Store):
    async def nothing(context: RunContext, given: Any) -> Any:
        return None

    async def body(context: RunContext, given: Any) -> Any:
        await context.ask(QUESTION)

    async with open_engine(store, kind("asking", body), kind("small", nothing)) as engine:
        run = await engine.start("asking")
        await engine.open_gate()
        from forge.runs import store as queries

        async with store.read() as tx:
            row = await queries.find_run(tx, run.id)
        assert row is not None
        await engine.runs.cancel(ACCOUNT, run.id, by="me")
        await engine.runs._executor.start_child(row, "small", {}, "child-1")
        assert (await engine.runs.get(ACCOUNT, run.id)).children == []
