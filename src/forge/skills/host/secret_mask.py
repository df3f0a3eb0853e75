"""Mask the secrets a skill has read in everything that is stored about its run."""

import base64
import json
from urllib.parse import quote, quote_plus

from forge.telemetry.redaction import MASK

MIN_LINE_LENGTH = 8
"""Shorter lines of a secret would match ordinary text."""


class SecretMask:
    """Masks the added secrets, including their common encodings.

    A skill can still leak a secret by splitting it: granting a secret means trusting the skill with it.
    """

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
    lines = {line.strip() for line in value.splitlines() if len(line.strip()) >= MIN_LINE_LENGTH}
    texts = {value, value.strip(), *lines} - {""}
    return {form for text in texts for form in (text, *_encodings(text))} - {""}


def _encodings(text: str) -> set[str]:
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
