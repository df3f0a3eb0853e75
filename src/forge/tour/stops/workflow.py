"""A workflow with a bot, a skill, a request, code and a question, and a kill -9 while the question is open."""

import json

from forge.runs.models import GateStatus, RunStatus
from forge.skills.views import SkillRun
from forge.tour.stops.skill import NAME as SKILL
from forge.tour.visit import Visit
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
description: Lets a bot write something, counts it, and keeps it when somebody says yes.
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


def run_to_question(visit: Visit, bot: str) -> str:
    """The id of the run, once it waits for somebody."""
    source = DEFINITION.format(url=visit.client.place.url, bot=bot, skill=SKILL)
    visit.client.post("/workflows", WorkflowDetail, {"source": source})
    visit.note(f"The workflow {WORKFLOW}", f"/workflows/{WORKFLOW}")
    run = visit.client.post(f"/workflows/{WORKFLOW}/trigger", Submitted, {})
    visit.note("Its run", f"/workflows/runs/{run.run_id}")
    _follow(visit, run.run_id, until_asked=True)
    detail = _detail(visit, run.run_id)
    visit.expect(bool(detail.gates), "The workflow did not ask.")
    visit.tell.line("it asks", detail.gates[0].body.strip())
    visit.tell.done("It waits for an answer: a row in the database, not a thread.")
    return run.run_id


def kill_and_go_on(visit: Visit, run_id: str) -> None:
    before, asked = _done(visit, run_id), len(visit.models.requests())
    visit.tell.line("$", f"kill -9 {visit.house.pid}")
    visit.house.kill()
    visit.tell.done("The server is gone, without a goodbye.")
    with visit.tell.timed("It starts again", lambda took: f"Another process has taken over ({took:.1f} s)."):
        visit.house.start()
        visit.client.find_again()
    detail = _detail(visit, run_id)
    is_open = any(gate.status is GateStatus.OPEN for gate in detail.gates)
    visit.expect(is_open, f"The question is gone; the run is {detail.status.value}.")
    visit.tell.say("The question is still there, and so is everything that was done before it. We say yes.")
    visit.client.post(f"/workflow-runs/{run_id}/approve", WorkflowRunDetail, {"comment": COMMENT})
    _follow(visit, run_id, until_asked=False, known=set(before))
    detail = _detail(visit, run_id)
    visit.expect(detail.status is RunStatus.COMPLETED, f"The run is {detail.status.value}: {detail.error}")
    visit.tell.line("it gives", json.dumps(detail.output, ensure_ascii=False))
    _check_nothing_twice(visit, before, _done(visit, run_id), asked)


def _follow(visit: Visit, run_id: str, *, until_asked: bool, known: set[str] | None = None) -> None:
    told = set(known or ())
    for event, _ in visit.follow(run_id):
        if event.type != WorkflowStepMoved.type:
            continue
        step = WorkflowStepMoved.model_validate(event.data).step
        if step.status is StepStatus.COMPLETED and step.key not in told:
            told.add(step.key)
            visit.tell.line("step", f"{step.key} ({step.type.value}) is done")
        if step.status is StepStatus.FAILED:
            visit.expect(False, f"The step {step.key} failed: {step.error and step.error.message}")
        if until_asked and step.key == "ask" and step.status is StepStatus.WAITING:
            return


def _detail(visit: Visit, run_id: str) -> WorkflowRunDetail:
    return visit.client.get(f"/workflow-runs/{run_id}", WorkflowRunDetail)


def _done(visit: Visit, run_id: str) -> dict[str, StepSummary]:
    return {step.key: step for step in _detail(visit, run_id).steps if step.status is StepStatus.COMPLETED}


def _check_nothing_twice(
    visit: Visit, before: dict[str, StepSummary], after: dict[str, StepSummary], asked: int
) -> None:
    """By the journal of the run, by the skill's own runs, and by what the model server was asked."""
    same = all(after.get(key) == step for key, step in before.items())
    used = sum(
        run.purpose == "workflow" for run in visit.client.pages(f"/skills/{SKILL}/runs", SkillRun, limit=100)
    )
    again = len(visit.models.requests()) - asked
    visit.expect(same, "A step that was done before the kill is not as it was.")
    visit.expect(used == 1, f"The skill ran {used} times.")
    visit.expect(again == 0, f"The model was asked {again} times more.")
    visit.tell.done("Nothing was done twice: one answer of the bot, one run of the skill, each step once.")
