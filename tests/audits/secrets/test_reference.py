"""The reference lists every kind of secret that can be found."""

from pathlib import Path

from forge.audits.secrets.listing import kinds, kinds_table

REFERENCE = Path(__file__).parents[3] / "docs/reference/secrets.md"


def test_the_reference_ends_with_all_kinds() -> None:
    assert REFERENCE.read_text().endswith(kinds_table())
    assert len(kinds()) == len({rule for rule, _, _ in kinds()})
