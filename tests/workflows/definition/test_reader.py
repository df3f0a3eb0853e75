"""Reading definitions: shorthand, defaults, and positions of problems."""

import time
from textwrap import dedent

import pytest

from forge.workflows.definition.models import MAX_SOURCE, MAX_STEPS, Definition, ManualTrigger, Place
from forge.workflows.definition.reader import MAX_PROBLEMS, read_data, read_source

MINIMAL = "name: x\nsteps:\n  - {id: a, type: wait, config: {seconds: 1}}\n"


def definition(text: str) -> Definition:
    read = read_source(dedent(text))
    assert read.problems == []
    assert read.definition
    return read.definition


def problems(text: str) -> list[Place]:
    return read_source(dedent(text)).problems


def describe_problems(text: str) -> list[tuple[int, int, str, str]]:
    return [(one.line, one.column, one.path, one.message) for one in problems(text)]


def test_defaults_are_filled_in():
    read = definition(MINIMAL)
    assert (read.id, read.version, read.owner.type, read.triggers) == (
        None,
        "1.0",
        "global",
        [ManualTrigger()],
    )
    assert (read.steps[0].title, read.steps[0].config.type) == ("a", "wait")


def test_type_may_be_in_step_or_config():
    read = definition("""
        name: x
        steps:
          - {id: a, type: wait, config: {seconds: 1}}
          - {id: b, config: {type: wait, seconds: 1}}
          - {id: c, type: wait, config: {type: wait, seconds: 1}}
        """)
    assert [(step.type, step.config.type) for step in read.steps] == [("wait", "wait")] * 3


@pytest.mark.parametrize(
    ("spelling", "language"),
    [
        *(
            (word, "javascript")
            for word in ("js", "javascript", "JavaScript", "type_script", "typescript", "ts")
        ),
        *((word, "python") for word in ("py", "python", "Python", "python3")),
    ],
)
def test_language_aliases_are_accepted(spelling: str, language: str):
    read = definition(
        f"name: x\nsteps:\n  - {{id: a, type: code, config: {{language: {spelling}, source: x}}}}\n"
    )
    config = read.steps[0].config
    assert config.type == "code"
    assert config.language == language


@pytest.mark.parametrize(
    ("spelling", "condition"),
    [
        ("trigger.n > 1", "trigger.n > 1"),
        ("'{{ trigger.n > 1 }}'", "trigger.n > 1"),
        ('"{{trigger.n > 1}}"', "trigger.n > 1"),
        ("true", "true"),
        ("False", "False"),
        ("1", "1"),
    ],
)
def test_condition_may_have_braces_or_be_a_scalar(spelling: str, condition: str):
    text = f"name: x\nsteps:\n  - {{id: a, type: wait, config: {{seconds: 1}}}}\n  - id: b\n    type: wait\n    condition: {spelling}\n    config: {{seconds: 1}}\n"
    read = read_source(text)
    assert read.definition
    assert read.definition.steps[1].condition == condition


def test_scalars_are_coerced_to_lists_and_strings():
    read = definition("""
        name: 2026
        version: 1.10
        triggers: manual
        owner: ada
        finally: c
        steps:
          - {id: a, type: wait, config: {seconds: 1.5}}
          - id: b
            depends_on: a
            retry:
            config: {type: http, method: post, url: 'https://x.org', headers: {X-Count: 010}, expect_status: 200}
          - {id: c, type: wait, config: {until: '2026-12-01T09:00:00+01:00'}}
        """)
    assert (read.name, read.version, read.owner.type, read.triggers) == (
        "2026",
        "1.10",
        "bot",
        [ManualTrigger()],
    )
    assert (read.finally_steps, read.steps[1].depends_on, read.steps[1].retry) == (["c"], ["a"], None)
    config = read.steps[1].config
    assert config.type == "http"
    assert (config.method, config.headers, config.expect_status) == ("POST", {"X-Count": "010"}, [200])


