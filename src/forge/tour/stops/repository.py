"""A git repository with two planted problems: the audit finds them, they are mended, the audit passes."""

import subprocess
from pathlib import Path

from forge.audits.models import AuditReport, Verdict
from forge.errors import Internal
from forge.runs.models import Run
from forge.tour.visit import Visit
from forge.workspace.gitrunner import find_git

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
MENDED = '''"""Takes payments."""

import os
from urllib.request import Request, urlopen


def pay(cups: int) -> int:
    headers = {"Authorization": os.environ["PAYMENT_KEY"]}
    with urlopen(Request("https://pay.example.com", str(cups).encode(), headers)) as answer:
        return answer.status
'''
KEY = "sk_live_" + "9fQ2xT7bVnL4kWzR8mYcJ3hD"
"""Nobody's; in two pieces, so that an audit of Forge itself does not find it."""


def audit_repository(visit: Visit) -> None:
    shop = _make(visit.folder.projects / "shop")
    payment = shop / "payment.py"
    payment.write_text(PLANTED.format(key=KEY))
    visit.tell.say("A repository with one commit, and a change that is not committed yet: payment.py.")
    report, _ = _audit(visit, shop)
    found = [
        finding for result in report.results for finding in result.findings if finding.path == payment.name
    ]
    rules = {finding.check for finding in found}
    visit.expect(report.overall is Verdict.FAIL, f"The audit says {report.overall.value} of what is planted.")
    visit.expect(rules >= {"A9", "W1"}, f"The audit did not find both planted problems, but {rules}.")
    for finding in found:
        visit.tell.line(finding.check, f"{finding.path}:{finding.line}: {finding.message}")
    visit.tell.done("The audit says FAIL: it found what we planted, a library nobody declared and a key.")
    payment.write_text(MENDED)
    visit.tell.say("We mend both, and audit again.")
    report, run = _audit(visit, shop)
    visit.expect(report.overall is Verdict.PASS, f"The audit says {report.overall.value} of what is mended.")
    passed = sum(result.result is Verdict.PASS for result in report.results)
    visit.tell.done(f"The audit says PASS, after {passed} checks in {report.duration_ms} ms.")
    visit.note("The audit that passes", f"/runs/{run.id}")


def _audit(visit: Visit, project: Path) -> tuple[AuditReport, Run]:
    with visit.tell.waiting("The audit looks"):
        run = visit.client.post("/audit/run", Run, {"path": str(project)})
        for _ in visit.follow(run.id):
            pass
        return visit.client.get("/audit/run", AuditReport, {"run_id": run.id}), run


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
