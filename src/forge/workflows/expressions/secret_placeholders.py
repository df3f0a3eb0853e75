"""Placeholders for secrets: templates are filled in with them, and only the executor of a step inserts the secret.

A placeholder cannot be guessed, so no text from a webhook, model or server is ever mistaken for one.
"""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from secrets import token_hex

from pydantic import JsonValue

from forge.errors import NotFound
from forge.skills.host.secret_mask import SecretMask
from forge.workflows.expressions.parser import format_path


class SecretPlaceholders:
    """The secret placeholders of one step."""

    def __init__(self) -> None:
        self._names: list[str] = []

    @cached_property
    def _nonce(self) -> str:
        return token_hex(16)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"\[secret {self._nonce} ([0-9]+)\]")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the secrets in use."""
        return tuple(self._names)

    def placeholder_for(self, name: str) -> str:
        if name not in self._names:
            self._names.append(name)
        return f"[secret {self._nonce} {self._names.index(name)}]"

    def shown(self, value: JsonValue) -> JsonValue:
        """Replace placeholders by the names of the secrets."""
        return map_texts(value, lambda text: self._put(text, _placeholder)) if self._names else value

    def reveal(self, value: JsonValue, found: Mapping[str, str]) -> JsonValue:
        """Replace placeholders by the secrets. The result must never be stored or logged."""

        def secret(name: str) -> str:
            if name not in found:
                raise NotFound(f"There is no secret {name}.", hint=f"Save it: forge secrets set {name}")
            return found[name]

        return map_texts(value, lambda text: self._put(text, secret))

    def hide(self, value: JsonValue, found: Mapping[str, str]) -> JsonValue:
        """Remove the secrets from a value, for outputs and errors."""
        hidden = SecretMask()
        for secret in found.values():
            hidden.add(secret)
        return map_texts(value, hidden)

    def _put(self, text: str, put: Callable[[str], str]) -> str:
        return self._pattern.sub(lambda found: put(self._names[int(found[1])]), text)


def _placeholder(name: str) -> str:
    return f"{{{{ {format_path(('secrets', name))} }}}}"


def map_texts(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """Apply a function to all strings of a value, keys included."""
    match value:
        case str():
            return change(value)
        case list():
            return [map_texts(item, change) for item in value]
        case dict():
            return {change(key): map_texts(item, change) for key, item in value.items()}
        case _:
            return value
