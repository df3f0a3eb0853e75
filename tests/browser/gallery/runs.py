"""Scenes of runs, workspaces and audits."""

from pathlib import Path

from playwright.sync_api import Page
from tests.audits.git_project import make_project, spoil
from tests.browser.gallery.bulk_events import LINES, append_run_events
from tests.browser.gallery.sample_texts import LONG, UNBROKEN
from tests.browser.gallery.scene import Area, GalleryServer, Scene
from tests.support.agents import finish
from tests.support.server import wait_until

from forge.runs.models import RunProgressed

RUNS = "/api/v1/runs"
BASKET = "def total(lines):\n    return sum(price for price, quantity in lines)\n"
FIXED = BASKET.replace("sum(price for", "sum(price * quantity for")
PLAN = f"""\
`total` adds **prices** but ignores quantities. {LONG}.

```python
sum(price for price, quantity in lines)
```

| file | code | count |
|---|---|---:|
| basket.py | `{UNBROKEN[:60]}` | 1 |

- [x] read
- [ ] fixed
"""
SCRIPT = {
    "fixing": {
        "match": {"opening": "Make the tests pass"},
        "turns": [
            {
                "thinking": "The tests define the behavior. I read them before I change anything.",
                "text": "I read the code first.",
                "tools": [{"read_file": {"path": "basket.py"}}, {"read_file": {"path": "nothing.py"}}],
            },
            {"text": PLAN, "tools": [{"write_file": {"path": "basket.py", "content": FIXED}}]},
            {"tools": [finish("Done: `total` now multiplies by the quantity.")]},
        ],
    },
    "claiming": {
        "match": {"opening": "Say that it is done"},
        "turns": [{"text": "I ran all tests, and they pass."}],
    },
}


def create_data(gallery: GalleryServer) -> None:
    ids = gallery.ids
    ids["steps"] = _self_test(gallery, child=True, width=8)
    ids["log"] = _self_test(gallery)
    gallery.wait_for_end(ids["log"])
    events = [RunProgressed(done=n, total=LINES, note=f"line {n} of the log") for n in range(LINES)]
    append_run_events(gallery, ids["log"], events)
    cancelled = _self_test(gallery, ask=True)
    gallery.call("POST", f"{RUNS}/{cancelled}/cancel")
    ids["gate"] = _self_test(gallery, ask=True, child=True)
    path = f"{RUNS}/{ids['gate']}"
    wait_until(lambda: gallery.call("GET", path)["gates"], what="the gate")
    _create_workspaces(gallery)
    _create_audit(gallery)


def _self_test(gallery: GalleryServer, **options: object) -> str:
    return gallery.call("POST", RUNS, {"kind": "self_test", "input": options})["id"]


def _create_workspaces(gallery: GalleryServer) -> None:
    for name in (LONG, "a-" * 32):
        gallery.call("POST", "/api/v1/workspaces", {"name": name[:64]})
    workspace = gallery.call("POST", "/api/v1/workspaces", {"name": "basket"})
    files = Path(workspace["path"])
    (files / "basket.py").write_text(BASKET)
    (files / "deep" / "er" / "still").mkdir(parents=True)
    (files / "deep" / "er" / "still" / f"{UNBROKEN[:90]}.md").write_text("# Deep\n")
    for number in range(200):
        (files / f"note-{number:03}.txt").write_text("total\n")
    gallery.ids["workspace"] = workspace["id"]
    task = {"workspace_id": workspace["id"], "task": "Make the tests pass, without changing them."}
    gallery.ids["agent"] = gallery.call("POST", "/api/v1/agents", task)["id"]
    gallery.wait_for_end(gallery.ids["agent"])
    task = {"workspace_id": workspace["id"], "task": "Say that it is done."}
    gallery.ids["unfinished-agent"] = gallery.call("POST", "/api/v1/agents", task)["id"]
    gallery.wait_for_end(gallery.ids["unfinished-agent"])


def _create_audit(gallery: GalleryServer) -> None:
    root = make_project(gallery.projects / "basket")
    spoil(root)
    options = {
        "ledger": False,
        "path": str(root),
        "phase": "Phase 3",
        "claimed_files": ["app/routers/items.py"],
    }
    gallery.ids["audit"] = gallery.call("POST", "/audit/run", options)["id"]
    gallery.wait_for_end(gallery.ids["audit"])


def _expand(page: Page) -> None:
    for name in ("Thought", "read_file", "write_file"):
        page.get_by_role("button", name=name).first.click()


def _open_cancel_dialog(page: Page) -> None:
    page.get_by_role("button", name="Cancel").first.click()
    page.get_by_role("dialog").wait_for()


def _start_agent(page: Page) -> None:
    page.get_by_role("button", name="Start an agent here").click()
    page.get_by_role("dialog").wait_for()


RUN = "/runs/$runId"
WORKSPACE = "/workspaces/$workspaceId"

AREA = Area(
    scenes=(
        Scene("runs", "/runs", "/runs", "Self-test"),
        Scene("missing-run", RUN, "/runs/00000000-0000-0000-0000-000000000000", "All runs", loads_data=False),
        Scene("run", RUN, "/runs/{steps}", "Child runs"),
        Scene("run-gate", RUN, "/runs/{gate}", "Can you see this question?"),
        Scene("run-cancel", RUN, "/runs/{gate}", "Can you see this question?", _open_cancel_dialog),
        Scene("run-log", RUN, "/runs/{log}", f"line {LINES - 1}"),
        Scene("agent", RUN, "/runs/{agent}", "now multiplies by the quantity"),
        Scene("agent-unfinished", RUN, "/runs/{unfinished-agent}", "You have not run anything yet"),
        Scene("agent-expanded", RUN, "/runs/{agent}", "now multiplies by the quantity", _expand),
        Scene("audit", RUN, "/runs/{audit}", "Boundary compliance"),
        Scene("workspaces", "/workspaces", "/workspaces", "basket"),
        Scene("new-workspace", "/workspaces", "/workspaces?new=true", "Create", loads_data=False),
        Scene("workspace", WORKSPACE, "/workspaces/{workspace}", "basket.py"),
        Scene("file", WORKSPACE, "/workspaces/{workspace}?file=basket.py&q=total", "def total"),
        Scene("new-agent", WORKSPACE, "/workspaces/{workspace}", "basket.py", _start_agent),
        Scene("audits", "/audits", "/audits", "basket"),
        Scene("new-audit", "/audits", "/audits?new=true", "Folder"),
    ),
    create_data=create_data,
    script=SCRIPT,
)
