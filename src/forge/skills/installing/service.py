"""What people do to get skills: fetch, look, install, keep up to date; and the registries they trust."""

import asyncio
from dataclasses import dataclass

from forge.errors import NotFound
from forge.skills.contents import snapshot_of
from forge.skills.installing.confirming import Candidate, Confirming
from forge.skills.installing.installing import Installing
from forge.skills.installing.staging import Stages, Waiting
from forge.skills.installing.views import (
    Installed,
    InstallWish,
    NewRegistry,
    PathSource,
    Registry,
    RegistryEntry,
    Staged,
)
from forge.skills.knowing import Knowing
from forge.skills.sources import GitSource, RegistrySource


@dataclass(frozen=True)
class Installs:
    installing: Installing
    confirming: Confirming
    knowing: Knowing

    async def fetch(self, account_id: str, source: GitSource | RegistrySource | PathSource) -> Staged:
        return await self.installing.fetch(account_id, source)

    async def take_zip(self, account_id: str, name: str, folder: str, data: bytes) -> Staged:
        return await self.installing.take_zip(account_id, name, data, folder=folder)

    async def staged(self, account_id: str, stage_id: str) -> Staged:
        return await self.installing.look(account_id, stage_id)

    async def install(self, account_id: str, stage_id: str, wish: InstallWish, *, by: str) -> list[Installed]:
        stage = await self._stages.open(account_id, stage_id)
        # Of two of one name the one that can be had: it comes last here.
        in_order = sorted(stage.skills, key=lambda waiting: waiting.found.mistake is None)
        candidates = {waiting.found.name: _candidate(waiting) for waiting in in_order}
        return await self.confirming.install(account_id, candidates, wish.skills, force=wish.force, by=by)

    async def drop(self, account_id: str, stage_id: str) -> None:
        await self._stages.drop(account_id, stage_id)

    async def fetch_again(self, account_id: str, name: str) -> Staged:
        found = await self.knowing.look(account_id, name)
        if found.record is None:
            raise NotFound(
                f"The skill {name} was not fetched from anywhere, so there is nowhere to look for a newer one.",
                hint="Install another over it: --force.",
            )
        return await self.installing.fetch_again(account_id, found.record.source)

    async def registries(self, account_id: str) -> list[Registry]:
        return await self.installing.registries.all(account_id)

    async def add_registry(self, account_id: str, new: NewRegistry) -> Registry:
        return await self.installing.registries.add(account_id, new)

    async def refresh_registry(self, account_id: str, name: str) -> Registry:
        return await self.installing.registries.refresh(account_id, name)

    async def remove_registry(self, account_id: str, name: str) -> None:
        await self.installing.registries.remove(account_id, name)

    async def search(self, account_id: str, words: str) -> list[RegistryEntry]:
        skills = await asyncio.to_thread(self.knowing.read, await self.knowing.snapshots())
        installed = {name: skill.manifest.version for name, skill in skills.items()}
        return await self.installing.registries.search(account_id, words, installed)

    @property
    def _stages(self) -> Stages:
        return self.installing.stages


def _candidate(waiting: Waiting) -> Candidate:
    found = waiting.found
    return Candidate(snapshot_of(found.name, found.files), waiting.source, found.mistake)
