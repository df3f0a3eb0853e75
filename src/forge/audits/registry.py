"""Which checks there are: Forge's own twelve, and those a team has installed beside it.

A team's check is a module with a `CHECK` in a package that names it under the entry point group `forge.checks`. It is
installed into Forge's own environment by whoever runs Forge; an audited project can bring none along.
"""

import importlib
from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points

from forge.audits.check import Check, unexamined
from forge.errors import Invalid

GROUP = "forge.checks"
_OWN = (
    "a1_scope",
    "a2_minimal_diff",
    "a3_evidence",
    "a4_boundaries",
    "a5_diff_log",
    "a6_authorization",
    "a7_order",
    "a8_tests",
    "a9_dependencies",
    "w1_secrets",
    "w2_ledger",
    "w3_routes",
)


def load_checks(points: Iterable[EntryPoint] | None = None) -> list[Check]:
    """All of them, Forge's own first. One that cannot be loaded is a check that says so, and blocks."""
    found = [importlib.import_module(f"forge.audits.checks.{name}").CHECK for name in _OWN]
    for point in sorted(entry_points(group=GROUP) if points is None else points, key=lambda p: p.name):
        check = _load(point)
        taken = {one.code for one in found}
        found.append(_unusable(point, f"its code {check.code} is taken") if check.code in taken else check)
    return found


def split_codes(text: str | None) -> list[str]:
    """`A4,A9`; none when nobody asked for some, and something that is no check when none is named."""
    if text is None:
        return []
    return [code for code in text.split(",") if code.strip()] or [""]


def choose(checks: Sequence[Check], only: Iterable[str]) -> list[Check]:
    """Those with these codes, in the usual order; all of them when none is named."""
    named = list(only)
    codes = {code.strip().upper() for code in named if code.strip()}
    if named and not codes:
        raise Invalid("No check is named.", hint="Name some: A4,A9")
    unknown = codes - {check.code for check in checks}
    if unknown:
        known = ", ".join(check.code for check in checks)
        raise Invalid(f"There is no check {', '.join(sorted(unknown))}.", hint=f"There are: {known}.")
    return [check for check in checks if not codes or check.code in codes]


def _load(point: EntryPoint) -> Check:
    try:
        check = point.load()
    except Exception as error:  # noqa: BLE001 - whatever a package does when it is imported
        return _unusable(point, f"{type(error).__name__}: {error}")
    return check if isinstance(check, Check) else _unusable(point, f"{point.value} is no Check")


def _unusable(point: EntryPoint, reason: str) -> Check:
    message = f"The check {point.name} ({point.value}) cannot be used: {reason[:300]}"
    told = unexamined("unusable-check", message, "Repair or uninstall the package that brings it.")
    name = point.name.upper()
    why = "A check somebody relies on is missing."
    return Check(code=name, name="Unusable check", why=why, docs=why, examine=lambda _: told, fixtures=())
