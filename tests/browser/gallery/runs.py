"""Runs of all kinds, the workspaces agents work in, and audits."""

from pathlib import Path

from playwright.sync_api import Page
from tests.audits.git_project import make_project, spoil
from tests.browser.gallery.scene import Area, House, Scene
from tests.browser.gallery.telling import LINES, tell_of_run
from tests.browser.gallery.words import LONG, UNBROKEN
from tests.support.server import wait_until

from forge.runs.models import RunProgressed

RUNS = "/api/v1/runs"
BASKET = "def total(lines):\n    return sum(price for price, quantity in lines)\n"
MENDED = BASKET.replace("sum(price for", "sum(price * quantity for")
PLAN = f"""\
`total` adds **prices** and forgets how many there are. {LONG}.

```python
sum(price for price, quantity in lines)
```

| place | what | how much |
|---|---|---:|
| basket.py | `{UNBROKEN[:60]}` | 1 |

- [x] read
- [ ] mended
"""
SCRIPT = {
    "mending": {
        "match": {"opening": "Make the tests pass"},
        "turns": [
            {
                "thinking": "The tests say what is wanted. I read them before I change anything.",
                "text": "I read the code first.",
                "tools": [{"read_file": {"path": "basket.py"}}, {"read_file": {"path": "nothing.py"}}],
            },
            {"text": PLAN, "tools": [{"write_file": {"path": "basket.py", "content": MENDED}}]},
            {"text": "Done: `total` multiplies by the quantity now."},
        ],
    },
}


def furnish(house: House) -> None:
    made = house.made
    made["steps"] = _self_test(house, child=True, width=8)
    made["log"] = _self_test(house)
    house.wait_for_end(made["log"])
    facts = [RunProgressed(done=n, total=LINES, note=f"line {n} of what it did") for n in range(LINES)]
    tell_of_run(house, made["log"], facts)
    cancelled = _self_test(house, ask=True)
    house.call("POST", f"{RUNS}/{cancelled}/cancel")
    made["gate"] = _self_test(house, ask=True, child=True)
    path = f"{RUNS}/{made['gate']}"
    wait_until(lambda: house.call("GET", path)["gates"], what="the question")
    _furnish_workspaces(house)
    _furnish_audits(house)


def _self_test(house: House, **given: object) -> str:
    return house.call("POST", RUNS, {"kind": "self_test", "input": given})["id"]


def _furnish_workspaces(house: House) -> None:
    for name in (LONG, "a-" * 32):
        house.call("POST", "/api/v1/workspaces", {"name": name[:64]})
    workspace = house.call("POST", "/api/v1/workspaces", {"name": "basket"})
    files = Path(workspace["path"])
    (files / "basket.py").write_text(BASKET)
    (files / "deep" / "er" / "still").mkdir(parents=True)
    (files / "deep" / "er" / "still" / f"{UNBROKEN[:90]}.md").write_text("# Deep\n")
    for number in range(200):
        (files / f"note-{number:03}.txt").write_text("total\n")
    house.made["workspace"] = workspace["id"]
    task = {"workspace_id": workspace["id"], "task": "Make the tests pass, without changing them."}
    house.made["agent"] = house.call("POST", "/api/v1/agents", task)["id"]
    house.wait_for_end(house.made["agent"])


def _furnish_audits(house: House) -> None:
    root = make_project(house.projects / "basket")
    spoil(root)
    given = {
        "ledger": False,
        "path": str(root),
        "phase": "Phase 3",
        "claimed_files": ["app/routers/items.py"],
    }
    house.made["audit"] = house.call("POST", "/audit/run", given)["id"]
    house.wait_for_end(house.made["audit"])


def _unfold(page: Page) -> None:
    for name in ("Thought", "read_file", "write_file"):
        page.get_by_role("button", name=name).first.click()


def _ask_to_cancel(page: Page) -> None:
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
        Scene("no-run", RUN, "/runs/00000000-0000-0000-0000-000000000000", "All runs", asks=False),
        Scene("run", RUN, "/runs/{steps}", "Child runs"),
        Scene("run-gate", RUN, "/runs/{gate}", "Does this reach you?"),
        Scene("run-cancel", RUN, "/runs/{gate}", "Does this reach you?", _ask_to_cancel),
        Scene("run-log", RUN, "/runs/{log}", f"line {LINES - 1}"),
        Scene("agent", RUN, "/runs/{agent}", "multiplies by the quantity"),
        Scene("agent-unfolded", RUN, "/runs/{agent}", "multiplies by the quantity", _unfold),
        Scene("audit", RUN, "/runs/{audit}", "Boundary compliance"),
        Scene("workspaces", "/workspaces", "/workspaces", "basket"),
        Scene("new-workspace", "/workspaces", "/workspaces?new=true", "Create", asks=False),
        Scene("workspace", WORKSPACE, "/workspaces/{workspace}", "basket.py"),
        Scene("file", WORKSPACE, "/workspaces/{workspace}?file=basket.py&q=total", "def total"),
        Scene("new-agent", WORKSPACE, "/workspaces/{workspace}", "basket.py", _start_agent),
        Scene("audits", "/audits", "/audits", "basket"),
        Scene("new-audit", "/audits", "/audits?new=true", "Folder"),
    ),
    furnish=furnish,
    script=SCRIPT,
)
