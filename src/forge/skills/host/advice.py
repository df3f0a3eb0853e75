"""What somebody types to grant a skill more, in the words of whatever it reached for."""

import shlex
from collections.abc import Sequence

from forge.skills.models import Capability

MAX_ENTRY_CHARS = 300


def how_to_grant(skill: str, capability: Capability, covering: Sequence[str]) -> str:
    """A line for a shell. What a skill asked for is its own text, so nothing in it gets out of its quotes."""
    entries = [entry for entry in covering if entry and entry.isprintable() and len(entry) <= MAX_ENTRY_CHARS]
    wish = f"{capability.value}={','.join(entries)}" if entries else capability.value
    return f"forge skill grant {skill} {shlex.quote(wish)}"
