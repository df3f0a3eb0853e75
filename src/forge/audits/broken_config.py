"""What every check says that needs forge.json when nobody can read it: the same, and never PASS."""

from forge.audits.check import Examination, Found
from forge.audits.models import Severity
from forge.audits.project import CONFIG
from forge.audits.snapshot import Snapshot


def broken_config(snapshot: Snapshot, unit: str = "files") -> Examination | None:
    """None when it is fine, or not there."""
    problem = snapshot.project.problem
    if problem is None:
        return None
    fix = f"Repair {CONFIG}: docs/reference/forge-json.md has every key of it."
    found = Found("bad-config", Severity.ERROR, f"{problem}.", fix, CONFIG, 1, subject="config")
    return Examination((found,), 0, unit)
