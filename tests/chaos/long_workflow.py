"""A workflow with more than thirty steps of all types, and a report of the effects of its runs."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
from tests.audits.git_project import make_project
from tests.chaos.post_counter import Post, PostCounter
from tests.support.models import ModelServer
from tests.support.server import Server, wait_until
from tests.workflows.workflow_client import Steps, code, step

REF = "scripted:scripted"
NAME = "long"
CHILD = "errand"
FREQUENT_RETRY = {"max_attempts": 10, "delay_secs": 0.05, "factor": 1}
"""Retries for steps that several kills may interrupt."""
SKILL = {
    "SKILL.md": "---\nname: twice\ndescription: Doubles.\nmetadata:\n  forge-kind: script\n---\nGive it n.\n",
    "skill.js": "function run(input) { return { n: input.n * 2 }; }\n",
}
SCRIPT: dict[str, Any] = {
    "scenes": {
        "title": {"match": {"system": "Give the conversation"}, "turns": [{"text": "Tea"}]},
        "tea": {"match": {"latest": "Which tea"}, "turns": [{"text": "Green tea."}]},
        "reply": {"match": {"latest": "Tell"}, "turns": [{"text": "Noted."}]},
    },
    "delay_s": 0.1,
    "piece_chars": 3,
}
VOLATILE = frozenset(
    {
        "at",
        "conversation_id",
        "counts",
        "findings",
        "headers",
        "message_id",
        "reply_id",
        "run_id",
        "session_id",
        "usage",
        "waited_secs",
    }
)
"""Fields that differ between runs; the first audit of a project also finds no ledger."""


def post(step_id: str, after: str | list[str] | None, url: str, path: str = "/count", **options: Any) -> Any:
    """Return a step that posts its run and its path in the workflow."""
    step_path = options.pop("place", step_id)
    body = {"run": "{{ workflow.run_id }}", "step": step_path}
    return step(step_id, "http", after, method="POST", url=url + path, body=body, **options)


def long_steps(url: str) -> Steps:
    """Return the steps in execution order; parallel steps share a line."""
    parallel_ids = ["wide1", "wide2", "wide3", "wide4"]
    return [
        code("begin", "return { n: 3, items: [1, 2, 3] };"),
        post("count", "begin", url),
        post("flaky", "count", url, "/flaky", retry={**FREQUENT_RETRY, "delay_secs": 0.2, "factor": 2, "max_delay_secs": 0.4}),
        *(post(each, "flaky", url) for each in parallel_ids),
        code("sum", "return input.all.length;", parallel_ids, input={"all": [f"{{{{ steps.{entry}.output.body.got }}}}" for entry in parallel_ids]}),
        step("choose", "conditional", "sum", condition="steps.sum.output.output == 4", then_steps=["yes"], else_steps=["no"]),
        post("yes", None, url), post("no", None, url),
        step("each", "loop", ["yes", "no"], items="{{ steps.begin.output.output.items }}", parallel=2, body_steps=["fetch", "double"]),
        post("fetch", None, url, place="each[{{ loop.index }}]/fetch"),
        step("double", "skill", "fetch", skill="twice", input={"n": "{{ loop.item }}"}),
        step("again", "loop", "each", condition="loop.index < 2", max_iterations=5, body_steps=["tick"]),
        post("tick", None, url, place="again[{{ loop.index }}]/tick"),
        step("ask", "agent", "again", bot="ada", prompt="Which tea for {{ workflow.run_id }}?", retry=FREQUENT_RETRY),
        step("tell", "message", "ask", to="ada", body="Tell {{ workflow.run_id }}: {{ steps.ask.output.response }}", wait=True, retry=FREQUENT_RETRY),
        step("errand", "sub_workflow", "tell", workflow_name=CHILD, input={"n": "{{ steps.begin.output.output.n }}"}),
        step("rest", "wait", "errand", seconds=0.3),
        step("look", "audit", "errand", workspace="basket", fail_on=[]),
        step("approve", "approval", ["rest", "look"], prompt="Go on?"),
        code("risky", "throw new Error('no');", "approve", on_error={"goto": "rescue"}),
        post("rescue", None, url),
        code("broken", "throw new Error('never');", "rescue", on_error="continue"),
        *(post(f"line{i}", f"line{i - 1}" if i > 1 else "broken", url) for i in range(1, 6)),
        post("last", None, url),
    ]  # fmt: skip


OUTPUTS = {
    "sum": "{{ steps.sum.output.output }}",
    "doubled": "{{ steps.each.output.results.map(one, one.double.output.n) }}",
    "ticks": "{{ steps.again.output.iterations }}",
    "tea": "{{ steps.ask.output.response }}",
    "reply": "{{ steps.tell.output.reply }}",
    "errand": "{{ steps.errand.output.output }}",
    "verdict": "{{ steps.look.output.verdict }}",
    "approved": "{{ steps.approve.output.approved }}",
    "broken": "{{ steps.broken.error.code }}",
    "end": "{{ steps.line5.output.body.got }}",
}


def child_steps(url: str) -> Steps:
    return [
        post("there", None, url),
        post("back", "there", url),
        code("report", "return input.n + 1;", "back", input={"n": "{{ trigger.n }}"}),
    ]


def prepare(server: Server, models: ModelServer, counter: PostCounter, project: Path) -> None:
    """Create a bot, a skill, a workspace and both workflows."""
    server.call("PUT", "/api/v1/models/providers/scripted", {"kind": "anthropic", "base_url": models.url})
    server.call("PUT", f"/api/v1/models/prices?model={REF}", {"input": 3, "output": 15})
    for role in ("bot", "utility"):
        server.call("PUT", f"/api/v1/models/roles/{role}", {"chain": [REF]})
    server.call("POST", "/api/v1/bots", {"name": "Ada"})
    server.call("POST", "/api/v1/skills", {"name": "twice", "files": SKILL})
    server.call("POST", "/api/v1/workspaces", {"name": "basket", "path": str(make_project(project))})
    child = {"name": CHILD, "steps": child_steps(counter.url)}
    server.call("POST", "/api/v1/workflows", {"definition": child})
    long = {"name": NAME, "steps": long_steps(counter.url), "outputs": OUTPUTS, "finally": ["last"]}
    server.call("POST", "/api/v1/workflows", {"definition": long})


def start(server: Server) -> str:
    return server.call("POST", f"/api/v1/workflows/{NAME}/trigger", {})["run_id"]


def approve_all(server: Server) -> None:
    """Approve all open gates; ignore a server that is killed meanwhile."""
    try:
        with server.client() as client:
            response = client.get("/api/v1/gates", params={"status": "open", "limit": 200})
            for gate in response.raise_for_status().json()["data"]:
                body = {"option": "approve", "shown_hash": gate["shown_hash"]}
                client.post(f"/api/v1/gates/{gate['id']}/answer", json=body)
    except (httpx2.HTTPError, FileNotFoundError):
        pass


def settle(server: Server, run_ids: list[str], *, timeout_s: float = 300) -> None:
    unfinished = list(run_ids)

    def all_ended() -> bool:
        approve_all(server)
        unfinished[:] = [
            entry
            for entry in unfinished
            if server.call("GET", f"/api/v1/runs/{entry}")["run"]["finished_at"] is None
        ]
        return not unfinished

    wait_until(all_ended, timeout_s=timeout_s, what="the end of all runs")


@dataclass
class RunReport:
    """The results, events and effects of one run."""

    status: str
    output: Any
    steps: dict[str, tuple[str, Any]]
    """Status and output by step key without volatile fields, including the child workflow's steps."""
    settled: dict[str, list[datetime]] = field(default_factory=dict[str, list[datetime]])
    """When each step was reported as settled; more than one time is an error."""
    events: list[Any] = field(default_factory=list[Any])
    gaps: list[str] = field(default_factory=list[str])
    attempts: dict[str, int] = field(default_factory=dict[str, int])
    children: Counter[str] = field(default_factory=Counter[str])
    """The number of child runs by kind."""
    posts: dict[str, list[Post]] = field(default_factory=dict[str, list[Post]])

    @property
    def reported_twice(self) -> list[str]:
        return [key for key, times in self.settled.items() if len(times) > 1]

    @property
    def posted_after_completion(self) -> list[str]:
        """Steps whose effect was repeated after they had finished, which must never happen."""
        return [key for key, posts in self.posts.items() if posts[-1].at > self.settled[key][0]]

    @property
    def posted_with_two_keys(self) -> list[str]:
        return [key for key, posts in self.posts.items() if len({entry.key for entry in posts}) > 1]

    @property
    def stored(self) -> tuple[Any, ...]:
        """Everything stored in the database."""
        return self.status, self.output, self.steps, self.events, self.children


