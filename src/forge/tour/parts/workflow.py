"""Run a workflow with a bot, a skill, a request, code and an approval, with a kill -9 while the approval is open."""

import json

from forge.runs.models import GateStatus, RunStatus
from forge.skills.views import SkillRun
from forge.tour.demo_context import DemoContext
from forge.tour.parts.skill import NAME as SKILL
from forge.workflows.models import (
    StepStatus,
    StepSummary,
    Submitted,
    WorkflowDetail,
    WorkflowRunDetail,
    WorkflowStepMoved,
)

WORKFLOW = "morning"
DEFINITION = """\
name: morning
description: A bot writes a text, a skill counts its words, and it is stored after your approval.
inputs:
  topic: {{type: string, default: the tides}}
steps:
  - id: health
    type: http
    config:
      url: {url}/health
  - id: words
    type: agent
    config:
      bot: {bot}
      prompt: Write two sentences about {{{{ inputs.topic }}}}.
  - id: count
    type: skill
    depends_on: [words]
    config:
      skill: {skill}
      input: {{text: "{{{{ steps.words.output.response }}}}"}}
  - id: ask
    type: approval
    depends_on: [health, count]
    config:
      prompt: Keep these {{{{ steps.count.output.output.words }}}} words?
  - id: keep
    type: code
    depends_on: [ask]
    config:
      language: javascript
      source: |
        function run(input) {{
          return {{ kept: input.text.length, because: input.comment }};
        }}
      input:
        text: "{{{{ steps.words.output.response }}}}"
        comment: "{{{{ steps.ask.output.comment }}}}"
outputs:
  kept: "{{{{ steps.keep.output.output }}}}"
"""
COMMENT = "it survived"


def run_to_approval(context: DemoContext, bot: str) -> str:
    """Run the workflow until it waits for an approval; return the id of the run."""
    source = DEFINITION.format(url=context.client.location.url, bot=bot, skill=SKILL)
    context.client.post("/workflows", WorkflowDetail, {"source": source})
    context.add_link(f"The workflow {WORKFLOW}", f"/workflows/{WORKFLOW}")
    run = context.client.post(f"/workflows/{WORKFLOW}/trigger", Submitted, {})
    context.add_link("Its run", f"/workflows/runs/{run.run_id}")
    _follow(context, run.run_id, until_asked=True)
    detail = _detail(context, run.run_id)
    context.expect(bool(detail.gates), "The workflow did not ask for approval.")
    context.narrator.line("asks", detail.gates[0].body.strip())
    context.narrator.done("It waits for an answer, as a row in the database, not as a thread.")
    return run.run_id


def kill_and_resume(context: DemoContext, run_id: str) -> None:
    before, asked = _done(context, run_id), len(context.models.requests())
    context.narrator.line("$", f"kill -9 {context.server.pid}")
    context.server.kill()
    context.narrator.done("The server was killed.")
    with context.narrator.timed("Restarting", lambda took: f"A new process has taken over ({took:.1f} s)."):
        context.server.start()
        context.client.find_again()
    detail = _detail(context, run_id)
    is_open = any(gate.status is GateStatus.OPEN for gate in detail.gates)
    context.expect(is_open, f"The approval is missing; the run is {detail.status.value}.")
    context.narrator.say("The approval is still open, and all finished steps are stored. Approving.")
    context.client.post(f"/workflow-runs/{run_id}/approve", WorkflowRunDetail, {"comment": COMMENT})
    _follow(context, run_id, until_asked=False, known=set(before))
    detail = _detail(context, run_id)
    context.expect(detail.status is RunStatus.COMPLETED, f"The run is {detail.status.value}: {detail.error}")
    context.narrator.line("output", json.dumps(detail.output, ensure_ascii=False))
    _check_nothing_twice(context, before, _done(context, run_id), asked)


def _follow(context: DemoContext, run_id: str, *, until_asked: bool, known: set[str] | None = None) -> None:
    printed = set(known or ())
    for event, _ in context.follow(run_id):
        if event.type != WorkflowStepMoved.type:
            continue
        step = WorkflowStepMoved.model_validate(event.data).step
        if step.status is StepStatus.COMPLETED and step.key not in printed:
            printed.add(step.key)
            context.narrator.line("step", f"{step.key} ({step.type.value}) completed")
        if step.status is StepStatus.FAILED:
            context.expect(False, f"The step {step.key} failed: {step.error and step.error.message}")
        if until_asked and step.key == "ask" and step.status is StepStatus.WAITING:
            return


def _detail(context: DemoContext, run_id: str) -> WorkflowRunDetail:
    return context.client.get(f"/workflow-runs/{run_id}", WorkflowRunDetail)


def _done(context: DemoContext, run_id: str) -> dict[str, StepSummary]:
    return {step.key: step for step in _detail(context, run_id).steps if step.status is StepStatus.COMPLETED}


def _check_nothing_twice(
    context: DemoContext, before: dict[str, StepSummary], after: dict[str, StepSummary], asked: int
) -> None:
    """Check the run's journal, the skill's runs and the requests to the model server."""
    same = all(after.get(key) == step for key, step in before.items())
    used = sum(
        run.purpose == "workflow"
        for run in context.client.pages(f"/skills/{SKILL}/runs", SkillRun, limit=100)
    )
    again = len(context.models.requests()) - asked
    context.expect(same, "A step completed before the kill has changed.")
    context.expect(used == 1, f"The skill ran {used} times.")
    context.expect(again == 0, f"The model was called {again} more times.")
    context.narrator.done("Nothing ran twice: one answer of the bot, one run of the skill, each step once.")
