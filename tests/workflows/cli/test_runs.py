"""`forge workflow` and runs: started, followed, decided, started again. Against a real server."""

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
  said: "{{{{ steps.ask.output.comment }}}}"
"""
NEEDY = """
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

Make = Callable[..., str]


@pytest.fixture
def make(forge: Terminal) -> Make:
    def make(source: str, name: str, **given: str) -> str:
        said = forge("workflow", "create", "-", "--update", stdin=source.format(name=name, **given))
        assert said.code == 0, said.err
        return name

    return make


def wait_for_question(server: Server, run_id: str) -> None:
    def is_asked() -> bool:
        detail = server.call("GET", f"/api/v1/workflow-runs/{run_id}")
        return any(step["status"] == "waiting" for step in detail["steps"])

    wait_until(is_asked, what="the question")


def ask(forge: Terminal, server: Server, name: str) -> str:
    run_id = forge("workflow", "trigger", name, "--json").data["run_id"]
    wait_for_question(server, run_id)
    return run_id


def test_a_run_is_waited_for_and_gives_its_output_alone(forge: Terminal, make: Make):
    name = make(ADD, "to-add")
    said = forge("workflow", "trigger", name, "--input", "left=2", "--input", "right=40", "--wait")
    assert (said.code, json.loads(said.out), said.err) == (0, {"sum": 42}, "")
    run = forge("workflow", "trigger", name, "--payload", '{"left": 5}', "--wait", "--json").data
    assert (run["status"], run["output"], run["inputs"]) == ("completed", {"sum": 6}, {"left": 5, "right": 1})
    piped = forge(
        "workflow", "trigger", name, "--payload", "-", "--input", "left=7", "--wait", stdin='{"left": 1}'
    )
    assert json.loads(piped.out) == {"sum": 8}


def test_a_run_is_started_at_once_and_listed(forge: Terminal, make: Make):
    name = make(ADD, "to-list")
    said = forge("workflow", "trigger", name, "--input", "left=2")
    assert said.code == 0
    run_id = said.out.removeprefix("Submitted: ").strip()
    assert said.err == f"Follow it: forge workflow logs {run_id} -f\n"
    assert [run["id"] for run in forge("workflow", "runs", name, "--json").data] == [run_id]
    assert run_id in forge("workflow", "runs").out
    assert len(forge("workflow", "runs", "--limit", "1", "--json").data) == 1
    assert forge("workflow", "logs", run_id[:-1], "-f").code == 0
    assert forge("workflow", "runs", "none").code == 5


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--input", "left=x"), "The input left is a whole number"),
        (("--input", "lefft=1"), "It has no input 'lefft'."),
        (("--input", "left"), "is no name with a value"),
        ((), "left is missing"),
        (("--payload", "[1]"), "--payload has to be a JSON object."),
        (("--payload", '{"left": "x"}'), "left must be an integer"),
        (("--wait", "--follow"), "Choose one of --wait, --follow, --dry-run."),
        (("--sample", "add=1"), "--sample is for a --dry-run."),
    ],
)
def test_what_cannot_be_started_is_refused(forge: Terminal, make: Make, options: tuple[str, ...], told: str):
    name = make(ADD, "to-refuse")
    said = forge("workflow", "trigger", name, *options)
    assert (said.code, said.out, told in said.err) == (2, "", True), said.err
    assert forge("workflow", "runs", name, "--json").data == []


def test_a_run_is_told_as_it_happens_and_the_same_later(forge: Terminal, make: Make):
    name = make(ADD, "to-tell")
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


def test_a_step_is_looked_into(forge: Terminal, make: Make):
    name = make(ADD, "to-look")
    forge("workflow", "trigger", name, "--input", "left=1", "--wait")
    step = forge("workflow", "status", name, "--step", "add", "--json").data
    assert (step["input"]["input"], step["output"]["output"]) == ({"left": 1, "right": 1}, 2)
    page = forge("workflow", "status", name, "--step", "add").out
    assert "adding 1" in page.partition("LOG")[2]
    assert forge("workflow", "status", name, "--step", "none").code == 5
    page = forge("workflow", "status", name).out
    assert all(told in page for told in ("● completed", '{"sum": 2}', "never", "● skipped"))


@pytest.mark.parametrize(("verb", "status"), [("approve", "completed"), ("reject", "skipped")])
def test_a_question_is_shown_and_answered(
    forge: Terminal, server: Server, make: Make, verb: str, status: str
):
    name = make(ASK, f"to-{verb}")
    run_id = ask(forge, server, name)
    page = forge("workflow", "status", name).out
    assert "Shall I?" in page
    assert f"forge workflow approve {run_id} --step ask, or reject" in page
    assert "1 waits for you" in forge("workflow", "list", name).out
    said = forge("workflow", verb, name, "--comment", "because")
    assert (said.code, said.out.endswith(f"Follow it: forge workflow logs {run_id} -f\n")) == (0, True)
    told = forge("workflow", "logs", name, "-f")
    assert (told.code, '"said": "because"' in told.out) == (0, True)
    assert f"forge workflow approve {run_id}" not in told.out
    act = forge("workflow", "status", name, "--step", "act", "--json").data
    assert act["status"] == status
    again = forge("workflow", verb, name)
    assert (again.code, again.out) == (6, "")
    watched = forge("runs", "watch", run_id)
    assert watched.err == f"Its steps, as they happen: forge workflow logs -f {run_id}\n"


