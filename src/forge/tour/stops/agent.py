"""A coding agent that mends a file in a workspace; its commands run in the sandbox."""

from forge.agents.models import AgentEnd, AgentEnded, AgentStarted, AgentToolUsed, AgentTurn
from forge.api.models import Status
from forge.errors import SandboxTooWeak
from forge.runs.models import Run
from forge.tour.visit import Visit
from forge.workspace.models import FileText, WorkspaceInfo

TASK = "Please fix calc.py: 2 and 3 are 5."
BROKEN = "def add(a: int, b: int) -> int:\n    return a - b\n"
TESTS = "run_tests"


def let_agent_work(visit: Visit) -> None:
    folder = visit.folder.projects / "calc"
    folder.mkdir()
    (folder / "calc.py").write_text(BROKEN)
    workspace = visit.client.post("/workspaces", WorkspaceInfo, {"name": "calc", "path": str(folder)})
    visit.tell.line("calc.py", BROKEN.splitlines()[-1].strip())
    visit.tell.line("we say", TASK)
    try:
        run = visit.client.post("/agents", Run, {"workspace_id": workspace.id, "task": TASK})
    except SandboxTooWeak as error:
        visit.tell.skipped(f"Commands cannot be locked in well enough here, so none is run: {error.message}")
        return
    visit.note("The agent's work", f"/runs/{run.id}")
    _watch(visit, run)
    now = visit.client.get(f"/workspaces/{workspace.id}/file", FileText, {"path": "calc.py"})
    visit.tell.line("calc.py", now.text.splitlines()[-1].strip())


def _watch(visit: Visit, run: Run) -> None:
    """Tells its words and its tools; whether it really worked is what its tests said, not what it says."""
    tests: AgentToolUsed | None = None
    end: AgentEnd | None = None
    for event, _ in visit.follow(run.id):
        if event.type == AgentStarted.type:
            level = AgentStarted.model_validate(event.data).sandbox
            visit.tell.say(f"Its commands run locked in; the level is “{level}”, observed by a self-test.")
        elif event.type == AgentTurn.type:
            visit.tell.line("agent", AgentTurn.model_validate(event.data).text.strip().partition("\n")[0])
        elif event.type == AgentToolUsed.type:
            used = AgentToolUsed.model_validate(event.data)
            visit.tell.line("tool", f"{used.name}  {used.summary}")
            tests = used if used.name == TESTS else tests
        elif event.type == AgentEnded.type:
            end = AgentEnded.model_validate(event.data).result.end
    _judge(visit, tests, end)


def _judge(visit: Visit, tests: AgentToolUsed | None, end: AgentEnd | None) -> None:
    if tests is not None and not tests.is_error:
        visit.expect(end is AgentEnd.DONE, f"The agent did not finish: {end}")
        visit.tell.done("The tests ran in the sandbox and passed.")
        return
    report = visit.client.get("/status", Status).sandbox
    is_weak = report is not None and not report.level.satisfies(report.required)
    why = tests.summary if tests else "it never ran its tests"
    visit.expect(is_weak, f"The agent's tests did not pass: {why}")
    advice = report.advice if report else ""
    visit.tell.skipped(f"The sandbox does not work well enough here, so no test was run. {advice or ''}")
