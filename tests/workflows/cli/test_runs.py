"""The `forge workflow` commands for runs, with a real server."""

import json
from collections.abc import Callable

import pytest
from tests.support.server import Server, wait_until
from tests.support.terminal import Terminal, open_screen

ADD = """
name: {name}
inputs:
  left: {{type: integer, required: true}}
  right: {{type: integer, default: 1}}
steps:
  - id: add
    type: code
    config:
      language: javascript
      source: |
        function run(input) {{ console.log(`adding ${{input.left}}`); return input.left + input.right; }}
      input: {{left: "{{{{ inputs.left }}}}", right: "{{{{ inputs.right }}}}"}}
  - id: never
    type: wait
    condition: inputs.left > 100
    config: {{seconds: 0}}
outputs:
  sum: "{{{{ steps.add.output.output }}}}"
"""
ASK = """
name: {name}
steps:
  - id: ask
    type: approval
    config: {{prompt: "Shall I?"}}
  - id: act
    type: wait
    depends_on: [ask]
    config: {{seconds: 0}}
outputs:
  reply: "{{{{ steps.ask.output.comment }}}}"
"""
USES_SECRET = """
name: {name}
steps:
  - id: first
    type: wait
    config: {{seconds: 0}}
  - id: fetch
    type: http
    depends_on: [first]
    config:
      url: "{{{{ inputs.url }}}}"
      headers: {{x-test: "{{{{ secrets.{secret} }}}}"}}
inputs:
  url: {{type: string}}
outputs:
  status: "{{{{ steps.fetch.output.status }}}}"
"""

Create = Callable[..., str]


@pytest.fixture
def create(forge: Terminal) -> Create:
    def create(source: str, name: str, **values: str) -> str:
        result = forge("workflow", "create", "-", "--update", stdin=source.format(name=name, **values))
        assert result.code == 0, result.err
        return name

    return create


def wait_for_approval(server: Server, run_id: str) -> None:
    def is_asked() -> bool:
        detail = server.call("GET", f"/api/v1/workflow-runs/{run_id}")
        return any(step["status"] == "waiting" for step in detail["steps"])

    wait_until(is_asked, what="the question")


def start_until_approval(forge: Terminal, server: Server, name: str) -> str:
    run_id = forge("workflow", "trigger", name, "--json").data["run_id"]
    wait_for_approval(server, run_id)
    return run_id


def test_wait_prints_only_the_output(forge: Terminal, create: Create):
    name = create(ADD, "to-add")
    result = forge("workflow", "trigger", name, "--input", "left=2", "--input", "right=40", "--wait")
    assert (result.code, json.loads(result.out), result.err) == (0, {"sum": 42}, "")
    run = forge("workflow", "trigger", name, "--payload", '{"left": 5}', "--wait", "--json").data
    assert (run["status"], run["output"], run["inputs"]) == ("completed", {"sum": 6}, {"left": 5, "right": 1})
    piped = forge(
        "workflow", "trigger", name, "--payload", "-", "--input", "left=7", "--wait", stdin='{"left": 1}'
    )
    assert json.loads(piped.out) == {"sum": 8}


def test_trigger_prints_the_id_of_the_run(forge: Terminal, create: Create):
    name = create(ADD, "to-list")
    result = forge("workflow", "trigger", name, "--input", "left=2")
    assert result.code == 0
    run_id = result.out.removeprefix("Submitted: ").strip()
    assert result.err == f"Follow it with: forge workflow logs {run_id} -f\n"
    assert [run["id"] for run in forge("workflow", "runs", name, "--json").data] == [run_id]
    assert run_id in forge("workflow", "runs").out
    assert len(forge("workflow", "runs", "--limit", "1", "--json").data) == 1
    assert forge("workflow", "logs", run_id[:-1], "-f").code == 0
    assert forge("workflow", "runs", "unknown").code == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--input", "left=x"), "The input left must be an integer, got 'x'."),
        (("--input", "lefft=1"), "The workflow has no input 'lefft'."),
        (("--input", "left"), "is not of the form NAME=VALUE"),
        ((), "left is missing"),
        (("--payload", "[1]"), "--payload must be a JSON object."),
        (("--payload", '{"left": "x"}'), "left must be an integer"),
        (("--wait", "--follow"), "Choose one of --wait, --follow, --dry-run."),
        (("--sample", "add=1"), "--sample requires --dry-run."),
    ],
)
def test_invalid_trigger_options_start_no_run(
    forge: Terminal, create: Create, options: tuple[str, ...], message: str
):
    name = create(ADD, "to-refuse")
    result = forge("workflow", "trigger", name, *options)
    assert (result.code, result.out, message in result.err) == (2, "", True), result.err
    assert forge("workflow", "runs", name, "--json").data == []