def test_whoever_waits_is_told_what_the_run_waits_for(forge: Terminal, server: Server, make: Make):
    name = make(ASK, "to-hang")
    with open_screen(server.data_dir, "workflow", "trigger", name, "--wait") as screen:
        screen.wait_for("forge workflow approve ")
        assert forge("workflow", "approve", name, "--step", "ask").code == 0
        assert screen.end() == 0
    assert '"said": ""' in screen.text


def test_a_run_goes_on_when_nobody_follows_it_any_more(forge: Terminal, server: Server, make: Make):
    name = make(ASK, "to-leave")
    with open_screen(server.data_dir, "workflow", "trigger", name, "--follow") as screen:
        screen.wait_for("forge workflow approve ")
        screen.type("\x03")
        assert screen.end() == 130
    assert "The run goes on. Follow it again: forge workflow logs" in screen.text
    assert forge("workflow", "status", name, "--json").data["status"] in ("running", "waiting")


def test_a_failed_run_goes_on_from_where_it_failed(forge: Terminal, server: Server, make: Make):
    name, url = make(NEEDY, "to-mend", secret="TO_MEND"), f"url={server.url}/health"
    said = forge("workflow", "trigger", name, "--input", url, "--wait")
    failed = forge("workflow", "runs", name, "--json").data[0]["id"]
    assert (said.code, said.out, "TO_MEND" in said.err) == (1, "", True)
    assert said.err.endswith(f"Go on from there: forge workflow retry {failed}\n")
    assert forge("workflow", "logs", name).code == 1
    assert forge("secrets", "set", "TO_MEND", stdin="a-secret-value").code == 0
    retried = forge("workflow", "retry", name, "--wait")
    assert (retried.code, json.loads(retried.out)) == (0, {"status": 200})
    page = forge("workflow", "status", name).out
    assert f"retry of    {failed}" in page
    assert "(kept)" in next(line for line in page.splitlines() if line.startswith("first"))
    assert "a-secret-value" not in forge("workflow", "status", name, "--step", "fetch", "--json").out
    assert forge("workflow", "retry", name).code == 6


def test_a_run_is_run_again_with_other_inputs_or_the_newest_version(forge: Terminal, make: Make):
    name = make(ADD, "to-repeat")
    forge("workflow", "trigger", name, "--input", "left=1", "--input", "right=2", "--wait")
    assert json.loads(forge("workflow", "rerun", name, "--wait").out) == {"sum": 3}
    assert json.loads(forge("workflow", "rerun", name, "--input", "left=5", "--wait").out) == {"sum": 7}
    assert json.loads(forge("workflow", "rerun", name, "--payload", '{"left": 3}', "--wait").out) == {
        "sum": 4
    }
    make(ADD.replace("input.left + input.right", "input.left * input.right"), name)
    both = ("--payload", '{"left": 3, "right": 3}', "--wait")
    assert json.loads(forge("workflow", "rerun", name, *both).out) == {"sum": 6}
    assert json.loads(forge("workflow", "rerun", name, *both, "--latest").out) == {"sum": 9}
    assert forge("workflow", "rerun", name, "--input", "middle=5").code == 2


def test_a_dry_run_does_nothing(forge: Terminal, make: Make):
    name = make(ADD, "to-dream")
    dry = ("workflow", "trigger", name, "--input", "left=1", "--dry-run")
    said = forge(*dry, "--sample", 'add={"output": 99}')
    assert (said.code, '"sum": 99' in said.out, said.err) == (0, True, "Nothing was done.\n")
    told = forge(*dry, "--sample", "add={}", "--json")
    assert (told.code, told.data["error"]["code"]) == (1, "expression")
    assert forge("workflow", "runs", name, "--json").data == []


def test_a_run_is_cancelled_once(forge: Terminal, server: Server, make: Make):
    name = make(ASK, "to-stop")
    run_id = ask(forge, server, name)
    assert forge("workflow", "cancel", name).out == f"Cancelled {run_id}.\n"
    assert forge("workflow", "cancel", name).code == 6
    told = forge("workflow", "logs", name, "-f")
    assert (told.code, "● cancelled" in told.out) == (1, True)


def test_a_name_is_its_newest_run_and_what_was_never_run_has_none(forge: Terminal, make: Make):
    name = make(ADD, "to-name")
    said = forge("workflow", "logs", name)
    assert (said.code, f"{name} was not run yet." in said.err) == (5, True)
    ids = [forge("workflow", "trigger", name, "--input", "left=1", "--json").data["run_id"] for _ in range(2)]
    assert forge("workflow", "status", name, "--json").data["id"] == ids[-1]
    assert forge("workflow", "status", ids[0], "--json").data["id"] == ids[0]
    assert forge("workflow", "status", "0").code == 2
    for given in ("none", "?", "01a1dd9e-e17e-75f3-b0a6-6a948f274981"):
        assert forge("workflow", "status", given).code == 5