def test_only_json_types_are_accepted():
    """Tags and aliases have no effect, and booleans and times of YAML 1.1 are strings."""
    read = definition("""
        name: x
        metadata: {a: yes, b: 12:30, c: 2026-11-16, d: .inf, e: 0x10, f: 1e3, g: ~, h: TRUE, i: '5', 7: 7}
        steps: [{id: a, type: wait, config: {seconds: 1}}]
        """)
    assert read.metadata == {
        "a": "yes",
        "b": "12:30",
        "c": "2026-11-16",
        "d": ".inf",
        "e": 16,
        "f": 1000.0,
        "g": None,
        "h": True,
        "i": "5",
        "7": 7,
    }


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("name: [\n", 1, 7, "Invalid YAML: did not find expected node content."),
        ("name: x\nname: y\n", 2, 1, "Duplicate key `name`."),
        ("a: &a [x]\nb: [*a, *a]\n", 1, 4, "Anchors (&) and aliases (*) are not supported."),
        ("name: !!python/object:os.system x\n", 1, 7, "Tags (!) are not supported."),
        ("- a\n", 1, 1, "A workflow must be a YAML mapping."),
        ("just text", 1, 1, "A workflow must be a YAML mapping."),
        ("{" * 100_000, 1, 41, "The nesting is too deep."),
        ('name: "\\0"\nsteps: []\n', 1, 7, "The text contains a NUL character."),
        ("name: x\x00", 1, 8, "The text contains a NUL character."),
        ("name: x\nsteps: {{ steps.a }}\n", 2, 9, "A key must be a string."),
        ("x" * (MAX_SOURCE + 1), 1, 1, "The definition has 1,048,577 characters; the maximum is 1,048,576."),
    ],
)
def test_unreadable_definition_is_reported_with_position(text: str, line: int, column: int, message: str):
    [problem] = read_source(text).problems
    assert (problem.line, problem.column, problem.message) == (line, column, message)


@pytest.mark.parametrize(
    "value", ["{{ steps.a.output }}", "{{ steps.a.output }} and more", "{{ a }}/{{ b }}"]
)
def test_unquoted_braces_have_a_hint(value: str):
    [problem, *_] = problems(f"name: x\nsteps:\n  - id: a\n    config:\n      url: {value}\n")
    assert problem.hint == 'Quote a value that begins with braces: `"{{ … }}"`.'


def test_all_structural_problems_are_reported():
    assert describe_problems("""\
        name: two words
        stesp: []
        inputs:
          a b: {}
        triggers:
          - {type: cron}
          - {}
          - {type: timer}
        steps:
          - id: 9a
            type: agnt
            config: {}
          - id: b
            type: http
            dependson: [a]
            retry: 5
            on_error: go
            config:
              ulr: https://x.org
              headers: [a]
          - id: c
            type: wait
            on_error: {goto: 1 2}
            config: {seconds: [1]}
          - five
        """) == [
        (1, 7, "name", "`name` has an invalid format."),
        (2, 1, "stesp", "Unknown key `stesp`."),
        (4, 3, "inputs.a b", "`a b` has an invalid format."),
        (6, 5, "triggers[0].schedule", "`schedule` is missing."),
        (7, 5, "triggers[1]", "`type` is missing."),
        (8, 12, "triggers[2].type", "Unknown type."),
        (10, 9, "steps[0].id", "`id` has an invalid format."),
        (11, 11, "steps[0].type", "`type` has an unknown value."),
        (15, 5, "steps[1].dependson", "Unknown key `dependson`."),
        (16, 12, "steps[1].retry", "`retry` must be a mapping."),
        (17, 15, "steps[1].on_error", "Invalid value for `on_error`."),
        (19, 7, "steps[1].config.url", "`url` is missing."),
        (19, 7, "steps[1].config.ulr", "Unknown key `ulr`."),
        (20, 16, "steps[1].config.headers", "`headers` must be a mapping."),
        (23, 22, "steps[2].on_error.goto", "`goto` has an invalid format."),
        (
            24,
            23,
            "steps[2].config.seconds",
            "`seconds` must be a number or a template.",
        ),
        (25, 5, "steps[3]", "`steps`, item 4, must be a mapping."),
    ]


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("dependson", "Did you mean `depends_on`?"),
        ("retries", "Did you mean `retry`?"),
        ("on-error", "Did you mean `on_error`?"),
        (
            "x",
            "Allowed keys: `id`, `name`, `type`, `depends_on`, `condition`, `timeout_secs`, `retry`, `on_error`, `config`, `ui`.",
        ),
    ],
)
def test_unknown_key_has_a_suggestion(key: str, hint: str):
    [problem] = problems(f"name: x\nsteps:\n  - {{id: a, type: wait, config: {{seconds: 1}}, {key}: 1}}\n")
    assert (problem.step, problem.hint) == ("a", hint)


