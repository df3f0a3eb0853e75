"""The runtimes that come with Forge: a component per language."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forge.errors import Unavailable

BUILT = Path(__file__).parent / "built"
MANIFEST = "runtimes.json"
COMPILED = "compiled"
"""Folder of the compiled runtimes in a checkout. Not part of a wheel, since it fits one type of processor only."""


@dataclass(frozen=True)
class Runtime:
    path: Path
    sha256: str
    baseline_bytes: int
    """Memory it needs before the first line of a skill."""


@cache
def runtimes() -> dict[str, Runtime]:
    """Return the runtimes, by language."""
    try:
        manifest = json.loads((BUILT / MANIFEST).read_text())
    except FileNotFoundError as error:
        raise Unavailable("the runtimes of skills are not built", hint="Run `make runtimes`.") from error
    return {
        language: Runtime(BUILT / one["file"], one["sha256"], one["baseline_bytes"])
        for language, one in manifest.items()
    }


_NAMES = """
    abc array ast base64 binascii bisect builtins calendar cmath codecs collections colorsys configparser
    contextlib copy csv dataclasses datetime decimal difflib email enum errno fnmatch fractions functools glob
    graphlib hashlib heapq hmac html importlib inspect io ipaddress itertools json keyword linecache locale math
    mimetypes numbers operator os pathlib pprint random re reprlib secrets shlex stat statistics string struct
    sys textwrap time token tokenize tomllib traceback types typing unicodedata urllib uuid warnings weakref xml
    zlib
"""
PYTHON_MODULES = frozenset(_NAMES.split())
