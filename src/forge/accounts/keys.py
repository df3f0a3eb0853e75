"""API keys: created and shown once, stored as a hash."""

import re
from datetime import datetime, timedelta

from forge.accounts import store, tokens
from forge.accounts.models import ApiKey, CreatedKey, NewKey
from forge.accounts.store import KeyKind, KeyRow
from forge.errors import Conflict, NotFound, Unauthenticated
from forge.http.caller import Caller
from forge.http.scope import Scope
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text
from forge.kernel.ids import derived_id, new_id
from forge.store.database import Tx

USE_RECORD_INTERVAL = timedelta(minutes=1)
_ID = re.compile(r"[0-9a-f-]{36}")
_NEW_KEY = "Create one: forge keys create NAME"


async def create(tx: Tx, caller: Caller, wanted: NewKey, at: datetime) -> CreatedKey:
    _must_cover(caller, wanted.scopes)
    key = tokens.new_key()
    shown = ApiKey(
        id=new_id(), name=wanted.name, scopes=wanted.scopes, hint=tokens.hint_of(key), created_at=at
    )
    await store.upsert_key(
        tx, shown, account_id=caller.account_id, kind=KeyKind.USER, key_hash=hash_text(key)
    )
    return CreatedKey(key=key, api_key=shown)


async def revoke(tx: Tx, caller: Caller, key_id: str, at: datetime) -> ApiKey:
    key = await _find_own(tx, caller, key_id)
    _must_cover(caller, key.scopes)
    if not await store.revoke_key(tx, key.id, at):
        raise Conflict(f"The API key {key.name!r} is already revoked.")
    return key.model_copy(update={"revoked_at": at})


async def replace_local_key(tx: Tx, owner_id: str, machine: str) -> str:
    """Replace the key used by the commands on this machine; called at each start of the server."""
    key = tokens.new_key()
    shown = ApiKey(
        id=derived_id("local-key", machine),
        name=machine,
        scopes=[Scope.ADMIN],
        hint=tokens.hint_of(key),
        created_at=now(),
    )
    await store.upsert_key(tx, shown, account_id=owner_id, kind=KeyKind.LOCAL, key_hash=hash_text(key))
    return key


async def find(tx: Tx, key: str) -> KeyRow:
    """Return the row of a valid key; raise Unauthenticated for any other."""
    row = await store.find_key(tx, hash_text(key))
    if row is None:
        raise Unauthenticated("Unknown API key.", hint=_NEW_KEY)
    if row.key.revoked_at is not None:
        raise Unauthenticated(f"The API key {row.key.name!r} was revoked.", hint=_NEW_KEY)
    return row


def needs_use_update(key: ApiKey, at: datetime) -> bool:
    return key.last_used_at is None or at - key.last_used_at >= USE_RECORD_INTERVAL


async def _find_own(tx: Tx, caller: Caller, key_id: str) -> ApiKey:
    # Checked because PostgreSQL fails on text that cannot be an id (with a NUL), where SQLite finds nothing.
    key = await store.find_user_key(tx, caller.account_id, key_id) if _ID.fullmatch(key_id) else None
    if key is None:
        raise NotFound("API key not found.", hint="List them: forge keys list")
    return key


def _must_cover(caller: Caller, scopes: list[Scope]) -> None:
    """Callers can only create and revoke keys whose scopes they have themselves."""
    for scope in scopes:
        caller.must_have(scope)
