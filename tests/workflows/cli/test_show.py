"""Rendering of workflows and runs for the terminal."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from rich.console import Console, RenderableType

from forge.runs.models import Gate, GateOption, GateStatus, Problem, RunStatus
from forge.workflows.cli.views import (
    dry_run_page,
    place_line,
    question_page,
    run_page,
    runs_table,
    short_text,
    step_page,
    step_words,
    value_text,
    workflow_page,
    workflows_table,
)
from forge.workflows.definition.models import Definition, Place, StepType
from forge.workflows.models import (
    Attempt,
    DryRun,
    LogLine,
    StepDetail,
    StepProblem,
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


def render(part: RenderableType) -> str:
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


def test_list_shows_the_last_runs_as_symbols():
    [_, row] = render(workflows_table([detail()])).splitlines()
    assert row.split()[:7] == ["digest", "●", "active", "1", "waiting", "for", "approval"]
    assert "✓✗-?" in row
    assert "daily at 9am (UTC), /in" in row


def test_disabled_workflow_is_shown_as_off():
    assert "● off" in render(workflows_table([detail(is_enabled=False, open_gates=0)]))


def test_workflow_page_shows_triggers_inputs_and_steps():
    page = render(workflow_page(detail()))
    for expected in (
        "version      1.0, saved as number 3",
        "concurrency  1",
        "● bad    webhook  /in",
        "http://x/webhooks/in  No secret IN.",
        "topic  string, required           What about.",
        "n      any               5",
        "bot: atlas, prompt: Find five things about {{ inputs.topic",
        "items: {{ [1, 2] }}",
        "channel: news",
        "seconds: 3.0",
        "prompt: Send it?",
    ):
        assert expected in page
    assert "x" * 70 not in page


def test_position_of_a_problem_is_printed_like_a_compiler_error():
    place = Place(
        line=7, column=3, path="steps[0]", message="Unknown key `promt`.", hint="Did you mean `prompt`?"
    )
    assert render(place_line(place, "digest.yaml")) == (
        "● digest.yaml:7:3 Unknown key `promt`.\n  Did you mean `prompt`?"
    )
    assert render(place_line(place)).startswith("● 7:3 ")


def run(**changes: Any) -> WorkflowRun:
    created = WorkflowRun(
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
    return created.model_copy(update=changes)


def test_list_of_runs_shows_trigger_duration_and_cost():
    page = render(runs_table([run(), run(trigger=TriggerType.MANUAL, source="owner", started_at=None)]))
    assert "cron: daily at 9am" in page
    assert "2.5 s  $0.0012" in page
    assert "completed  owner" in page


def step(**changes: Any) -> StepDetail:
    created = StepDetail(
        key="fetch", step="fetch", type=StepType.HTTP, name="Fetch", status=StepStatus.COMPLETED
    )
    return created.model_copy(update=changes)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "● completed"),
        ({"attempt": 2, "is_kept": True}, "● completed (attempt 2) (kept)"),
        (
            {"status": StepStatus.SKIPPED, "note": "its condition is false"},
            "● skipped  its condition is false",
        ),
        (
            {"status": StepStatus.FAILED, "error": Problem(code="http_status", message="It returned 500.")},
            "● failed  It returned 500. (http_status)",
        ),
        (
            {"started_at": AT, "finished_at": AT + timedelta(seconds=1), "cost_micros": 5},
            "● completed  1.0 s  < $0.0001",
        ),
    ],
)
def test_step_status_is_shown_in_one_line(changes: dict[str, Any], expected: str):
    assert render(step_words(step(**changes))) == expected


def test_step_page_shows_input_output_attempts_and_log():
    attempts = [
        Attempt(number=1, started_at=AT, duration_ms=20, error=StepProblem(code="x", message="No.")),
        Attempt(number=2, started_at=AT, duration_ms=30, note="The address was wrong."),
    ]
    logs = [LogLine(text="asked"), LogLine(level="warn", text="slow\x1b[2J")]
    page = render(step_page(step(input={"url": "u"}, output={"status": 200}, attempts=attempts, logs=logs)))
    for expected in (
        'INPUT\n{\n  "url": "u"\n}',
        'OUTPUT\n{\n  "status": 200\n}',
        "1        20 ms  No. (x)\n2        30 ms  ● completed  The address was wrong.\n",
        "LOG\nasked\nwarn: slow\N{REPLACEMENT CHARACTER}[2J",
    ):
        assert expected in page


def test_dry_run_shows_the_input_of_each_step():
    skipped = step(key="other", status=StepStatus.SKIPPED, input={"never": 1})
    page = render(dry_run_page(DryRun(steps=[step(input={"url": "u"}), skipped], output="done", error=None)))
    assert page == 'fetch http\n  {"url": "u"}\nother http  ● skipped\n\nOUTPUT\ndone'


def test_text_is_shown_unchanged_and_other_values_as_json():
    assert value_text("a\nb") == "a\nb"
    assert value_text({"ä": [1]}) == '{\n  "ä": [\n    1\n  ]\n}'
    assert short_text({"ä": [1]}) == '{"ä": [1]}'
    assert len(short_text("x" * 10_000)) == 400


def test_steps_are_listed_in_definition_order_with_iterations_below():
    keys = ["d", "c[10]/d", "c[2]/d", "b", "c", "c[2]/c[0]/d", "a"]
    steps: list[StepSummary] = [step(key=key, step=key[-1], type=StepType.WAIT) for key in keys]
    definition = {"steps": [{"id": name} for name in "abcd"]}
    created = WorkflowRunDetail(
        **run().model_dump(),
        payload={},
        output=None,
        definition=definition,
        steps=steps,
        gates=[],
        children=[],
    )
    page = render(run_page(created)).partition("STATUS\n")[2]
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
def test_approve_command_is_shown_only_for_open_questions(status: GateStatus):
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
    page = render(question_page("01a1", gate))
    assert page.startswith(f"● {status.value}  digest: ask\n  Send it?")
    answer = "answer: forge workflow approve 01a1 --step 'each[0]/ask', or reject"
    assert (answer in page) == (status is GateStatus.OPEN)
