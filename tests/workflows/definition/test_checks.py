"""Checks of structurally valid definitions: position, message and hint of each problem."""

from textwrap import dedent

import pytest

from forge.workflows.definition.models import Place
from forge.workflows.definition.reader import read_source

WAIT = "type: wait, config: {seconds: 1}"


def problems(text: str) -> list[Place]:
    return read_source("name: x\n" + dedent(text)).problems


def one(text: str) -> tuple[int, int, str, str | None]:
    [problem] = problems(text)
    return problem.line, problem.column, problem.message, problem.hint


def steps(*lines: str, more: str = "") -> str:
    return "steps:\n" + "".join(f"  - {{{line}}}\n" for line in lines) + more


@pytest.mark.parametrize(
    ("text", "line", "at", "message", "hint"),
    [
        (
            steps(f"id: a, {WAIT}", f"id: a, {WAIT}"),
            *(4, "a, type", "Duplicate step id `a`.", "Give each step a unique id."),
        ),
        (
            steps(f"id: fetch, {WAIT}", f"id: b, {WAIT}, depends_on: [fetch, fetsch]"),
            *(4, "fetsch]", "There is no step `fetsch`.", "Did you mean `fetch`?"),
        ),
        (
            steps(f"id: a, {WAIT}, on_error: {{goto: zz}}"),
            *(3, "zz}}", "There is no step `zz`.", "Write the id of a step."),
        ),
        (
            steps(f"id: a, {WAIT}", more="finally: [zz]\n"),
            *(4, "zz]", "There is no step `zz`.", "Write the id of a step."),
        ),
        (
            steps("id: a, type: conditional, config: {condition: 'true', then_steps: [zz]}"),
            *(3, "zz]", "There is no step `zz`.", "Write the id of a step."),
        ),
        (
            steps("id: a, type: loop, config: {items: [1], body_steps: [zz]}"),
            *(3, "zz]", "There is no step `zz`.", "Write the id of a step."),
        ),
        (
            steps("id: a, type: approval, config: {prompt: x, rejected_steps: [zz]}"),
            *(3, "zz]", "There is no step `zz`.", "Write the id of a step."),
        ),
        (
            steps(
                f"id: a, {WAIT}, depends_on: c",
                f"id: b, {WAIT}, depends_on: a",
                f"id: c, {WAIT}, depends_on: b",
            ),
            *(3, "c}", "These steps depend on each other: a ← c ← b ← a."),
            "To repeat steps, put them in the body of a loop.",
        ),
        (steps(f"id: a, {WAIT}, depends_on: a"), 3, "a}", "The step a depends on itself.", None),
        (
            steps(
                "id: l, type: loop, config: {items: [1], body_steps: [b]}",
                "id: m, type: loop, config: {items: [1], body_steps: [b]}",
                f"id: b, {WAIT}",
            ),
            *(4, "[b]", "The step b is both in the body of m and in l.", None),
        ),
        (
            steps(
                f"id: a, {WAIT}",
                "id: l, type: loop, config: {items: [1], body_steps: [b]}",
                f"id: b, {WAIT}, depends_on: [a]",
            ),
            *(5, "[a]", "b is in the body of l and depends on a, which is outside loops."),
            "A step can only depend on steps of its own loop body or level. Steps before a loop end before its body "
            "starts; steps after a loop depend on the loop.",
        ),
        (
            steps("id: l, type: loop, config: {body_steps: [b]}", f"id: b, {WAIT}"),
            *(3, "{body", "A loop needs either `condition` or `items`."),
            "Set `condition` to repeat while it is true, or `items` to iterate over a list.",
        ),
        (
            steps(
                "id: l, type: loop, config: {condition: 'true', parallel: 2, body_steps: [b]}",
                f"id: b, {WAIT}",
            ),
            *(3, "2, body", "`parallel` requires a loop over `items`.", "Remove `parallel`."),
        ),
        (
            steps("id: a, type: wait, config: {seconds: 1, until: '2026-12-01T09:00:00Z'}"),
            *(3, "{seconds", "A wait needs either `seconds` or `until`.", "Set one of the two."),
        ),
        (
            steps("id: a, type: wait, config: {until: tomorrow}"),
            *(
                3,
                "tomorrow",
                "This is not a valid time.",
                "Write it with a time zone: `2026-12-01T09:00:00+01:00`.",
            ),
        ),
        (
            steps("id: a, type: message, config: {body: x}"),
            *(3, "{body", "A message needs either a bot or a channel.", "Set either `to` or `channel`."),
        ),
        (
            steps("id: a, type: message, config: {to: ada, body: null}"),
            *(3, "null", "`body` must not be empty.", "Write the message in `body`."),
        ),
        (
            steps("id: a, type: http, config: {url: x.org}"),
            *(3, "x.org", "This is not a URL.", "Begin with `https://`."),
        ),
        (
            steps("id: a, type: http, config: {url: ' '}"),
            *(3, "' '", "`url` must not be empty.", "Write a URL that begins with `https://`."),
        ),
        (
            steps("id: a, type: agent, config: {bot: ada, prompt: ''}"),
            *(3, "''", "`prompt` must not be empty.", "Write what to ask the bot."),
        ),
        (
            steps("id: a, type: approval, config: {prompt: ''}"),
            *(3, "''", "`prompt` must not be empty.", "Write what the person has to decide."),
        ),
        (
            steps("id: a, type: agent, config: {bot: '', prompt: x}"),
            *(3, "''", "`bot` must not be empty.", "Name a bot, such as `ada`."),
        ),
        (
            steps(
                f"id: a, {WAIT}",
                more="triggers:\n  - {type: webhook, path: /a}\n  - {type: webhook, path: /a}\n",
            ),
            *(6, "/a}", "Duplicate webhook path /a.", None),
        ),
        (
            steps(
                f"id: a, {WAIT}",
                more="inputs:\n  n: {type: integer, default: many}\noutputs: {n: '{{ inputs.n }}'}\n",
            ),
            *(5, "many", "The default is not of type integer.", None),
        ),
        (
            steps(f"id: a, {WAIT}", more="triggers: [{type: cron, schedule: hourly, inputs: {b: 1}}]\n"),
            *(4, "b: 1", "The workflow has no input `b`.", "Declare it under `inputs`."),
        ),
    ],
    ids=lambda value: (
        None if isinstance(value, int) else str(value)[:20].replace("\n", " ") if value else "none"
    ),
)
def test_inconsistent_definition_is_rejected(text: str, line: int, at: str, message: str, hint: str | None):
    [problem] = problems(text)
    assert (problem.line, problem.message, problem.hint) == (line, message, hint)
    assert ("name: x\n" + text).split("\n")[line - 1][problem.column - 1 :].startswith(at)


