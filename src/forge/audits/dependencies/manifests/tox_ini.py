"""Read the test dependencies in tox.ini."""

import configparser
import re

from forge.audits.dependencies.manifests.line_finder import LineFinder
from forge.audits.dependencies.manifests.models import Declared, Group, Include, Manifest
from forge.audits.dependencies.manifests.requirement_name import requirement_name
from forge.audits.files.lenient_readers import read_ini

_CONDITION = re.compile(r"^[\w.,!{}*-]+:\s+")


def read_tox_ini(data: bytes) -> Manifest:
    """Read tox.ini; an invalid file declares nothing."""
    try:
        text = data.decode("utf-8-sig")
        parser = read_ini(text)
    except (UnicodeDecodeError, configparser.Error, RecursionError):
        return Manifest(is_declaring=False)
    lines = LineFinder(text)
    declared: list[Declared] = []
    includes: list[Include] = []
    for section in parser.sections():
        for line in parser.get(section, "deps", fallback="").splitlines():
            one = _CONDITION.sub("", line.partition(" #")[0].strip())
            if one.startswith("-r"):
                includes.append(Include(one.removeprefix("-r").strip(), Group.DEV, lines.of(line)))
            elif not one.startswith(("-", "{", "#")) and (name := requirement_name(one)):
                declared.append(Declared(name, Group.DEV, f"[{section}] deps", lines.of(line)))
    return Manifest(tuple(declared), tuple(includes), is_declaring=bool(declared))
