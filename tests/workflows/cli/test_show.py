"""How workflows look in a terminal."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from rich.console import Console, RenderableType

from forge.runs.models import Gate, GateOption, GateStatus, Problem, RunStatus
from forge.workflows.cli.run_views import (
    dry_run_page,
    question_page,
    run_page,
    runs_table,
    short_text,
    step_page,
    step_words,
    value_text,
)
from forge.workflows.cli.views import place_line, workflow_page, workflows_table
from forge.workflows.definition.models import Definition, Place, StepType
from forge.workflows.models import (
    Attempt,
    DryRun,
    LogLine,
    StepDetail,
    StepStatus,
    StepSummary,
    StripRun,
    TriggerType,
    TriggerView,
    WorkflowDetail,
    WorkflowRun,
    WorkflowRunDetail,
)

AT = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
STEPS = [
    {
        "id": "a",
        "type": "agent",
        "config": {"bot": "atlas", "prompt": "Find\nfive things about {{ inputs.topic }}"},
    },
    {"id": "b", "type": "http", "config": {"url": "https://example.com/" + "x" * 100}, "depends_on": ["a"]},
    {"id": "c", "type": "loop", "config": {"items": "{{ [1, 2] }}", "body_steps": ["d"]}},
    {"id": "d", "type": "wait", "config": {"seconds": 3}},
    {"id": "e", "type": "message", "config": {"channel": "news", "body": "x"}},
    {"id": "f", "type": "approval", "config": {"prompt": "Send it?"}},
    {"id": "g", "type": "code", "config": {"language": "python", "source": "def run(i): ..."}},
    {"id": "h", "type": "conditional", "config": {"condition": "inputs.topic != ''"}},
    {"id": "i", "type": "sub_workflow", "config": {"workflow_name": "other"}},
    {"id": "j", "type": "skill", "config": {"skill": "summarize"}},
    {"id": "k", "type": "audit", "config": {"workspace": "play"}},
]


def shown(part: RenderableType) -> str:
    out = StringIO()
    Console(file=out, width=200, highlight=False).print(part)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def detail(**changes: Any) -> WorkflowDetail:
    steps = [{**step, "config": {"type": step["type"], **step["config"]}} for step in STEPS]
    inputs = {
        "topic": {"type": "string", "required": True, "description": "What about."},
        "n": {"default": 5},
    }
    definition = Definition.model_validate(
        {"name": "digest", "concurrency": 1, "inputs": inputs, "steps": steps}
    )
    runs = [
        StripRun(id=status.value, status=status, created_at=AT)
        for status in (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.WAITING)
    ]
    found = WorkflowDetail(
        id="0199",
        name="digest",
        description="",
        owner=None,
        number=3,
        version="1.0",
        is_enabled=True,
        steps=len(steps),
        triggers=[
            TriggerView(type=TriggerType.CRON, title="daily at 9am (UTC)", next_at=AT + timedelta(days=400)),
            TriggerView(
                type=TriggerType.WEBHOOK, title="/in", url="http://x/webhooks/in", error="No secret IN."
            ),
        ],
        last_runs=runs,
        open_gates=1,
        created_at=AT,
        updated_at=AT,
        definition=definition.as_json(),
        source="name: digest\n",
        warnings=[],
    )
    return found.model_copy(update=changes)


def test_a_list_says_how_the_last_runs_ended_in_signs():
    [_, row] = shown(workflows_table([detail()])).splitlines()
    assert row.split()[:6] == ["digest", "●", "active", "1", "waits", "for"]
    assert "✓✗-?" in row
    assert "daily at 9am (UTC), /in" in row


def test_what_only_a_person_starts_is_off():
    assert "● off" in shown(workflows_table([detail(is_enabled=False, open_gates=0)]))


def test_a_page_names_triggers_inputs_and_what_each_step_is_about():
    page = shown(workflow_page(detail()))
    for told in (
        "version    1.0, saved as number 3",
        "at a time  1, then queue",
        "● webhook /in  http://x/webhooks/in\n  No secret IN.",
        "topic string, required  What about.",
        "n any, 5 if not said",
        "atlas: Find five things about {{ inputs.topic }}",
        "for each of {{ [1, 2] }}",
        "to #news",
        "3.0 s",
        "Send it?",
    ):
        assert told in page
    assert "x" * 70 not in page


def test_a_place_is_written_as_compilers_do():
    place = Place(
        line=7, column=3, path="steps[0]", message="Unknown key `promt`.", hint="Did you mean `prompt`?"
    )
    assert shown(place_line(place, "digest.yaml")) == (
        "● digest.yaml:7:3 Unknown key `promt`.\n  Did you mean `prompt`?"
    )
    assert shown(place_line(place)).startswith("● 7:3 ")


def run(**changes: Any) -> WorkflowRun:
    made = WorkflowRun(
        id="01a1",
        workflow_id="0199",
        workflow_name="digest",
        number=3,
        status=RunStatus.COMPLETED,
        trigger=TriggerType.CRON,
        source="daily at 9am",
        parent_id=None,
        retry_of=None,
        inputs={},
        error=None,
        cost_micros=1234,
        created_at=AT,
        started_at=AT,
        finished_at=AT + timedelta(seconds=2.5),
    )
    return made.model_copy(update=changes)


def test_runs_say_what_started_them_and_what_they_cost():
    page = shown(runs_table([run(), run(trigger=TriggerType.MANUAL, source="owner", started_at=None)]))
    assert "cron: daily at 9am" in page
    assert "2.5 s  $0.0012" in page
    assert "completed  owner" in page


def step(**changes: Any) -> StepDetail:
    made = StepDetail(
        key="fetch", step="fetch", type=StepType.HTTP, name="Fetch", status=StepStatus.COMPLETED
    )
    return made.model_copy(update=changes)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "● completed"),
        ({"attempt": 2, "is_kept": True}, "● completed (attempt 2) (kept)"),
        (
            {"status": StepStatus.SKIPPED, "note": "its condition is false"},
            "● skipped  its condition is false",
        ),
        (
            {"status": StepStatus.FAILED, "error": Problem(code="http_status", message="It said 500.")},
            "● failed  It said 500. (http_status)",
        ),
        (
            {"started_at": AT, "finished_at": AT + timedelta(seconds=1), "cost_micros": 5},
            "● completed  1.0 s  < $0.0001",
        ),
    ],
)
def test_a_step_is_told_in_a_line(changes: dict[str, Any], told: str):
    assert shown(step_words(step(**changes))) == told


def test_a_step_has_what_went_in_came_out_and_went_wrong():
    attempts = [
        Attempt(number=1, started_at=AT, duration_ms=20, error=Problem(code="x", message="No.")),
        Attempt(number=2, started_at=AT, duration_ms=30, note="The address was wrong."),
    ]
    logs = [LogLine(text="asked"), LogLine(level="warn", text="slow\x1b[2J")]
    page = shown(step_page(step(input={"url": "u"}, output={"status": 200}, attempts=attempts, logs=logs)))
    for told in (
        'INPUT\n{\n  "url": "u"\n}',
        'OUTPUT\n{\n  "status": 200\n}',
        "1  20 ms  No. (x)\n2  30 ms  ● completed\n   The address was wrong.",
        "LOG\nasked\nwarn: slow\N{REPLACEMENT CHARACTER}[2J",
    ):
        assert told in page


def test_a_dry_run_says_what_each_step_would_get():
    skipped = step(key="other", status=StepStatus.SKIPPED, input={"never": 1})
    page = shown(dry_run_page(DryRun(steps=[step(input={"url": "u"}), skipped], output="done", error=None)))
    assert page == 'fetch http\n  {"url": "u"}\nother http  ● skipped\n\nOUTPUT\ndone'


def test_a_text_is_shown_as_it_is_and_all_else_as_json():
    assert value_text("a\nb") == "a\nb"
    assert value_text({"ä": [1]}) == '{\n  "ä": [\n    1\n  ]\n}'
    assert short_text({"ä": [1]}) == '{"ä": [1]}'
    assert len(short_text("x" * 10_000)) == 400


def test_steps_of_a_run_stand_in_the_order_they_are_written_and_those_of_loops_below():
    keys = ["d", "c[10]/d", "c[2]/d", "b", "c", "c[2]/c[0]/d", "a"]
    steps: list[StepSummary] = [step(key=key, step=key[-1], type=StepType.WAIT) for key in keys]
    definition = {"steps": [{"id": name} for name in "abcd"]}
    made = WorkflowRunDetail(
        **run().model_dump(),
        payload={},
        output=None,
        definition=definition,
        steps=steps,
        gates=[],
        children=[],
    )
    page = shown(run_page(made)).partition("STATUS\n")[2]
    assert [line.partition(" wait")[0].rstrip() for line in page.splitlines()] == [
        "a",
        "b",
        "c",
        "    c[2]/c[0]/d",
        "  c[2]/d",
        "  c[10]/d",
        "d",
    ]


@pytest.mark.parametrize("status", GateStatus)
def test_a_question_says_how_to_answer_only_while_that_is_of_use(status: GateStatus):
    gate = Gate(
        id="g",
        run_id="01a1",
        kind="approval",
        title="digest: ask",
        body="Send it?\n",
        payload={"step": "each[0]/ask"},
        options=[GateOption(id="approve", label="Approve"), GateOption(id="reject", label="Reject")],
        shown_hash="0" * 64,
        status=status,
        answer=None,
        opened_at=AT,
        expires_at=None,
    )
    page = shown(question_page("01a1", gate))
    assert page.startswith(f"● {status.value}  digest: ask\n  Send it?")
    answer = "answer: forge workflow approve 01a1 --step 'each[0]/ask', or reject"
    assert (answer in page) == (status is GateStatus.OPEN)