def test_schedule_and_time_zone_are_validated():
    found = problems(
        steps(
            f"id: a, {WAIT}", more="triggers:\n  - {type: cron, schedule: 61 * * * *, timezone: Mars/Base}\n"
        )
    )
    assert [(problem.line, problem.path) for problem in found] == [
        (5, "triggers[0].schedule"),
        (5, "triggers[0].timezone"),
    ]


def test_schedule_must_set_required_inputs():
    text = """\
        inputs: {topic: {required: true}, other: {required: true, default: 1}}
        triggers: [{type: cron, schedule: hourly}]
        steps: [{id: a, type: wait, config: {seconds: '{{ inputs.other }}{{ inputs.topic }}'}}]
        """
    assert one(text)[2] == "The schedule does not set the required input `topic`."


def test_output_schema_is_validated_without_fetching():
    found = problems("""\
        steps:
          - {id: a, type: agent, config: {bot: ada, prompt: x, output_schema: {type: strin}}}
          - {id: b, type: agent, config: {bot: ada, prompt: x, output_schema: {$ref: 'http://127.0.0.1:9/x'}}}
        """)
    assert [problem.path for problem in found] == [
        "steps[0].config.output_schema",
        "steps[1].config.output_schema",
    ]


def test_deeply_nested_loops_are_rejected():
    lines = [f"id: l{n}, type: loop, config: {{items: [1], body_steps: [l{n + 1}]}}" for n in range(999)]
    assert one(steps(*lines, f"id: l999, {WAIT}"))[2] == "Loops are nested more than 10 levels deep."


