"""The library of skills: `<data_dir>/skills/<name>/SKILL.md`, read anew whenever it is asked."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from forge.bots.models import SkillEntry, SkillView
from forge.documents.frontmatter import FrontMatter, Unusable, read_front_matter
from forge.errors import ForgeError, Invalid
from forge.workspace.errors import NoSuchPath
from forge.workspace.files import Files

MAX_SKILL_BYTES = 200_000


@dataclass(frozen=True)
class SkillText:
    """A skill as a conversation gets it."""

    name: str
    description: str
    body: str


class Shelf:
    def __init__(self, data_dir: Path) -> None:
        self._root = data_dir / "skills"

    async def texts(self, entries: Iterable[SkillEntry]) -> list[SkillText]:
        """Of those that are enabled and can be read, by name."""
        found = await asyncio.to_thread(self._read_all, [entry for entry in entries if entry.enabled])
        return [text for text in found.values() if isinstance(text, SkillText)]

    async def views(self, entries: Iterable[SkillEntry]) -> list[SkillView]:
        """All of them, by name, each with what keeps it from the conversation."""
        entries = list(entries)
        found = await asyncio.to_thread(self._read_all, entries)
        enabled = {entry.skill_name: entry.enabled for entry in entries}
        return [_view(name, text, enabled=enabled[name]) for name, text in found.items()]

    def _read_all(self, entries: Iterable[SkillEntry]) -> dict[str, SkillText | ForgeError]:
        names = sorted(entry.skill_name for entry in entries)
        if not self._root.is_dir():
            return {name: _missing(name) for name in names}
        with Files(self._root) as files:
            return {name: _read(files, name) for name in names}


def _read(files: Files, name: str) -> SkillText | ForgeError:
    try:
        content = files.read(f"{name}/SKILL.md", limit=MAX_SKILL_BYTES)
        if content.hash is None:
            return Invalid(f"Its SKILL.md has more than {MAX_SKILL_BYTES // 1000} kB.")
        front = read_front_matter(content.data.decode())
    except NoSuchPath:
        return _missing(name)
    except UnicodeDecodeError:
        return Invalid("Its SKILL.md is not text in UTF-8.")
    except Unusable as error:
        return Invalid(f"Its SKILL.md, line {error.problem.line}: {error.problem.message}")
    except ForgeError as error:
        return error
    return SkillText(name, _value(front, "description"), front.body)


def _value(front: FrontMatter, key: str) -> str:
    found = front.find(key)
    return found[1].text if found else ""


def _missing(name: str) -> NoSuchPath:
    return NoSuchPath(f"There is no skill called {name} in the library.")


def _view(name: str, found: SkillText | ForgeError, *, enabled: bool) -> SkillView:
    if isinstance(found, SkillText):
        return SkillView(name=name, enabled=enabled, description=found.description)
    return SkillView(name=name, enabled=enabled, problem=found.message)
