"""Fetch, review, install and update skills, and manage registries."""

import asyncio
from dataclasses import dataclass

from forge.errors import NotFound
from forge.skills.format.contents import snapshot_of
from forge.skills.installation.fetcher import SkillFetcher
from forge.skills.installation.installer import Candidate, Installer
from forge.skills.installation.staging import StageEntry, Stages
from forge.skills.installation.views import (
    Installed,
    InstallWish,
    NewRegistry,
    PathSource,
    Registry,
    RegistryEntry,
    Staged,
)
from forge.skills.models import GitSource, RegistrySource
from forge.skills.skill_state import SkillStates


@dataclass(frozen=True)
class Installations:
    fetcher: SkillFetcher
    installer: Installer
    states: SkillStates

    async def fetch(self, account_id: str, source: GitSource | RegistrySource | PathSource) -> Staged:
        return await self.fetcher.fetch(account_id, source)

    async def take_zip(self, account_id: str, name: str, folder: str, data: bytes) -> Staged:
        return await self.fetcher.take_zip(account_id, name, data, folder=folder)

    async def staged(self, account_id: str, stage_id: str) -> Staged:
        return await self.fetcher.look(account_id, stage_id)

    async def install(
        self, account_id: str, stage_id: str, request: InstallWish, *, by: str
    ) -> list[Installed]:
        stage = await self._stages.open(account_id, stage_id)
        # Of two skills with the same name, the one without a mistake comes last and wins.
        in_order = sorted(stage.skills, key=lambda waiting: waiting.found.mistake is None)
        candidates = {waiting.found.name: _candidate(waiting) for waiting in in_order}
        return await self.installer.install(
            account_id, candidates, request.skills, force=request.force, by=by
        )

    async def drop(self, account_id: str, stage_id: str) -> None:
        await self._stages.drop(account_id, stage_id)

    async def fetch_again(self, account_id: str, name: str) -> Staged:
        found = await self.states.find(account_id, name)
        if found.record is None:
            raise NotFound(
                f"The skill {name} has no recorded origin, so it cannot be updated.",
                hint="Install a new version over it: --force.",
            )
        return await self.fetcher.fetch_again(account_id, found.record.source)

    async def registries(self, account_id: str) -> list[Registry]:
        return await self.fetcher.registries.all(account_id)

    async def add_registry(self, account_id: str, new: NewRegistry) -> Registry:
        return await self.fetcher.registries.add(account_id, new)

    async def refresh_registry(self, account_id: str, name: str) -> Registry:
        return await self.fetcher.registries.refresh(account_id, name)

    async def remove_registry(self, account_id: str, name: str) -> None:
        await self.fetcher.registries.remove(account_id, name)

    async def search(self, account_id: str, words: str) -> list[RegistryEntry]:
        skills = await asyncio.to_thread(self.states.parse, await self.states.snapshots())
        installed = {name: skill.manifest.version for name, skill in skills.items()}
        return await self.fetcher.registries.search(account_id, words, installed)

    @property
    def _stages(self) -> Stages:
        return self.fetcher.stages


def _candidate(waiting: StageEntry) -> Candidate:
    found = waiting.found
    return Candidate(snapshot_of(found.name, found.files), waiting.source, found.mistake)
