"""Host operations a skill can call: log, context, secrets, variables, memories, stored values and files."""

import asyncio
import json
import math
from pathlib import PurePosixPath

from pydantic import JsonValue

from forge.kernel.text import repair_surrogates
from forge.skills import store
from forge.skills.execution import HostError
from forge.skills.host.arguments import (
    Env,
    Keys,
    ListFiles,
    Log,
    Memory,
    Nothing,
    OneKey,
    ReadFile,
    Secret,
    SetKey,
    WriteFile,
    how_to_grant,
)
from forge.skills.host.context import HostContext
from forge.skills.host.resources import MAX_TEXT, check_variable, open_root
from forge.skills.models import Scope
from forge.workspace.filesystem.entries import EntryKind
from forge.workspace.filesystem.files import Files
from forge.workspace.filesystem.quota import Quota


async def log(running: HostContext, _: Scope, given: Log) -> JsonValue:
    running.log.add(given.level, given.message)
    return None


async def context(running: HostContext, _: Scope, _given: Nothing) -> JsonValue:
    invocation = running.invocation
    return {
        "skill": invocation.skill,
        "version": invocation.version,
        "bot": invocation.bot_id,
        "invocation": invocation.id,
        "settings": dict(invocation.settings),
    }


async def get_secret(running: HostContext, scope: Scope, given: Secret) -> JsonValue:
    _check_named(running, scope, given)
    account_id = running.invocation.secrets_of or running.invocation.account_id
    value = (await running.services.secret(account_id, given.name)).get_secret_value()
    running.mask.add(value)
    return value


async def get_variable(running: HostContext, scope: Scope, given: Env) -> JsonValue:
    """Return the variable; None if it is not set."""
    _check_named(running, scope, given)
    check_variable(given.name)
    value = running.services.environment.get(given.name)
    return None if value is None else repair_surrogates(value)


async def recall_memory(running: HostContext, _: Scope, given: Memory) -> JsonValue:
    bot_id, recall = running.invocation.bot_id, running.services.recall
    if bot_id is None or recall is None:
        raise HostError("There is no bot to recall memories of: run the skill as a bot.")
    found = await recall(running.invocation.account_id, bot_id, given.query, given.limit)
    return list[JsonValue](found)


def _check_named(running: HostContext, scope: Scope, given: Secret | Env) -> None:
    if given.name not in scope.names:
        raise HostError(
            f"{given.name!r} is not a granted name. To grant it: "
            + how_to_grant(running.invocation.skill, given.needs, [*scope.names, given.name])
        )


MAX_KEYS = 500
MAX_VALUE = 64_000
"""Bytes of JSON."""
MAX_STORED_BYTES = 1_000_000
"""Keys and values together."""


async def get_value(running: HostContext, _: Scope, given: OneKey) -> JsonValue:
    async with running.services.database.read() as tx:
        found = await store.find_value(tx, _owner(running), given.key)
    return None if found is None else json.loads(found)


async def put_value(running: HostContext, _: Scope, given: SetKey) -> JsonValue:
    value = _stored_json(given.value)
    if len(value) > MAX_VALUE:
        raise HostError(f"A value is limited to {MAX_VALUE:,} bytes; this one has {len(value):,}.")
    owner = _owner(running)
    async with running.services.database.begin() as tx:
        await store.lock_values(tx, owner)
        stored = await store.measure_values(tx, owner, without=given.key)
        if stored.keys >= MAX_KEYS:
            raise HostError(f"A skill can store at most {MAX_KEYS} keys: delete some first.")
        if stored.characters + len(given.key) + len(value) > MAX_STORED_BYTES:
            raise HostError(f"A skill can store at most {MAX_STORED_BYTES:,} bytes: delete some keys first.")
        await store.upsert_value(tx, owner, given.key, value)
    return None


async def delete_value(running: HostContext, _: Scope, given: OneKey) -> JsonValue:
    """Return whether the key existed."""
    async with running.services.database.begin() as tx:
        return await store.delete_value(tx, _owner(running), given.key)


async def list_keys(running: HostContext, _: Scope, given: Keys) -> JsonValue:
    async with running.services.database.read() as tx:
        found = await store.list_keys(tx, _owner(running))
    return [key for key in found if key.startswith(given.prefix)]


def _stored_json(value: JsonValue) -> str:
    """Dump to ASCII JSON, so that its length is its size in bytes. Lone surrogates are replaced."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise HostError("A value must be JSON, which has no NaN or Infinity.") from error
    return json.dumps(json.loads(repair_surrogates(text)), separators=(",", ":"))


def _owner(running: HostContext) -> store.ValueOwner:
    return store.ValueOwner(running.invocation.account_id, running.invocation.skill)


MAX_NAMES = 5000
_ROOT_QUOTA = Quota(files=math.inf, total_bytes=math.inf, file_bytes=MAX_TEXT)
"""Forge limits the size of single files in granted folders, not of the folders."""


async def read_file(running: HostContext, scope: Scope, given: ReadFile) -> JsonValue:
    return await asyncio.to_thread(_read_text, running, scope, given)


async def write_file(running: HostContext, scope: Scope, given: WriteFile) -> JsonValue:
    def work() -> None:
        files, path = _find_file(running, scope, given)
        files.write(path, given.text.encode())

    await asyncio.to_thread(work)
    return None


async def list_files(running: HostContext, scope: Scope, given: ListFiles) -> JsonValue:
    """List names; those of folders end with a slash."""

    def work() -> list[JsonValue]:
        files, path = _find_file(running, scope, given)
        found = files.list(path)
        if len(found) > MAX_NAMES:
            raise HostError(f"There are more than {MAX_NAMES:,} names in {given.path!r}.")
        return [f"{entry.name}/" if entry.kind is EntryKind.DIR else entry.name for entry in found]

    return await asyncio.to_thread(work)


def _read_text(running: HostContext, scope: Scope, given: ReadFile) -> str:
    files, path = _find_file(running, scope, given)
    content = files.read(path, limit=MAX_TEXT)
    if content.hash is None:
        raise HostError(f"{given.path!r} has more than {MAX_TEXT >> 20} MB.")
    try:
        return content.data.decode()
    except UnicodeDecodeError as error:
        raise HostError(f"{given.path!r} is not UTF-8 text.") from error


def _find_file(running: HostContext, scope: Scope, given: ReadFile) -> tuple[Files, str]:
    """Return the granted folder of the path, opened so that no link leads out of it, and the path inside."""
    if not given.path.startswith("/"):
        return running.own_folder.files, given.path
    path = PurePosixPath(given.path)
    for root in sorted(scope.roots, key=len, reverse=True):
        if path.is_relative_to(root):
            real = open_root(root, running.services.files_dir.parent)
            return Files(real, quota=_ROOT_QUOTA), str(path.relative_to(root))
    raise HostError(
        f"{given.path!r} is not in a granted folder. To grant one: "
        + how_to_grant(running.invocation.skill, given.needs, [*scope.roots, "/the/folder"])
    )
