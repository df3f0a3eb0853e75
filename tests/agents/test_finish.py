"""How agents end: `finish`, what speaks against it, and the tests that Forge runs itself."""

from typing import Any

import pytest
from tests.agents.conftest import OpenAgent
from tests.support.agents import DONE, LOOK, finish, result

from forge.agents.steps import AgentSteps
from forge.llm.models import ProviderKind
from forge.runs.journal import StepResult
from forge.runs.models import Run

TESTS: dict[str, Any] = {"run_tests": {"command": "python3 -m unittest"}}
FAILING = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual({}, 5)\n"


def write(content: str, path: str = "test_it.py") -> dict[str, Any]:
    return {"write_file": {"path": path, "content": content}}


def claim(summary: str = "All tests pass.") -> dict[str, Any]:
    return {"tools": [finish(summary, verified=True)]}


def last_results(run_body: dict[str, Any]) -> str:
    return str(run_body["messages"][-1]["content"])


def ending(run: Run) -> tuple[str, str | None, int]:
    return result(run).end.value, run.outcome, result(run).turns


async def test_claim_backed_by_a_passing_test_run_is_done(agent: OpenAgent):
    at_work = await agent({"tools": [write(FAILING.format(5)), TESTS, finish("It passes.", verified=True)]})
    run = await at_work.work()
    assert ending(run) == ("done", None, 1)
    assert (result(run).text, result(run).verified, result(run).verification) == ("It passes.", True, None)


async def test_claim_without_any_tool_call_is_pushed_back_once_then_unverified(agent: OpenAgent):
    at_work = await agent(claim())
    run = await at_work.work()
    assert ending(run) == ("unverified", "unverified", 2)
    assert "You have not run anything yet" in last_results(at_work.server.requests()[1].body)


async def test_claim_without_a_check_since_the_last_change_is_unverified(agent: OpenAgent):
    at_work = await agent({"tools": [write(FAILING.format(5)), TESTS, write("A = 1\n", "a.py")]}, claim())
    run = await at_work.work()
    assert ending(run) == ("unverified", "unverified", 3)
    assert "since your last change" in last_results(at_work.server.requests()[2].body)


async def test_agent_that_runs_the_check_after_the_push_back_is_done(agent: OpenAgent):
    at_work = await agent({"tools": [write(FAILING.format(5))]}, claim(), {"tools": [TESTS]}, claim())
    assert ending(await at_work.work()) == ("done", None, 4)


async def test_honest_end_without_a_check_is_done_and_not_verified(agent: OpenAgent):
    at_work = await agent({"tools": [write("A = 1\n", "a.py"), finish("Written, not tested.")]})
    run = await at_work.work()
    assert (ending(run), result(run).verified) == (("done", None, 1), False)


async def test_end_after_a_failing_test_run_is_pushed_back_once_then_unfinished(agent: OpenAgent):
    at_work = await agent({"tools": [write(FAILING.format(4)), TESTS]}, {"tools": [finish("I give up.")]})
    run = await at_work.work()
    assert ending(run) == ("unfinished", "unfinished", 3)
    assert result(run).text == "I give up."
    assert "The last test run failed: exit code 1" in last_results(at_work.server.requests()[2].body)


async def test_prose_is_pushed_back_again_only_after_progress(agent: OpenAgent):
    prose = {"text": "Next I will write it."}
    at_work = await agent(prose, {"tools": [write("A = 1\n", "a.py")]}, prose, {"tools": [LOOK]}, prose)
    run = await at_work.work()
    assert ending(run) == ("unfinished", "unfinished", 5)
    reminders = [event["text"] for event in await at_work.event_data(run, "agent.reminded")]
    assert ["not run anything" in text for text in reminders] == [True, False]


async def test_invalid_arguments_of_finish_are_reported(agent: OpenAgent):
    at_work = await agent({"tools": [LOOK, {"finish": {"summary": "Done."}}]}, DONE)
    assert ending(await at_work.work()) == ("done", None, 2)
    assert "verified: Field required" in last_results(at_work.server.requests()[1].body)


async def test_second_finish_in_one_answer_gets_a_result_too(agent: OpenAgent):
    at_work = await agent({"tools": [LOOK, finish("a", verified=True), finish("b", verified=True)]}, DONE)
    assert result(await at_work.work()).end == "done"
    results = at_work.server.requests()[1].body["messages"][-1]["content"]
    assert [block["is_error"] for block in results] == [False, True, True]


async def test_forge_runs_the_tests_itself_and_attaches_the_record(agent: OpenAgent):
    at_work = await agent({"tools": [write(FAILING.format(5)), finish()]}, verify="python3 -m unittest")
    run = await at_work.work()
    record = result(run).verification
    assert ending(run) == ("done", None, 1)
    assert record is not None and record.passed and record.detail.exit_code == 0
    [event] = await at_work.event_data(run, "agent.verified")
    assert event["verification"] == record.model_dump(mode="json")


async def test_failing_verification_pushes_back_with_the_output_once(agent: OpenAgent):
    broken = {"tools": [write(FAILING.format(4)), finish("All tests pass.", verified=True)]}
    at_work = await agent(broken, claim(), verify="python3 -m unittest")
    run = await at_work.work()
    record = result(run).verification
    assert ending(run) == ("unfinished", "unfinished", 2)
    assert record is not None and not record.passed and "AssertionError: 4 != 5" in record.text
    assert "AssertionError: 4 != 5" in last_results(at_work.server.requests()[1].body)


async def test_agent_that_repairs_what_the_verification_found_is_done(agent: OpenAgent):
    broken = {"tools": [write(FAILING.format(4)), finish()]}
    at_work = await agent(
        broken, {"tools": [write(FAILING.format(5)), finish()]}, verify="python3 -m unittest"
    )
    run = await at_work.work()
    assert ending(run) == ("done", None, 2)
    assert [one["verification"]["passed"] for one in await at_work.event_data(run, "agent.verified")] == [
        False,
        True,
    ]


async def test_unfinished_agent_has_the_record_too(agent: OpenAgent):
    at_work = await agent(
        {"tools": [write(FAILING.format(5))]}, {"text": "All done."}, verify="python3 -m unittest"
    )
    run = await at_work.work()
    record = result(run).verification
    assert (ending(run), record and record.passed) == (("unfinished", "unfinished", 3), True)


async def test_verification_that_cannot_run_is_unverified(agent: OpenAgent):
    at_work = await agent(DONE, verify="frobnicate")
    run = await at_work.work()
    assert ending(run) == ("unverified", "unverified", 2)


async def test_run_that_began_before_there_was_finish_ends_by_answering(
    agent: OpenAgent, monkeypatch: pytest.MonkeyPatch
):
    begin = AgentSteps.begin

    async def as_before(self: AgentSteps, *given: Any) -> StepResult:
        begun = await begin(self, *given)
        return StepResult({"at": begun.value["at"], "skills": []}, begun.facts)

    monkeypatch.setattr(AgentSteps, "begin", as_before)
    at_work = await agent({"text": "All done."}, kind=ProviderKind.OPENAI)
    run = await at_work.work()
    assert ending(run) == ("done", None, 1)
    [request] = at_work.server.requests()
    assert "finish" not in {tool["function"]["name"] for tool in request.body["tools"]}
    assert "answer without calling a tool" in request.body["messages"][0]["content"]
