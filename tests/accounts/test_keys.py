import re

import pytest
from pydantic import SecretBytes

from forge.accounts.address import OwnAddress
from forge.accounts.authentication import Authentication, Credentials, RequestKind
from forge.accounts.bearer_tokens import BearerTokens
from forge.accounts.models import ApiKey, NewKey, owner_id
from forge.accounts.service import Accounts
from forge.accounts.tables import api_keys
from forge.accounts.vault import Vault
from forge.errors import Conflict, Denied, NotFound, Unauthenticated
from forge.http.caller import Caller
from forge.http.scope import CallerMethod, Scope
from forge.kernel.hashing import hash_text
from forge.store.database import Store


async def authenticate(accounts: Accounts, key: str) -> Authentication:
    credentials = Credentials(kind=RequestKind.UNSAFE, authorization=f"Bearer {key}")
    return await accounts.authenticator.authenticate(credentials)


def caller_with(*scopes: Scope) -> Caller:
    return Caller(owner_id(), "Owner", frozenset(scopes), CallerMethod.API_KEY, "a-key")


async def test_new_key_is_shown_once_and_stored_as_a_hash(accounts: Accounts, owner: Caller, clock, rows):
    created = await accounts.create_key(owner, NewKey(name=" CI ", scopes=[Scope.READ]))
    assert re.fullmatch(r"forge_[A-Za-z0-9_-]{43}", created.key)
    assert created.api_key == ApiKey(
        id=created.api_key.id,
        name="CI",
        scopes=[Scope.READ],
        hint=f"forge_…{created.key[-4:]}",
        created_at=clock.at,
    )
    assert await accounts.list_keys(owner.account_id) == [created.api_key]
    [row] = await rows(api_keys)
    assert row["hash"] == hash_text(created.key)
    assert created.key not in repr(row) + repr(created)


async def test_key_authenticates_its_account_with_its_scopes(accounts: Accounts, owner: Caller):
    created = await accounts.create_key(owner, NewKey(name="CI", scopes=[Scope.READ]))
    assert await authenticate(accounts, created.key) == Authentication(
        Caller(
            owner_id(),
            "Owner",
            frozenset({Scope.READ}),
            CallerMethod.API_KEY,
            created.api_key.id,
            is_owner=True,
        )
    )


async def test_use_of_a_key_is_recorded_at_most_once_a_minute(accounts: Accounts, owner: Caller, clock):
    key = (await accounts.create_key(owner, NewKey(name="CI"))).key
    first_use = clock.at
    await authenticate(accounts, key)
    clock.advance(seconds=59)
    await authenticate(accounts, key)
    assert [k.last_used_at for k in await accounts.list_keys(owner.account_id)] == [first_use]
    clock.advance(seconds=1)
    await authenticate(accounts, key)
    assert [k.last_used_at for k in await accounts.list_keys(owner.account_id)] == [clock.at]


async def test_revoked_key_is_rejected_and_stays_in_the_list(accounts: Accounts, owner: Caller, clock):
    created = await accounts.create_key(owner, NewKey(name="CI"))
    clock.advance(minutes=5)
    revoked = await accounts.revoke_key(owner, created.api_key.id)
    assert revoked == created.api_key.model_copy(update={"revoked_at": clock.at})
    assert await accounts.list_keys(owner.account_id) == [revoked]
    with pytest.raises(Unauthenticated, match="'CI' was revoked"):
        await authenticate(accounts, created.key)


async def test_open_connection_ends_when_its_key_is_revoked(accounts: Accounts, owner: Caller):
    created = await accounts.create_key(owner, NewKey(name="CI"))
    caller = (await authenticate(accounts, created.key)).caller
    await accounts.check_credential(caller)
    await accounts.revoke_key(owner, created.api_key.id)
    with pytest.raises(Unauthenticated, match="no longer valid"):
        await accounts.check_credential(caller)


async def test_key_is_revoked_once(accounts: Accounts, owner: Caller):
    created = await accounts.create_key(owner, NewKey(name="CI"))
    await accounts.revoke_key(owner, created.api_key.id)
    with pytest.raises(Conflict, match="is already revoked"):
        await accounts.revoke_key(owner, created.api_key.id)


@pytest.mark.parametrize("key_id", ["nope", "0" * 36, "\x00", "é"])
async def test_unknown_key_cannot_be_revoked(accounts: Accounts, owner: Caller, key_id: str):
    with pytest.raises(NotFound, match="API key not found"):
        await accounts.revoke_key(owner, key_id)


@pytest.mark.parametrize("key", ["forge_unknown", "", "é", "\x00"])
async def test_unknown_key_is_rejected(accounts: Accounts, key: str):
    with pytest.raises(Unauthenticated, match="Unknown API key"):
        await authenticate(accounts, key)


@pytest.mark.parametrize(
    ("own", "wanted", "allowed"),
    [
        (Scope.READ, [Scope.READ], True),
        (Scope.READ, [Scope.WRITE], False),
        (Scope.WRITE, [Scope.READ, Scope.WRITE], True),
        (Scope.WRITE, [Scope.READ, Scope.ADMIN], False),
        (Scope.ADMIN, [Scope.ADMIN], True),
    ],
)
async def test_key_cannot_create_or_revoke_keys_with_more_scopes(
    accounts: Accounts, owner: Caller, own: Scope, wanted: list[Scope], allowed: bool
):
    existing = (await accounts.create_key(owner, NewKey(name="other", scopes=wanted))).api_key
    caller = caller_with(own)
    if allowed:
        assert (await accounts.create_key(caller, NewKey(name="new", scopes=wanted))).api_key.scopes == wanted
        assert (await accounts.revoke_key(caller, existing.id)).id == existing.id
        return
    with pytest.raises(Denied, match="needs the scope"):
        await accounts.create_key(caller, NewKey(name="new", scopes=wanted))
    with pytest.raises(Denied, match="needs the scope"):
        await accounts.revoke_key(caller, existing.id)
    assert await accounts.list_keys(owner.account_id) == [existing]


async def test_start_replaces_the_local_key_of_its_machine(accounts: Accounts):
    first = await accounts.replace_local_key("laptop:/home/ada/.forge")
    other = await accounts.replace_local_key("laptop:/srv/forge")
    second = await accounts.replace_local_key("laptop:/home/ada/.forge")
    assert (await authenticate(accounts, second)).caller.scopes == {Scope.ADMIN}
    assert (await authenticate(accounts, other)).caller.scopes == {Scope.ADMIN}
    with pytest.raises(Unauthenticated, match="Unknown API key"):
        await authenticate(accounts, first)


async def test_local_keys_are_not_listed(accounts: Accounts, owner: Caller, rows):
    await accounts.replace_local_key("laptop:/home/ada/.forge")
    [row] = await rows(api_keys)
    assert await accounts.list_keys(owner.account_id) == []
    with pytest.raises(NotFound, match="API key not found"):
        await accounts.revoke_key(owner, row["id"])


async def test_local_key_can_be_created_before_the_owner(
    store: Store, vaults: Vault, vault_key: SecretBytes, address: OwnAddress
):
    accounts = Accounts(store, vaults, address, BearerTokens(vault_key), session_days=30)
    assert (await accounts.replace_local_key("laptop")).startswith("forge_")
