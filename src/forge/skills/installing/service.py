"""What people do to get skills: fetch, look, install, keep up to date; and the registries they trust."""

from forge.skills.sources import GitSource, RegistrySource
from forge.skills.views import (
    Installed,
    InstallWish,
    NewRegistry,
    PathSource,
    Registry,
    RegistryEntry,
    Staged,
)


class Installs:
    async def fetch(self, account_id: str, source: GitSource | RegistrySource | PathSource) -> Staged:
        raise NotImplementedError

    async def take_zip(self, account_id: str, name: str, folder: str, data: bytes) -> Staged:
        raise NotImplementedError

    async def staged(self, account_id: str, stage_id: str) -> Staged:
        raise NotImplementedError

    async def install(self, account_id: str, stage_id: str, wish: InstallWish, *, by: str) -> list[Installed]:
        raise NotImplementedError

    async def drop(self, account_id: str, stage_id: str) -> None:
        raise NotImplementedError

    async def fetch_again(self, account_id: str, name: str) -> Staged:
        raise NotImplementedError

    async def registries(self, account_id: str) -> list[Registry]:
        raise NotImplementedError

    async def add_registry(self, account_id: str, new: NewRegistry) -> Registry:
        raise NotImplementedError

    async def refresh_registry(self, account_id: str, name: str) -> Registry:
        raise NotImplementedError

    async def remove_registry(self, account_id: str, name: str) -> None:
        raise NotImplementedError

    async def search(self, account_id: str, words: str) -> list[RegistryEntry]:
        raise NotImplementedError