def without_volatile(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_volatile(entry) for key, entry in value.items() if key not in VOLATILE}
    return [without_volatile(entry) for entry in value] if isinstance(value, list) else value


def collect_report(server: Server, counter: PostCounter, run_id: str) -> RunReport:
    run = server.call("GET", f"/api/v1/workflow-runs/{run_id}")
    report = RunReport(run["status"], run["output"], {})
    _add(report, server, counter, run_id, "")
    for child_id in run["children"]:
        child = server.call("GET", f"/api/v1/runs/{child_id}")["run"]
        report.children[child["kind"]] += 1
        if child["kind"] == "workflow":
            _add(report, server, counter, child_id, "errand/")
    return report


def _add(report: RunReport, server: Server, counter: PostCounter, run_id: str, prefix: str) -> None:
    for entry in server.pages(f"/api/v1/workflow-runs/{run_id}/steps"):
        key = prefix + entry["key"]
        report.steps[key] = (entry["status"], without_volatile(entry["output"]))
        report.attempts[key] = entry["attempt"]
    events = server.call("GET", f"/api/v1/events?stream=run:{run_id}&limit=10000")
    if [event["seq"] for event in events] != list(range(1, len(events) + 1)):
        report.gaps.append(run_id)
    report.events += events
    for event in events:
        if event["type"] == "workflow.step" and event["data"]["step"]["status"] in (
            "completed",
            "failed",
            "skipped",
        ):
            key = prefix + event["data"]["step"]["key"]
            report.settled.setdefault(key, []).append(datetime.fromisoformat(event["at"]))
    report.posts |= {prefix + key: posts for key, posts in counter.posts_of(run_id).items()}
