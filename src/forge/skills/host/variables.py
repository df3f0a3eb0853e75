"""Which variables of the server a skill may be told: none that Forge itself is set up with, and no key."""

from typing import get_args

from pydantic import SecretStr

from forge.accounts.environment import is_secret_name
from forge.config import Settings, setting_name
from forge.skills.execution import HostError

_SECRETS = frozenset(
    setting_name(name, field)
    for name, field in Settings.model_fields.items()
    if SecretStr in get_args(field.annotation)
)


def check_variable(name: str) -> None:
    """Settings are read however they are spelled, so that counts for nothing here either."""
    folded = name.upper()
    if folded.startswith("FORGE_"):
        raise HostError(f"{name} is how Forge itself is set up, and no skill is told.")
    if folded in _SECRETS or is_secret_name(folded):
        raise HostError(
            f"{name} is a secret: a skill gets it with get_secret, when somebody granted it that."
        )
