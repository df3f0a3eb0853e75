"""Forge in the test process: direct access to its services, and its API on a real socket."""

import asyncio
import functools
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx2
import uvicorn
from tests.support.timeouts import PATIENCE_S
from websockets.asyncio.client import ClientConnection, connect

from forge import app
from forge.app import Forge, open_forge, own_address
from forge.config import Settings
from forge.server.serve import api_config


@dataclass(frozen=True)
class Live:
    forge: Forge
    url: str
    key: str
    account_id: str

    def client(self, **headers: str) -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {self.key}", **headers}
        return httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=60, verify=False)

    def socket(self, **options: Any) -> connect:
        address = self.url.replace("http://", "ws://") + "/ws"
        headers = {"Authorization": f"Bearer {self.key}"}
        return connect(address, additional_headers=headers, max_size=None, open_timeout=PATIENCE_S, **options)


_shared_embedder = functools.cache(app.find_embedder)
"""The embedding model takes 90 MB, so all instances in this process share one."""


def settings_for(data_dir: Path, database_url: str, **options: Any) -> Settings:
    database = {} if database_url.startswith("sqlite") else {"database_url": database_url}
    return Settings(data_dir=data_dir, rate_limit_per_minute=1_000_000, **database, **options)


@asynccontextmanager
async def live(settings: Settings) -> AsyncGenerator[Live]:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        patch.object(app, "find_embedder", _shared_embedder),
    ):
        address = own_address(settings, listener.getsockname()[1])
        async with open_forge(settings, address, terminal=False) as forge:
            server = uvicorn.Server(api_config(forge))
            serving = asyncio.create_task(server._serve(sockets=[listener]))
            while not server.started:
                await asyncio.sleep(0.01)
            account = await forge.accounts.ensure_owner()
            key = await forge.accounts.replace_local_key("test")
            yield Live(forge, address.local_url(), key, account.id)
            server.should_exit = True
            await serving


__all__ = ["ClientConnection", "Live", "live", "settings_for"]
