"""Build hosts for runs that do not exist, with real services."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.support.timeouts import PATIENCE_S

from forge.errors import NotFound
from forge.outgoing.client import Outgoing
from forge.sandbox.sandboxes import Sandboxes
from forge.skills.execution import HostError, HostRefusal
from forge.skills.host.context import HostServices, Invocation
from forge.skills.host.host import Host
from forge.skills.models import Capability, Scope
from forge.store.database import Store

SECRETS = {
    "WEATHER_KEY": "s3cret/with+odd=signs",
    "PEM": "-----BEGIN KEY-----\nabcdefghijklmnop\n-----END KEY-----",
}
INVOCATION = Invocation("account-1", "weather", "1.2.3", "run-1", None, {"town": "Oslo"})


async def secret(_account_id: str, name: str) -> SecretStr:
    if name not in SECRETS:
        raise NotFound(f"The secret {name} is not set.", hint=f"Set it: forge secrets set {name}")
    return SecretStr(SECRETS[name])


def host_services(folder: Path, database: Store | None = None, **changed: Any) -> HostServices:
    """Return services whose data directory is in `folder`."""
    data = folder / "data"
    data.mkdir(exist_ok=True)
    services = HostServices(
        outgoing=Outgoing(),
        database=database or Store(f"sqlite:///{folder}/never-opened.db"),
        secret=secret,
        environment={
            "LANG": "C.UTF-8",
            "FORGE_VAULT_KEY": "x",
            "ANTHROPIC_API_KEY": "x",
            "anthropic_api_key": "x",
        },
        recall=None,
        sandboxes=Sandboxes(),
        files_dir=data / "skill-files",
    )
    return replace(services, **changed)


def host_for(
    services: HostServices,
    allowed: Mapping[Capability, Scope],
    *,
    seconds: float = PATIENCE_S,
    invocation: Invocation = INVOCATION,
) -> Host:
    return Host(invocation, allowed, services, seconds)


async def error_of(host: Host, op: str, **args: Any) -> str:
    with pytest.raises(HostError) as raised:
        await host.call(op, args)
    return str(raised.value)


async def refusal_of(host: Host, op: str, **args: Any) -> str:
    with pytest.raises(HostRefusal) as raised:
        await host.call(op, args)
    return str(raised.value)


def fake_recall(*memories: str) -> Callable[[str, str, str, int], Awaitable[list[str]]]:
    async def recall(account_id: str, bot_id: str, query: str, limit: int) -> list[str]:
        await asyncio.sleep(0)
        return [f"{account_id} {bot_id} {query}", *memories][:limit]

    return recall
