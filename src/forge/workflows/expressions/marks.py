"""Stand-ins for secrets: a template is filled with marks, and only the hand that uses a secret puts it in.

A mark cannot be guessed, so nothing that a webhook, a model or a server says is ever taken for one.
"""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from secrets import token_hex

from pydantic import JsonValue

from forge.errors import NotFound
from forge.skills.host.hiding import Hidden
from forge.workflows.expressions.slots import spelled


class SecretMarks:
    """Those of one filling."""

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
        """Of the secrets that are used."""
        return tuple(self._names)

    def mark(self, name: str) -> str:
        if name not in self._names:
            self._names.append(name)
        return f"[secret {self._nonce} {self._names.index(name)}]"

    def shown(self, value: JsonValue) -> JsonValue:
        """With the names of the secrets instead of the marks."""
        return _map_texts(value, lambda text: self._put(text, _placeholder)) if self._names else value

    def reveal(self, value: JsonValue, found: Mapping[str, str]) -> JsonValue:
        """With the secrets themselves. Whatever holds it is not written down."""

        def secret(name: str) -> str:
            if name not in found:
                raise NotFound(f"There is no secret {name}.", hint=f"Save it: forge secrets set {name}")
            return found[name]

        return _map_texts(value, lambda text: self._put(text, secret))

    def hide(self, value: JsonValue, found: Mapping[str, str]) -> JsonValue:
        """Without the secrets, wherever they came back. For outputs and errors."""
        hidden = Hidden()
        for secret in found.values():
            hidden.add(secret)
        return _map_texts(value, hidden)

    def _put(self, text: str, put: Callable[[str], str]) -> str:
        return self._pattern.sub(lambda found: put(self._names[int(found[1])]), text)


def _placeholder(name: str) -> str:
    return f"{{{{ {spelled(('secrets', name))} }}}}"


def _map_texts(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """The same with every text changed, keys included."""
    match value:
        case str():
            return change(value)
        case list():
            return [_map_texts(item, change) for item in value]
        case dict():
            return {change(key): _map_texts(item, change) for key, item in value.items()}
        case _:
            return value
