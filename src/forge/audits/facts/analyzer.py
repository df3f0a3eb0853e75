"""The facts of every source file of a project, made once per content."""

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from forge.audits.facts.models import LANGUAGES, FileFacts, Language
from forge.audits.facts.parsing import grammars
from forge.audits.facts.python import python_facts
from forge.audits.facts.script import script_facts

if TYPE_CHECKING:  # processes that only analyse have no need of the rest
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
    """By path, of all Python and script files that are not too large."""
    return snapshot.once(_read_facts)


def _read_facts(snapshot: "Snapshot") -> Mapping[str, FileFacts]:
    return snapshot.analyse(FACTS, snapshot.files(*LANGUAGES))


@cache
def version() -> str:
    """Of everything that facts depend on, so that no cache outlives a change of the code in this folder."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}{grammars()}".encode())
    for file in sorted(files("forge.audits.facts").iterdir(), key=lambda f: f.name):
        if file.name.endswith(".py"):
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]
