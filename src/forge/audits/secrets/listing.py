"""The kinds of secrets as a table for the reference, so that it can be complete."""

from forge.audits.secrets.judging import GENERIC
from forge.audits.secrets.kubernetes import KUBERNETES
from forge.audits.secrets.models import Rank
from forge.audits.secrets.privatekeys import PRIVATE_KEY
from forge.audits.secrets.rules import RULES, VENDORS


def kinds() -> list[tuple[str, str, Rank]]:
    """Rule, kind and rank of everything that can be found, by rank and name."""
    known = [
        *((rule.id, rule.kind, rule.rank) for rule in RULES),
        *((vendor.id, vendor.kind, Rank.VENDOR) for vendor in VENDORS),
        (PRIVATE_KEY, "private key", Rank.TOKEN),
        (KUBERNETES, "value of a Kubernetes secret", Rank.STRUCTURE),
        (GENERIC, "password, key or token", Rank.GENERIC),
    ]
    return sorted(known, key=lambda one: (-one[2], one[0]))


def kinds_table() -> str:
    """In Markdown."""
    rows = [f"| `{rule}` | {kind} | {rank.name.lower()} |" for rule, kind, rank in kinds()]
    return "\n".join(["| rule | kind | rank |", "|---|---|---|", *rows, ""])
