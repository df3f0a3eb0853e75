"""Audit a git repository with two planted problems, fix them, and audit it again."""

import subprocess
from pathlib import Path

from forge.audits.models import AuditReport, Verdict
from forge.errors import Internal
from forge.runs.models import Run
from forge.tour.demo_context import DemoContext
from forge.workspace.git.git_runner import find_git

SHOP = {
    "README.md": "# Shop\n\nSells lemonade.\n",
    "shop.py": '"""Sells lemonade."""\n\n\ndef price(cups: int) -> int:\n    return cups * 3\n',
    "test_shop.py": (
        "import unittest\n\nfrom shop import price\n\n\nclass PriceTest(unittest.TestCase):\n"
        "    def test_two_cups(self) -> None:\n        self.assertEqual(price(2), 6)\n"
    ),
}
PLANTED = '''"""Takes payments."""

import requests

PAYMENT_KEY = "{key}"


def pay(cups: int) -> int:
    return requests.post("https://pay.example.com", json={{"cups": cups}}, auth=(PAYMENT_KEY, "")).status_code
'''
FIXED = '''"""Takes payments."""

import os
from urllib.request import Request, urlopen


def pay(cups: int) -> int:
    headers = {"Authorization": os.environ["PAYMENT_KEY"]}
    with urlopen(Request("https://pay.example.com", str(cups).encode(), headers)) as answer:
        return answer.status
'''
KEY = "sk_live_" + "9fQ2xT7bVnL4kWzR8mYcJ3hD"
"""A fake key, in two pieces so that an audit of Forge itself does not find it."""


def audit_repository(context: DemoContext) -> None:
    shop = _make(context.folder.projects / "shop")
    payment = shop / "payment.py"
    payment.write_text(PLANTED.format(key=KEY))
    context.narrator.say("A repository with one commit and an uncommitted file, payment.py.")
    report, _ = _audit(context, shop)
    found = [
        finding for result in report.results for finding in result.findings if finding.path == payment.name
    ]
    rules = {finding.check for finding in found}
    context.expect(
        report.overall is Verdict.FAIL, f"The audit of the planted problems says {report.overall.value}."
    )
    context.expect(rules >= {"A9", "W1"}, f"The audit did not find both planted problems, but {rules}.")
    for finding in found:
        context.narrator.line(finding.check, f"{finding.path}:{finding.line}: {finding.message}")
    context.narrator.done(
        "The audit says FAIL: it found both planted problems, an undeclared library and a key."
    )
    payment.write_text(FIXED)
    context.narrator.say("Fixing both, then auditing again.")
    report, run = _audit(context, shop)
    context.expect(
        report.overall is Verdict.PASS, f"The audit of the fixed repository says {report.overall.value}."
    )
    passed = sum(result.result is Verdict.PASS for result in report.results)
    context.narrator.done(f"The audit says PASS: {passed} checks in {report.duration_ms} ms.")
    context.add_link("The passing audit", f"/runs/{run.id}")


def _audit(context: DemoContext, project: Path) -> tuple[AuditReport, Run]:
    with context.narrator.waiting("Auditing"):
        run = context.client.post("/audit/run", Run, {"path": str(project)})
        for _ in context.follow(run.id):
            pass
        return context.client.get("/audit/run", AuditReport, {"run_id": run.id}), run


def _make(path: Path) -> Path:
    path.mkdir()
    for name, text in SHOP.items():
        (path / name).write_text(text)
    _git(path, "init", "--quiet", "--initial-branch=main")
    _git(path, "add", "--all")
    _git(path, "commit", "--quiet", "--message", "Sell lemonade")
    return path


def _git(path: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Forge demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false")
    done = subprocess.run(  # noqa: S603  # git itself, with fixed arguments
        [find_git(), "-C", str(path), *who, *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Internal(f"git {arguments[0]} failed: {done.stderr.strip()}")
