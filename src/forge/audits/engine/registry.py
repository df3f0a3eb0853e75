"""Load the checks: Forge's own twelve, and those that a team installed.

A team's check is a `CHECK` object in a package that names it under the entry point group `forge.checks`. The package is
installed into Forge's environment; an audited project cannot add checks. Checks are loaded by name, so that this module
stays below them.
"""

import importlib
from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points

from forge.audits.check import Check, error_examination
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
    """Load all checks, Forge's own first. A check that cannot be loaded becomes a blocking ERROR."""
    found = [importlib.import_module(f"forge.audits.checks.{name}").CHECK for name in _OWN]
    for point in sorted(entry_points(group=GROUP) if points is None else points, key=lambda p: p.name):
        check = _load(point)
        taken = {one.code for one in found}
        found.append(_unusable(point, f"its code {check.code} is taken") if check.code in taken else check)
    return found


def split_codes(text: str | None) -> list[str]:
    """Split `A4,A9`. None gives no codes; an empty list gives an invalid code, so that it is rejected."""
    if text is None:
        return []
    return [code for code in text.split(",") if code.strip()] or [""]


def select_checks(checks: Sequence[Check], only: Iterable[str]) -> list[Check]:
    """Return the checks with these codes in their usual order, or all checks if no code is given."""
    named = list(only)
    codes = {code.strip().upper() for code in named if code.strip()}
    if named and not codes:
        raise Invalid("No check is given.", hint="Give one or more codes, such as A4,A9.")
    unknown = codes - {check.code for check in checks}
    if unknown:
        known = ", ".join(check.code for check in checks)
        raise Invalid(f"There is no check {', '.join(sorted(unknown))}.", hint=f"Available checks: {known}.")
    return [check for check in checks if not codes or check.code in codes]


def _load(point: EntryPoint) -> Check:
    try:
        check = point.load()
    except Exception as error:  # noqa: BLE001 - importing a package can raise anything
        return _unusable(point, f"{type(error).__name__}: {error}")
    return check if isinstance(check, Check) else _unusable(point, f"{point.value} is not a Check")


def _unusable(point: EntryPoint, reason: str) -> Check:
    message = f"The check {point.name} ({point.value}) cannot be used: {reason[:300]}"
    examination = error_examination(
        "unusable-check", message, "Fix or uninstall the package that provides it."
    )
    name = point.name.upper()
    why = "An installed check is missing from the audit."
    return Check(
        code=name, name="Unusable check", why=why, docs=why, examine=lambda _: examination, fixtures=()
    )
