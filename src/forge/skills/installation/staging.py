"""Stages: fetched skills that wait for review, stored on disk for an hour.

A stage is a folder with a list and an archive of all files. It is renamed to its id when it is complete.
"""

import asyncio
import io
import os
import re
import secrets
import shutil
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ValidationError

from forge.errors import Gone, NotFound
from forge.kernel.clock import now
from forge.skills.installation.skill_finder import FoundSkill
from forge.skills.models import Origin, SkillProblem

STAGE_LIFETIME = timedelta(hours=1)
MAX_STAGES = 10
"""Maximum per account; the oldest is removed."""

_ID = re.compile(r"[A-Za-z0-9_-]{16,64}")
_NEW = ".new-"
_LIST, _BYTES = "stage.json", "files.zip"


@dataclass(frozen=True)
class StageEntry:
    """A staged skill and its origin."""

    found: FoundSkill
    source: Origin


@dataclass(frozen=True)
class Stage:
    id: str
    skills: list[StageEntry]
    expires_at: datetime


class _Line(BaseModel):
    name: str
    path: str
    problems: list[SkillProblem]
    source: Origin


class _List(BaseModel):
    account_id: str
    expires_at: datetime
    skills: list[_Line]


class Stages:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def keep(self, account_id: str, skills: Sequence[StageEntry]) -> Stage:
        return await asyncio.to_thread(self._keep, account_id, skills)

    async def open(self, account_id: str, stage_id: str) -> Stage:
        """Return a stage. Raises NotFound, also for a stage of another account, or Gone if it has expired."""
        return await asyncio.to_thread(self._open, account_id, stage_id)

    async def drop(self, account_id: str, stage_id: str) -> None:
        await asyncio.to_thread(self._drop, account_id, stage_id)

    def _keep(self, account_id: str, skills: Sequence[StageEntry]) -> Stage:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._sweep(account_id)
        stage = Stage(secrets.token_urlsafe(24), list(skills), now() + STAGE_LIFETIME)
        lines = [_line(each) for each in skills]
        listed = _List(account_id=account_id, expires_at=stage.expires_at, skills=lines)
        new = self._folder / f"{_NEW}{stage.id}"
        new.mkdir(mode=0o700)
        try:
            _write(new / _LIST, listed.model_dump_json().encode())
            _write(new / _BYTES, _packed(skills))
            new.rename(self._folder / stage.id)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
        return stage

    def _open(self, account_id: str, stage_id: str) -> Stage:
        listed = self._listed(account_id, stage_id)
        try:
            with zipfile.ZipFile(self._folder / stage_id / _BYTES) as archive:
                files = _unpacked(archive, len(listed.skills))
        except FileNotFoundError:
            raise _missing() from None
        skills = [
            StageEntry(FoundSkill(line.name, line.path, each, line.problems), line.source)
            for line, each in zip(listed.skills, files, strict=True)
        ]
        return Stage(stage_id, skills, listed.expires_at)

    def _drop(self, account_id: str, stage_id: str) -> None:
        self._listed(account_id, stage_id)
        shutil.rmtree(self._folder / stage_id, ignore_errors=True)

    def _listed(self, account_id: str, stage_id: str) -> _List:
        listed = self._read(stage_id)
        if listed is None or listed.account_id != account_id:
            raise _missing()
        if listed.expires_at <= now():
            raise Gone("The stage has expired after an hour.", hint="Fetch it again.")
        return listed

    def _read(self, stage_id: str) -> _List | None:
        if not _ID.fullmatch(stage_id):
            return None
        try:
            return _List.model_validate_json((self._folder / stage_id / _LIST).read_bytes())
        except (FileNotFoundError, NotADirectoryError, ValidationError):
            return None

    def _sweep(self, account_id: str) -> None:
        """Remove stages that expired, were left by a killed process, or exceed the limit of the account."""
        mine: list[tuple[datetime, Path]] = []
        for path in self._folder.iterdir():
            listed = self._read(path.name)
            if (
                _age_s(path) > STAGE_LIFETIME.total_seconds()
                if listed is None
                else listed.expires_at <= now()
            ):
                shutil.rmtree(path, ignore_errors=True)
            elif listed is not None and listed.account_id == account_id:
                mine.append((listed.expires_at, path))
        for _, path in sorted(mine)[: max(0, len(mine) - MAX_STAGES + 1)]:
            shutil.rmtree(path, ignore_errors=True)


def _line(waiting: StageEntry) -> _Line:
    found = waiting.found
    return _Line(name=found.name, path=found.path, problems=found.problems, source=waiting.source)


def _packed(skills: Sequence[StageEntry]) -> bytes:
    """Pack the files. Entry names are escaped, since file names of a skill are untrusted."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for number, waiting in enumerate(skills):
            for path, data in waiting.found.files.items():
                entry = zipfile.ZipInfo(f"{number}/{path.encode('unicode_escape').decode()}")
                archive.writestr(entry, data)
    return made.getvalue()


def _unpacked(archive: zipfile.ZipFile, count: int) -> list[dict[str, bytes]]:
    found: list[dict[str, bytes]] = [{} for _ in range(count)]
    for entry in archive.infolist():
        number, _, path = entry.orig_filename.partition("/")
        found[int(number)][path.encode().decode("unicode_escape")] = archive.read(entry)
    return found


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _age_s(path: Path) -> float:
    with suppress(FileNotFoundError):
        return now().timestamp() - path.lstat().st_mtime
    return 0.0


def _missing() -> NotFound:
    return NotFound("There is no stage with this id.", hint="Fetch it again.")
