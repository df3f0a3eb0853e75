"""All rules for secrets known by format, place or vendor."""

from forge.audits.secrets.models import Rule
from forge.audits.secrets.rules import ai, clouds, commerce, developer_tools, messaging, structures

RULES: tuple[Rule, ...] = (
    *developer_tools.RULES,
    *clouds.RULES,
    *ai.RULES,
    *messaging.RULES,
    *commerce.RULES,
    *structures.RULES,
)