def test_logs_print_the_same_as_follow(forge: Terminal, create: Create):
    name = create(ADD, "to-tell")
    followed = forge("workflow", "trigger", name, "--input", "left=1", "-f")
    assert followed.code == 0
    lines = [" ".join(line.split()[1:]) for line in followed.out.splitlines()]
    assert any(line.startswith("never ● skipped") for line in lines)
    assert lines.index("add adding 1") < next(
        i for i, line in enumerate(lines) if line.startswith("add ● completed")
    )
    assert '"sum": 2' in followed.out
    assert forge("workflow", "logs", name).out == followed.out
    events = [json.loads(line) for line in forge("workflow", "logs", name, "-f", "--json").out.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "run.completed"


def test_status_shows_the_details_of_a_step(forge: Terminal, create: Create):
    name = create(ADD, "to-look")
    forge("workflow", "trigger", name, "--input", "left=1", "--wait")
    step = forge("workflow", "status", name, "--step", "add", "--json").data
    assert (step["input"]["input"], step["output"]["output"]) == ({"left": 1, "right": 1}, 2)
    page = forge("workflow", "status", name, "--step", "add").out
    assert "adding 1" in page.partition("LOG")[2]
    assert forge("workflow", "status", name, "--step", "unknown").code == 5
    page = forge("workflow", "status", name).out
    assert all(text in page for text in ("● completed", '{"sum": 2}', "never", "● skipped"))


@pytest.mark.parametrize(("verb", "status"), [("approve", "completed"), ("reject", "skipped")])
def test_open_approval_is_shown_and_decided(
    forge: Terminal, server: Server, create: Create, verb: str, status: str
):
    name = create(ASK, f"to-{verb}")
    run_id = start_until_approval(forge, server, name)
    page = forge("workflow", "status", name).out
    assert "Shall I?" in page
    assert f"forge workflow approve {run_id} --step ask, or reject" in page
    assert "1 waiting for approval" in forge("workflow", "list", name).out
    result = forge("workflow", verb, name, "--comment", "because")
    assert (result.code, result.out.endswith(f"Follow it with: forge workflow logs {run_id} -f\n")) == (
        0,
        True,
    )
    logs = forge("workflow", "logs", name, "-f")
    assert (logs.code, '"reply": "because"' in logs.out) == (0, True)
    assert f"forge workflow approve {run_id}" not in logs.out
    act = forge("workflow", "status", name, "--step", "act", "--json").data
    assert act["status"] == status
    again = forge("workflow", verb, name)
    assert (again.code, again.out) == (6, "")
    watched = forge("runs", "watch", run_id)
    assert watched.err == f"To follow its steps: forge workflow logs -f {run_id}\n"


def test_wait_prints_how_to_approve(forge: Terminal, server: Server, create: Create):
    name = create(ASK, "to-hang")
    with open_screen(server.data_dir, "workflow", "trigger", name, "--wait") as screen:
        screen.wait_for("forge workflow approve ")
        assert forge("workflow", "approve", name, "--step", "ask").code == 0
        assert screen.end() == 0
    assert '"reply": ""' in screen.text


def test_run_continues_after_follow_is_interrupted(forge: Terminal, server: Server, create: Create):
    name = create(ASK, "to-leave")
    with open_screen(server.data_dir, "workflow", "trigger", name, "--follow") as screen:
        screen.wait_for("forge workflow approve ")
        screen.type("\x03")
        assert screen.end() == 130
    assert "The run continues. Follow it with: forge workflow logs" in screen.text
    assert forge("workflow", "status", name, "--json").data["status"] in ("running", "waiting")


def test_retry_continues_at_the_failed_step(forge: Terminal, server: Server, create: Create):
    name, url = create(USES_SECRET, "to-mend", secret="TO_MEND"), f"url={server.url}/health"
    result = forge("workflow", "trigger", name, "--input", url, "--wait")
    failed = forge("workflow", "runs", name, "--json").data[0]["id"]
    assert (result.code, result.out, "TO_MEND" in result.err) == (1, "", True)
    assert result.err.endswith(f"Retry from the failed step with: forge workflow retry {failed}\n")
    assert forge("workflow", "logs", name).code == 1
    assert forge("secrets", "set", "TO_MEND", stdin="a-secret-value").code == 0
    retried = forge("workflow", "retry", name, "--wait")
    assert (retried.code, json.loads(retried.out)) == (0, {"status": 200})
    page = forge("workflow", "status", name).out
    assert f"retry of    {failed}" in page
    assert "(kept)" in next(line for line in page.splitlines() if line.startswith("first"))
    assert "a-secret-value" not in forge("workflow", "status", name, "--step", "fetch", "--json").out
    assert forge("workflow", "retry", name).code == 6


def test_rerun_accepts_other_inputs_and_the_latest_version(forge: Terminal, create: Create):
    name = create(ADD, "to-repeat")
    forge("workflow", "trigger", name, "--input", "left=1", "--input", "right=2", "--wait")
    assert json.loads(forge("workflow", "rerun", name, "--wait").out) == {"sum": 3}
    assert json.loads(forge("workflow", "rerun", name, "--input", "left=5", "--wait").out) == {"sum": 7}
    assert json.loads(forge("workflow", "rerun", name, "--payload", '{"left": 3}', "--wait").out) == {
        "sum": 4
    }
    create(ADD.replace("input.left + input.right", "input.left * input.right"), name)
    arguments = ("--payload", '{"left": 3, "right": 3}', "--wait")
    assert json.loads(forge("workflow", "rerun", name, *arguments).out) == {"sum": 6}
    assert json.loads(forge("workflow", "rerun", name, *arguments, "--latest").out) == {"sum": 9}
    assert forge("workflow", "rerun", name, "--input", "middle=5").code == 2


def test_dry_run_starts_no_run(forge: Terminal, create: Create):
    name = create(ADD, "to-dream")
    arguments = ("workflow", "trigger", name, "--input", "left=1", "--dry-run")
    result = forge(*arguments, "--sample", 'add={"output": 99}')
    assert (result.code, '"sum": 99' in result.out, result.err) == (
        0,
        True,
        "Dry run: nothing was executed.\n",
    )
    failed = forge(*arguments, "--sample", "add={}", "--json")
    assert (failed.code, failed.data["error"]["code"]) == (1, "expression")
    assert forge("workflow", "runs", name, "--json").data == []


def test_run_can_be_cancelled_once(forge: Terminal, server: Server, create: Create):
    name = create(ASK, "to-stop")
    run_id = start_until_approval(forge, server, name)
    assert forge("workflow", "cancel", name).out == f"Cancelled {run_id}.\n"
    assert forge("workflow", "cancel", name).code == 6
    logs = forge("workflow", "logs", name, "-f")
    assert (logs.code, "● cancelled" in logs.out) == (1, True)


def test_workflow_name_refers_to_its_latest_run(forge: Terminal, create: Create):
    name = create(ADD, "to-name")
    result = forge("workflow", "logs", name)
    assert (result.code, f"{name} has no runs yet." in result.err) == (5, True)
    ids = [forge("workflow", "trigger", name, "--input", "left=1", "--json").data["run_id"] for _ in range(2)]
    assert forge("workflow", "status", name, "--json").data["id"] == ids[-1]
    assert forge("workflow", "status", ids[0], "--json").data["id"] == ids[0]
    assert forge("workflow", "status", "0").code == 2
    for reference in ("unknown", "?", "01a1dd9e-e17e-75f3-b0a6-6a948f274981"):
        assert forge("workflow", "status", reference).code == 5
