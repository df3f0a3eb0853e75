"""Numbers with what they count, as people say it."""

from collections.abc import Sequence


def counted(count: int, unit: str) -> str:
    """`1 file`, `2,000 files`: a unit is given in the plural."""
    if count != 1:
        return f"{count:,} {unit}"
    return f"1 {unit.removesuffix('ies')}y" if unit.endswith("ies") else f"1 {unit.removesuffix('s')}"


def first_of(names: Sequence[str], most: int) -> str:
    """`a, b and 3 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
