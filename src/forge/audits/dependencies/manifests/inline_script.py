"""Read the inline requirements of a script (PEP 723)."""

import re

from forge.audits.dependencies.manifests.models import Declared, Group, Manifest
from forge.audits.dependencies.manifests.requirement_name import requirement_name
from forge.audits.files.lenient_readers import read_toml, texts

_START = re.compile(rb"^# /// script[ \t]*\r?$", re.MULTILINE)
MAX_LINES = 500


def read_inline(data: bytes) -> Manifest:
    start = _START.search(data)
    if start is None:
        return Manifest(is_declaring=False)
    lines: list[str] = []
    for line in data[start.end() :].decode("utf-8", "replace").splitlines()[1 : MAX_LINES + 1]:
        if line == "# ///" or not line.startswith("#"):
            break
        lines.append(line[2:])
    content = read_toml("\n".join(lines))
    if not content:
        return Manifest(is_declaring=False)
    names = [name for text in texts(content.get("dependencies")) if (name := requirement_name(text))]
    return Manifest(tuple(Declared(name, Group.RUNTIME, "# /// script") for name in names))