def test_contradicting_types_are_rejected():
    [problem] = problems(
        "name: x\nsteps:\n  - {id: a, type: wait, config: {type: http, url: 'https://x.org'}}\n"
    )
    assert (problem.path, problem.step) == ("steps[0].config.type", "a")
    assert problem.message == "The step has type `wait`, but its `config` has type `http`."


def test_bidirectional_control_character_is_a_warning():
    [problem] = problems(MINIMAL.replace("name: x", "name: x\ndescription: a\u202eb"))
    assert (problem.is_warning, problem.line, problem.column) == (True, 2, 15)


def test_problems_of_json_have_positions_in_yaml():
    read = read_data({"name": "x", "steps": [{"id": "a", "type": "wait", "config": {"secs": 1}}]})
    [problem] = read.problems
    assert read.source.split("\n")[problem.line - 1] == "      secs: 1"
    assert (problem.path, problem.step) == ("steps[0].config.secs", "a")
    read = read_data({"steps": [{"config": {"type": "wait"}, "id": "a"}], "name": "x"})
    [problem] = read.problems
    assert read.source == "name: x\n\nsteps:\n  - id: a\n    type: wait\n    config: {}\n"
    assert (problem.line, problem.column, problem.message) == (
        6,
        13,
        "A wait needs either `seconds` or `until`.",
    )


def nested(depth: int) -> dict[str, object]:
    return {"a": nested(depth - 1)} if depth else {}


@pytest.mark.parametrize(
    "data",
    [
        None,
        5,
        "name: x",
        [],
        {1: 2},
        {"name": float("nan")},
        {"name": object()},
        {"name": {1, 2}},
        nested(200),
    ],
)
def test_non_object_is_reported_as_problem(data: object):
    read = read_data(data)
    assert read.definition is None
    assert [problem.message for problem in read.problems] == ["A workflow must be a JSON object."]


def test_too_many_steps_are_rejected_quickly():
    text = "name: x\nsteps:\n" + "".join(
        f"  - {{id: s{n}, type: wait, config: {{seconds: 1}}}}\n" for n in range(10_000)
    )
    started = time.process_time()
    [problem] = read_source(text).problems
    assert time.process_time() - started < 20
    assert (problem.line, problem.message) == (2, f"10,000 steps exceed the maximum of {MAX_STEPS:,}.")


def test_number_of_problems_is_limited():
    text = "name: x\nsteps:\n" + "".join(f"  - {{id: s{n}, typ: wait, confg: 1}}\n" for n in range(500))
    assert len(read_source(text).problems) == MAX_PROBLEMS


def test_thousand_steps_are_read_quickly():
    steps = [
        f"""
  - id: s{n}
    type: agent
    depends_on: [s{max(n - 1, 0)}, s{max(n - 2, 0)}]
    condition: steps.s0.output.n > {n}
    config:
      bot: ada
      prompt: |
        Go on with {{{{ steps.s{max(n - 1, 0)}.output.response }}}}
        and with {{{{ trigger.topic{n} }}}}
"""
        for n in range(2, MAX_STEPS)
    ]
    first = "name: x\nsteps:\n  - {id: s0, type: wait, config: {seconds: 1}}\n  - {id: s1, type: wait, depends_on: s0, config: {seconds: 1}}\n"
    text = first + "".join(steps)
    durations: list[float] = []
    for _ in range(3):
        started = time.process_time()
        assert read_source(text).problems == []
        durations.append(time.process_time() - started)
    assert min(durations) < 5  # half a second is usual; quadratic code would take minutes