GRAPH = """\
inputs: {topic: {}}
steps:
  - {id: first, type: wait, config: {seconds: 1}}
  - {id: other, type: wait, config: {seconds: 1}}
  - id: each
    type: loop
    depends_on: first
    config: {items: [1], body_steps: [inner, later]}
  - {id: inner, type: wait, config: {seconds: 1}}
  - {id: later, type: wait, depends_on: inner, config: {seconds: 1}}
  - id: choose
    type: conditional
    depends_on: each
    config: {condition: 'true', then_steps: [chosen]}
  - {id: chosen, type: wait, on_error: {goto: handler}, config: {seconds: 1}}
  - {id: handler, type: wait, config: {seconds: 1}}
  - {id: tidy, type: wait, config: {seconds: 1}}
finally: [tidy]
outputs: {topic: '{{ inputs.topic }}'}
"""


def objections(step: str, expression: str) -> list[tuple[str, str | None]]:
    """Return the problem of an expression in a step of the graph above."""
    text = GRAPH.replace(f"id: {step}, type: wait", f"id: {step}, condition: {expression!r}, type: wait")
    assert text != GRAPH
    return [(problem.message, problem.hint) for problem in problems(text)]


@pytest.mark.parametrize(
    ("step", "used"),
    [
        ("inner", "first"),
        ("later", "inner"),
        ("chosen", "choose"),
        ("chosen", "each"),
        ("chosen", "inner"),
        ("chosen", "first"),
        ("handler", "chosen"),
        ("tidy", "handler"),
        ("tidy", "inner"),
    ],
)
def test_earlier_step_can_be_referenced(step: str, used: str):
    assert objections(step, f"steps.{used}.output") == []


@pytest.mark.parametrize(
    ("step", "used", "message", "hint"),
    [
        (
            "other",
            "first",
            "The step `first` may not have ended when `other` starts.",
            "Add `first` to its `depends_on`.",
        ),
        (
            "other",
            "inner",
            "The step `inner` may not have ended when `other` starts.",
            "Add `each` to its `depends_on`.",
        ),
        (
            "inner",
            "other",
            "The step `other` may not have ended when `inner` starts.",
            "Add `other` to the `depends_on` of `each`.",
        ),
        (
            "inner",
            "later",
            "The step `later` may not have ended when `inner` starts.",
            "`later` depends on `inner`, so it runs later.",
        ),
        ("inner", "inner", "A step cannot use its own output.", None),
        (
            "inner",
            "each",
            "The output of `each` is available outside the loop `each` only after it has ended.",
            None,
        ),
        ("other", "tidy", "The step `tidy` runs last, in `finally`.", None),
        ("other", "frist", "There is no step `frist`.", "Did you mean `steps.first`?"),
    ],
)
def test_later_step_cannot_be_referenced(step: str, used: str, message: str, hint: str | None):
    assert objections(step, f"steps.{used}.output") == [(message, hint)]


@pytest.mark.parametrize(
    ("step", "expression", "message", "hint"),
    [
        ("other", "inputs.topc", "The workflow has no input `topc`.", "Did you mean `inputs.topic`?"),
        ("other", "input.topic", "`input` is not defined here.", "Did you mean `inputs`?"),
        (
            "other",
            "foo",
            "`foo` is not defined here.",
            "Available: `steps`, `inputs`, `trigger`, `workflow`.",
        ),
        (
            "other",
            "workflow.x",
            "There is no `workflow.x`.",
            "Available: `workflow.id`, `workflow.name`, `workflow.run_id`, `workflow.trigger`, "
            "`workflow.status`, `workflow.error`.",
        ),
        (
            "other",
            "loop.index > 1",
            "`loop` is only available in the body of a loop.",
            "Add this step to the `body_steps` of a loop.",
        ),
        ("inner", "loop.count > 1", "There is no `loop.count`.", "Available: `loop.index`, `loop.item`."),
        (
            *("inner", "steps.first.result"),
            "There is no `steps.first.result`.",
            "Available: `steps.first.output`, `steps.first.status`, `steps.first.error`, `steps.first.iterations`.",
        ),
    ],
)
def test_unknown_reference_is_rejected(step: str, expression: str, message: str, hint: str):
    assert objections(step, expression) == [(message, hint)]


