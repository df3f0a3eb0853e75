"""The kinds of secrets that are known by their shape, place or owner."""

from forge.audits.secrets.models import Rule
from forge.audits.secrets.rules import ai, clouds, code, commerce, messaging, structures
from forge.audits.secrets.rules.vendors import VENDORS

RULES: tuple[Rule, ...] = (
    *code.RULES,
    *clouds.RULES,
    *ai.RULES,
    *messaging.RULES,
    *commerce.RULES,
    *structures.RULES,
)

__all__ = ["RULES", "VENDORS"]
