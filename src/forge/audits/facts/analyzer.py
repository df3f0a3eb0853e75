"""Extract the facts of every source file of a project, once per content."""

import hashlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

from forge.audits.facts.models import LANGUAGES, FileFacts, Language
from forge.audits.facts.parsing import grammars
from forge.audits.facts.python.facts import python_facts
from forge.audits.facts.script.facts import script_facts

if TYPE_CHECKING:  # worker processes import this module and do not need the snapshot
    from forge.audits.snapshot import Snapshot


@dataclass(frozen=True)
class FactsAnalyzer:
    @property
    def key(self) -> str:
        return f"facts:{version()}"

    @property
    def result(self) -> type[FileFacts]:
        return FileFacts

    def __call__(self, suffix: str, data: bytes) -> FileFacts:
        match LANGUAGES.get(suffix):
            case Language.PYTHON:
                return python_facts(data)
            case Language.SCRIPT:
                return script_facts(suffix, data)
            case None:
                return FileFacts()

    def unreadable(self) -> FileFacts:
        return FileFacts(broken_line=1)


FACTS = FactsAnalyzer()


def facts_of(snapshot: "Snapshot") -> Mapping[str, FileFacts]:
    """Return the facts by path for all Python and script files below the size limit."""
    return snapshot.once(_read_facts)


def _read_facts(snapshot: "Snapshot") -> Mapping[str, FileFacts]:
    return snapshot.analyze(FACTS, snapshot.files(*LANGUAGES))


@cache
def version() -> str:
    """Hash the parsers and every module below this package, so that a cached result never outlives a change of the code."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}{grammars()}".encode())
    for name, source in sorted(_sources(files("forge.audits.facts"))):
        digest.update(name.encode() + source)
    return digest.hexdigest()[:16]


def _sources(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            yield from _sources(entry, f"{name}/")
        elif name.endswith(".py"):
            yield name, entry.read_bytes()
