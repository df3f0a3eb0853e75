"""Let a coding agent fix a file in a workspace; its commands run in the sandbox."""

from forge.agents.models import AgentEnd, AgentEnded, AgentStarted, AgentToolUsed, AgentTurn
from forge.api.models import Status
from forge.errors import SandboxTooWeak
from forge.runs.models import Run
from forge.tour.demo_context import DemoContext
from forge.workspace.models import FileText, WorkspaceInfo

TASK = "Please fix calc.py: 2 and 3 are 5."
BROKEN = "def add(a: int, b: int) -> int:\n    return a - b\n"
TESTS = "run_tests"


def run_agent(context: DemoContext) -> None:
    folder = context.folder.projects / "calc"
    folder.mkdir()
    (folder / "calc.py").write_text(BROKEN)
    workspace = context.client.post("/workspaces", WorkspaceInfo, {"name": "calc", "path": str(folder)})
    context.narrator.line("calc.py", BROKEN.splitlines()[-1].strip())
    context.narrator.line("you", TASK)
    try:
        run = context.client.post("/agents", Run, {"workspace_id": workspace.id, "task": TASK})
    except SandboxTooWeak as error:
        context.narrator.skipped(
            f"The sandbox on this machine is too weak, so no command is run: {error.message}"
        )
        return
    context.add_link("The agent's work", f"/runs/{run.id}")
    _watch(context, run)
    now = context.client.get(f"/workspaces/{workspace.id}/file", FileText, {"path": "calc.py"})
    context.narrator.line("calc.py", now.text.splitlines()[-1].strip())


def _watch(context: DemoContext, run: Run) -> None:
    """Print the agent's texts and tool calls. Success is decided by the tests, not by what the agent claims."""
    tests: AgentToolUsed | None = None
    end: AgentEnd | None = None
    for event, _ in context.follow(run.id):
        if event.type == AgentStarted.type:
            level = AgentStarted.model_validate(event.data).sandbox
            context.narrator.say(
                f"Its commands run in the sandbox at the level “{level}”, verified by a self-test."
            )
        elif event.type == AgentTurn.type:
            context.narrator.line(
                "agent", AgentTurn.model_validate(event.data).text.strip().partition("\n")[0]
            )
        elif event.type == AgentToolUsed.type:
            used = AgentToolUsed.model_validate(event.data)
            context.narrator.line("tool", f"{used.name}  {used.summary}")
            tests = used if used.name == TESTS else tests
        elif event.type == AgentEnded.type:
            end = AgentEnded.model_validate(event.data).result.end
    _judge(context, tests, end)


def _judge(context: DemoContext, tests: AgentToolUsed | None, end: AgentEnd | None) -> None:
    if tests is not None and not tests.is_error:
        context.expect(end is AgentEnd.DONE, f"The agent did not finish: {end}")
        context.narrator.done("The tests ran in the sandbox and passed.")
        return
    report = context.client.get("/status", Status).sandbox
    is_weak = report is not None and not report.level.satisfies(report.required)
    why = tests.summary if tests else "it did not run the tests"
    context.expect(is_weak, f"The agent's tests did not pass: {why}")
    advice = report.advice if report else ""
    context.narrator.skipped(f"The sandbox on this machine is too weak, so no test was run. {advice or ''}")
