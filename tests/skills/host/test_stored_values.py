"""Key-value storage of skills, on both databases."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.skills.host.hosts import INVOCATION, error_of, host_for, host_services

from forge.skills.execution import HostError
from forge.skills.host import operations
from forge.skills.host.host import Host
from forge.skills.models import Capability, Scope
from forge.store.database import Store

ALLOWED = {Capability.KV: Scope()}


@pytest.fixture
def host(tmp_path: Path, store: Store) -> Host:
    return host_for(host_services(tmp_path, store), ALLOWED)


async def put(host: Host, key: str, value: object) -> None:
    await host.call("kv.set", {"key": key, "value": value})


async def test_values_round_trip(host: Host):
    assert await host.call("kv.get", {"key": "a"}) is None
    await put(host, "a", "half \ud800")
    assert await host.call("kv.get", {"key": "a"}) == "half \ufffd"
    for value in (1, None, "nul \0 é 🙂", {"deep": [1.5, True, {}]}, ""):
        await put(host, "a", value)
        assert await host.call("kv.get", {"key": "a"}) == value
    await put(host, "ключ 🙂", 2)
    assert await host.call("kv.keys", {}) == ["a", "ключ 🙂"]
    assert await host.call("kv.keys", {"prefix": "кл"}) == ["ключ 🙂"]
    assert await host.call("kv.delete", {"key": "a"}) is True
    assert await host.call("kv.delete", {"key": "a"}) is False
    assert await host.call("kv.keys", {}) == ["ключ 🙂"]
    assert host.used[Capability.KV] == 19


async def test_values_are_separate_per_skill_and_account(tmp_path: Path, store: Store):
    services = host_services(tmp_path, store)
    mine = host_for(services, ALLOWED)
    others = [
        host_for(services, ALLOWED, invocation=replace(INVOCATION, **other))
        for other in ({"skill": "other"}, {"account_id": "account-2"})
    ]
    await put(mine, "a", 1)
    for other in others:
        assert await other.call("kv.keys", {}) == []
        assert await other.call("kv.get", {"key": "a"}) is None
        assert await other.call("kv.delete", {"key": "a"}) is False
        await put(other, "a", 2)
    assert await mine.call("kv.get", {"key": "a"}) == 1


async def test_size_of_a_value_is_limited(host: Host):
    await put(host, "a", "x" * 63_998)
    assert "64,000 bytes" in await error_of(host, "kv.set", key="a", value="x" * 63_999)
    assert "64,000 bytes" in await error_of(host, "kv.set", key="a", value="\0" * 20_000)
    assert "NaN" in await error_of(host, "kv.set", key="a", value=float("nan"))


async def test_total_size_of_values_is_limited(host: Host):
    for number in range(15):
        await put(host, f"k{number:02}", "x" * 63_998)
    await put(host, "k99", "x" * 39_950)
    assert "1,000,000 bytes" in await error_of(host, "kv.set", key="one more", value=1)
    await put(host, "k00", 1)
    await put(host, "one more", 1)


async def test_concurrent_writers_cannot_exceed_the_key_limit(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(operations, "MAX_KEYS", 5)
    hosts = [host_for(host_services(tmp_path, store), ALLOWED) for _ in range(12)]
    results = await asyncio.gather(
        *(put(host, f"k{number}", number) for number, host in enumerate(hosts)), return_exceptions=True
    )
    assert sum(result is None for result in results) == 5
    assert all(isinstance(result, HostError) for result in results if result is not None)
    assert len(await hosts[0].call("kv.keys", {})) == 5  # type: ignore[arg-type]
