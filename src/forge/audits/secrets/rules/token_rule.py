"""Build rules from token shapes."""

from forge.audits.secrets.models import Rule
from forge.audits.secrets.shapes import lead_of, pattern_of, starts_of

BEFORE = r"(?:^|[^0-9A-Za-z]|\\[nrt]|%[0-9A-F]{2})"
AFTER = r"(?:[^0-9A-Za-z]|$)"


def token(
    id: str,
    kind: str,
    *shapes: str,
    starts: tuple[str, ...] = (),
    samples: tuple[str, ...] = (),
    floor: float = 2.5,
    harmless: tuple[str, ...] = (),
) -> Rule:
    """Build a rule. Set `starts` if the shape has no fixed start, and `samples` if it needs context."""
    return Rule(
        id=id,
        kind=kind,
        pattern=f"{BEFORE}({'|'.join(pattern_of(shape) for shape in shapes)}){AFTER}",
        starts=starts or tuple(start for shape in shapes for start in starts_of(shape)),
        lead="" if starts else "|".join(lead_of(shape) for shape in shapes),
        is_bounded=not starts,
        samples=samples or shapes,
        floor=floor,
        harmless=harmless,
    )
