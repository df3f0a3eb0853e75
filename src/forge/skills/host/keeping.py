"""What a skill keeps from one run to the next: JSON under keys, its own alone."""

import json

from pydantic import JsonValue

from forge.kernel.text import whole_characters
from forge.skills import kv
from forge.skills.execution import HostError
from forge.skills.host.arguments import Keys, OneKey, SetKey
from forge.skills.host.parts import Running
from forge.skills.models import Scope

MAX_KEYS = 500
MAX_VALUE = 64_000
"""Bytes of JSON."""
MAX_TOGETHER = 1_000_000
"""Keys and values."""


async def get(running: Running, _: Scope, given: OneKey) -> JsonValue:
    async with running.parts.database.read() as tx:
        found = await kv.find(tx, _whose(running), given.key)
    return None if found is None else json.loads(found)


async def put(running: Running, _: Scope, given: SetKey) -> JsonValue:
    value = _written(given.value)
    if len(value) > MAX_VALUE:
        raise HostError(f"A value has {MAX_VALUE:,} bytes at most; this one has {len(value):,}.")
    whose = _whose(running)
    async with running.parts.database.begin() as tx:
        await kv.lock(tx, whose)
        kept = await kv.measure(tx, whose, without=given.key)
        if kept.keys >= MAX_KEYS:
            raise HostError(f"A skill keeps {MAX_KEYS} keys at most: delete some first.")
        if kept.characters + len(given.key) + len(value) > MAX_TOGETHER:
            raise HostError(f"A skill keeps {MAX_TOGETHER:,} bytes at most: delete some keys first.")
        await kv.upsert(tx, whose, given.key, value)
    return None


async def drop(running: Running, _: Scope, given: OneKey) -> JsonValue:
    """Whether it was there."""
    async with running.parts.database.begin() as tx:
        return await kv.delete(tx, _whose(running), given.key)


async def keys(running: Running, _: Scope, given: Keys) -> JsonValue:
    async with running.parts.database.read() as tx:
        found = await kv.list_keys(tx, _whose(running))
    return [key for key in found if key.startswith(given.prefix)]


def _written(value: JsonValue) -> str:
    """In ASCII, so that its length is its size; halves of characters are no part of it."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise HostError("A value is JSON, and that has no NaN and no Infinity.") from error
    return json.dumps(json.loads(whole_characters(text)), separators=(",", ":"))


def _whose(running: Running) -> kv.Whose:
    return kv.Whose(running.invocation.account_id, running.invocation.skill)