def test_while_condition_can_use_outputs_of_its_body():
    text = """\
        steps:
          - {id: l, type: loop, config: {condition: 'loop.index < 3 && steps.b.output != 1', body_steps: [b]}}
          - {id: b, type: wait, condition: loop.item, config: {seconds: 1}}
        """
    assert one(text) == (4, 36, "The loop `l` has no items.", "It repeats while its condition is true.")


def test_secrets_are_rejected_outside_http_steps():
    text = """\
        steps:
          - {id: a, type: http, config: {url: 'https://x.org', headers: {A: '{{ secrets.KEY }}'}, body: ['{{ secrets.KEY }}']}}
          - {id: b, type: agent, config: {bot: ada, prompt: 'Say {{ secrets.KEY }}'}}
        """
    assert one(text)[:3] == (4, 60, "A secret cannot be used here.")


def test_trigger_condition_can_use_event_but_not_run():
    text = """\
        triggers:
          - {type: webhook, path: /a, when: 'event.n > 1 && trigger.source == "x"'}
          - {type: event, event_type: run.finished, when: steps.a.output}
          - {type: file_watch, paths: [/tmp], when: trigger.payload}
        steps: [{id: a, type: wait, config: {seconds: 1}}]
        """
    assert [(problem.line, problem.message) for problem in problems(text)] == [
        (4, "`steps` is not defined here."),
        (5, "There is no `trigger.payload`."),
    ]


@pytest.mark.parametrize(
    ("prompt", "line", "column"),
    [
        ("      prompt: say {{ inputs.nope }}\n", 7, 22),
        ("      prompt: 'say {{ inputs.nope }}'\n", 7, 23),
        ('      prompt: "say {{ inputs.nope }}"\n', 7, 23),
        ("      prompt: |\n        one\n        say {{ inputs.nope }}\n", 9, 16),
        ("      prompt: |\n        one\n\n          say {{ inputs.nope }}\n", 10, 18),
        ('      prompt: "\\x41 {{ inputs.nope }}"\n', 7, 15),
        ("      prompt: >\n        one\n        say {{ inputs.nope }}\n", 7, 15),
    ],
)
def test_position_inside_text_is_reported(prompt: str, line: int, column: int):
    """The position is exact unless escapes or folding hide it."""
    text = f"steps:\n  - id: a\n    type: agent\n    config:\n      bot: ada\n{prompt}"
    assert one(text)[:3] == (line, column, "The workflow has no input `nope`.")


def test_position_of_syntax_error_is_reported():
    line, column, _, _ = one(
        "steps:\n  - id: a\n    condition: '{{ trigger.a + }}'\n    type: wait\n    config: {seconds: 1}\n"
    )
    assert (line, column) == (4, 31)


def test_definition_with_warnings_is_usable():
    read = read_source("""\
name: x
concurrency_policy: reject
inputs: {a: {}, b: {}, c: {}}
steps:
  - {id: a, type: sub_workflow, config: {workflow_name: x, input: '{{ inputs.a }}'}}
  - {id: b, type: wait, config: {seconds: '{{ trigger.b }}'}}
""")
    assert read.is_usable
    assert [(problem.path, problem.message, problem.is_warning) for problem in read.problems] == [
        ("concurrency_policy", "`concurrency_policy` has no effect without `concurrency`.", True),
        ("inputs.c", "The input `c` is not used.", True),
        ("steps[0].config.workflow_name", "The workflow starts itself.", True),
    ]


def test_unusable_definition_is_returned():
    """The canvas shows it with its problems."""
    read = read_source("name: x\nsteps:\n  - {id: a, depends_on: b, type: wait, config: {seconds: 1}}\n")
    assert read.definition
    assert not read.is_usable


def test_dense_graph_is_checked_quickly():
    """Every step uses the first one and depends on all before it."""
    many = 400
    text = "steps:\n" + "".join(
        f"  - {{id: s{n}, depends_on: [{', '.join(f's{m}' for m in range(n))}], condition: steps.s0.output > {n}, {WAIT}}}\n"
        if n
        else f"  - {{id: s0, {WAIT}}}\n"
        for n in range(many)
    )
    assert problems(text) == []
