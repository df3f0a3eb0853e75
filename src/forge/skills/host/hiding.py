"""Keeps the secrets a skill was given out of what is written down about it."""

import base64
import json
from urllib.parse import quote, quote_plus

from forge.telemetry.redaction import MASK

_LONG = 8
"""A line of a secret that is shorter is found in any text."""


class Hidden:
    """Masks what it was told, also where it was packed as programs pack texts. A skill that takes a secret to pieces
    gets past it: whoever grants one trusts the skill with it."""

    def __init__(self) -> None:
        self._forms: list[str] = []

    def add(self, value: str) -> None:
        forms = {*self._forms, *_forms_of(value)}
        self._forms = sorted(forms, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, MASK)
        return text


def _forms_of(value: str) -> set[str]:
    lines = {line.strip() for line in value.splitlines() if len(line.strip()) >= _LONG}
    texts = {value, value.strip(), *lines} - {""}
    return {form for text in texts for form in (text, *_packed(text))} - {""}


def _packed(text: str) -> set[str]:
    raw = text.encode(errors="replace")
    packed = (base64.b64encode(raw), base64.urlsafe_b64encode(raw))
    return {
        quote(text, safe="", errors="replace"),
        quote_plus(text, errors="replace"),
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        *(one.decode().rstrip("=") for one in packed),
        raw.hex(),
    }
