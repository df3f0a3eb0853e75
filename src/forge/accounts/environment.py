"""Which variables of the server's environment count as secrets.

Whoever may name a secret names it freely, and the environment holds much that was never meant for that: Forge's own
settings, the database's address, paths. So a variable counts only if its name says that it is a key for somebody else.
"""

import re
from collections.abc import Collection, Mapping

NOT_OURS = re.compile(r"(?!FORGE_)[A-Z][A-Z0-9_]*_(API_KEY|TOKEN|SECRET)")
"""What starts with FORGE_ is how Forge itself is set up, and never a secret of the vault."""


def is_secret_name(name: str, known_names: Collection[str] = ()) -> bool:
    return NOT_OURS.fullmatch(name) is not None or (name in known_names and not name.startswith("FORGE_"))


def secrets_of(environment: Mapping[str, str], known_names: Collection[str]) -> dict[str, str]:
    """Those that count and are not empty."""
    return {name: value for name, value in environment.items() if value and is_secret_name(name, known_names)}
