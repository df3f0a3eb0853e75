"""Kubernetes manifests: what a `Secret` holds is a secret, however ordinary its name."""

from collections.abc import Iterator

from forge.audits.secrets.entropy import entropy
from forge.audits.secrets.models import Hit, Rank
from forge.audits.secrets.patterns import compiled
from forge.audits.secrets.placeholders import is_stand_in, is_template

KUBERNETES = "kubernetes-secret"
MARK = b"kind"
_KIND = r"(?im)^\s*[\"']?kind[\"']?\s*:\s*[\"']?secret[\"']?\s*,?\s*(?:#.*)?$"
_DATA = r"(?m)^([ \t]*)[\"']?(?:data|stringData)[\"']?[ \t]*:[ \t]*(?:\{[ \t]*)?$"
_ENTRY = r"^[ \t]+[\"']?[\w.-]+[\"']?[ \t]*:[ \t]*[\"']?([0-9A-Za-z+/]{10,}={0,2})[\"']?,?[ \t]*$"
_LEAST_BITS = 2.8


def kubernetes_secrets(text: bytes) -> Iterator[Hit]:
    """The entries of each `data` block of a text with a Secret in it."""
    if compiled(_KIND).search(text) is None:
        return
    for block in compiled(_DATA).finditer(text):
        at = block.end() + 1
        while entry := compiled(_ENTRY).search(text[at : _line_end(text, at)]):
            if _is_value(entry.group(1) or b""):
                start, end = at + entry.start(1), at + entry.end(1)
                yield Hit(KUBERNETES, "value of a Kubernetes secret", Rank.STRUCTURE, start, end)
            at = _line_end(text, at) + 1


def _line_end(text: bytes, at: int) -> int:
    end = text.find(b"\n", at)
    return len(text) if end < 0 else end


def _is_value(value: bytes) -> bool:
    return entropy(value) >= _LEAST_BITS and not is_stand_in(value) and not is_template(value)
