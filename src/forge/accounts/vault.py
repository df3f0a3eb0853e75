"""The vault: secrets of each account, encrypted at rest. Values are passed and returned as `SecretStr`.

Each value is encrypted with AES-256-GCM under its own nonce and bound to its account, scope and name: decryption fails
for a row that was changed or moved to another account or name.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import SecretBytes, SecretStr

from forge.accounts import store
from forge.accounts.models import (
    SCOPE_PATTERN,
    SecretView,
    check_secret_name,
    check_secret_value,
    owner_id,
)
from forge.accounts.store import SecretRow
from forge.errors import ConfigError, Conflict, Invalid, NotFound
from forge.kernel.clock import now
from forge.store.database import Store, Tx

CREDENTIAL_NAME = re.compile(r"(?!FORGE_)[A-Z][A-Z0-9_]*_(API_KEY|TOKEN|SECRET)")
"""FORGE_* variables are Forge's own settings and never secrets of the vault."""


def is_secret_name(name: str, known_names: Collection[str] = ()) -> bool:
    return CREDENTIAL_NAME.fullmatch(name) is not None or (
        name in known_names and not name.startswith("FORGE_")
    )


def secrets_of(environment: Mapping[str, str], known_names: Collection[str]) -> dict[str, str]:
    """Return the variables that count as secrets and are not empty."""
    return {name: value for name, value in environment.items() if value and is_secret_name(name, known_names)}


_NONCE_BYTES = 12
_MIN_SHOWN_LENGTH = 8
"""Minimum length for showing the last four characters, which would be half of a shorter secret."""


OWN_SCOPE = "forge:vault"
CANARY = "canary"
RESERVED_SCOPES = "forge:"
"""Scopes of secrets that Forge itself stores: they are not listed, and the API rejects them."""


class Vault:
    """The encrypted secrets of all accounts; `of` returns those of one account."""

    def __init__(
        self,
        store: Store,
        key: SecretBytes,
        *,
        environment: Mapping[str, str],
        known_names: Collection[str] = (),
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.database = store
        self._cipher = AESGCM(key.get_secret_value())
        self._environment = secrets_of(environment, known_names)
        self._known_names = known_names
        self._clock = clock

    async def check_key(self) -> None:
        """Check at startup that the key belongs to this database, with a canary that the first key encrypted."""
        async with self.database.begin() as tx:
            await store.insert_secret_once(tx, self.encrypt("", CANARY, OWN_SCOPE, CANARY))
            found = await store.find_secrets(tx, "", CANARY, {OWN_SCOPE})
        try:
            self.decrypt(found[OWN_SCOPE])
        except Conflict as error:
            raise ConfigError(
                ["The vault key does not match the secrets in this database."],
                hint="Restore the vault.key that belongs to it, or set FORGE_VAULT_KEY_FILE=/path/to/vault.key. If it "
                "is lost: forge backup FILE, then forge restore FILE --replace --without-secrets",
            ) from error

    def of(self, account_id: str) -> "AccountVault":
        """Return the secrets of an account. The server's environment belongs to the owner alone."""
        is_owner = account_id == owner_id()
        return AccountVault(
            self, account_id, self._environment if is_owner else {}, self._known_names if is_owner else ()
        )

    async def resolve(self, account_id: str, name: str, scope: str = "") -> SecretStr:
        return await self.of(account_id).resolve(name, scope)

    def seal(self, purpose: str, value: str) -> bytes:
        """Encrypt a value that is stored elsewhere; `unseal` needs the same purpose."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, value.encode(), f"forge-sealed\x00{purpose}".encode())

    def unseal(self, purpose: str, sealed: bytes) -> SecretStr:
        nonce, ciphertext = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            value = self._cipher.decrypt(nonce, ciphertext, f"forge-sealed\x00{purpose}".encode())
        except (InvalidTag, ValueError):
            raise Conflict(
                f"The vault key cannot decrypt the stored {purpose}.",
                hint="Every server on this database needs the same vault key (FORGE_VAULT_KEY_FILE).",
            ) from None
        return SecretStr(value.decode())

    def encrypt(self, account_id: str, name: str, scope: str, value: str) -> SecretRow:
        nonce = os.urandom(_NONCE_BYTES)
        return SecretRow(
            account_id=account_id,
            scope=scope,
            name=name,
            nonce=nonce,
            ciphertext=self._cipher.encrypt(nonce, value.encode(), _associated_data(account_id, name, scope)),
            last_four=_last_four(value),
            updated_at=self._clock(),
        )

    def decrypt(self, row: SecretRow) -> SecretStr:
        bound = _associated_data(row.account_id, row.name, row.scope)
        try:
            value = self._cipher.decrypt(row.nonce, row.ciphertext, bound)
        except (InvalidTag, ValueError):
            raise Conflict(
                f"The vault key cannot decrypt the secret {_display_name(row.name, row.scope)}.",
                hint="Every server on this database needs the key the secret was encrypted with "
                "(FORGE_VAULT_KEY_FILE). If that key is lost, set the secret again.",
            ) from None
        return SecretStr(value.decode())


class AccountVault:
    """Looks secrets up in the environment, then in the given scope, then among those the account shares with all its bots."""

    def __init__(
        self, vault: Vault, account_id: str, environment: Mapping[str, str], known_names: Collection[str]
    ) -> None:
        self._vault = vault
        self._account_id = account_id
        self._environment = environment
        self._known_names = known_names

    async def set(self, name: str, value: SecretStr, scope: str = "") -> SecretView:
        _check_name_and_scope(name, scope)
        async with self._vault.database.begin() as tx:
            return await self.put(tx, name, value, scope)

    async def put(self, tx: Tx, name: str, value: SecretStr, scope: str) -> SecretView:
        """Store a secret in a transaction, in any scope."""
        check_secret_value(value.get_secret_value())
        row = self._vault.encrypt(self._account_id, name, scope, value.get_secret_value())
        await store.upsert_secret(tx, row)
        return row.view()

    async def list(self, scope: str | None = None) -> Sequence[SecretView]:
        """List stored secrets and well-known names in the environment; of one scope, or of all."""
        async with self._vault.database.read() as tx:
            rows = await store.list_secrets(tx, self._account_id, scope)
        views = [row.view() for row in rows if not row.scope.startswith(RESERVED_SCOPES)]
        if not scope:
            views.extend(self._from_environment())
        return sorted(views, key=lambda view: (view.name, view.scope, view.source))

    async def remove(self, name: str, scope: str = "") -> SecretView:
        _check_name_and_scope(name, scope)
        async with self._vault.database.begin() as tx:
            row = await store.delete_secret(tx, self._account_id, name, scope)
        if row is None:
            raise NotFound(
                f"There is no secret {_display_name(name, scope)}.", hint="List them: forge secrets list"
            )
        return row.view()

    async def resolve(self, name: str, scope: str = "") -> SecretStr:
        _check_name_and_scope(name, scope)
        if value := self._environment.get(name):
            return SecretStr(value)
        row = await self._find(name, scope)
        if row is None:
            raise NotFound(f"The secret {_display_name(name, scope)} is not set.", hint=self._set_hint(name))
        return self._vault.decrypt(row)

    async def reveal(self, name: str, scope: str) -> SecretStr | None:
        """Return a secret that Forge itself stored in one of its reserved scopes."""
        async with self._vault.database.read() as tx:
            found = await store.find_secrets(tx, self._account_id, name, {scope})
        return self._vault.decrypt(found[scope]) if scope in found else None

    async def discard(self, tx: Tx, name: str, scope: str) -> None:
        """Delete a secret from one of Forge's reserved scopes, if it is there."""
        await store.delete_secret(tx, self._account_id, name, scope)

    async def find(self, name: str, scope: str = "") -> SecretView | None:
        """Return the public data of the secret that `resolve` would decrypt, or None."""
        _check_name_and_scope(name, scope)
        if value := self._environment.get(name):
            return _view_of_environment(name, value)
        row = await self._find(name, scope)
        return row.view() if row else None

    async def _find(self, name: str, scope: str) -> SecretRow | None:
        async with self._vault.database.read() as tx:
            found = await store.find_secrets(tx, self._account_id, name, {scope, ""})
        return found.get(scope) or found.get("")

    def _set_hint(self, name: str) -> str:
        if self._account_id != owner_id() or not is_secret_name(name, self._known_names):
            return f"Set it: forge secrets set {name}"
        return f"Set it (forge secrets set {name}), or start the server with {name} in its environment."

    def _from_environment(self) -> Iterator[SecretView]:
        return (
            _view_of_environment(name, value)
            for name in self._known_names
            if (value := self._environment.get(name))
        )


async def forget_secrets(tx: Tx, scope: str) -> None:
    """Delete all secrets of a scope, in the transaction that deletes its owner."""
    await store.delete_secrets(tx, scope)


def _view_of_environment(name: str, value: str) -> SecretView:
    return SecretView(name=name, scope="", last_four=_last_four(value), updated_at=None, source="environment")


def _check_name_and_scope(name: str, scope: str) -> None:
    check_secret_name(name)
    if scope.startswith(RESERVED_SCOPES) or not re.fullmatch(SCOPE_PATTERN, scope):
        raise Invalid("The scope of a secret must have the form bot:ID, or be omitted.", field="scope")


def _associated_data(account_id: str, name: str, scope: str) -> bytes:
    """Return what a ciphertext is bound to. The first releases had only the owner's secrets, and bound no account."""
    account = "" if account_id == owner_id() else account_id
    return "\x00".join(["forge-secret", *([account] if account else []), scope, name]).encode()


def _last_four(value: str) -> str:
    shown = value[-4:] if len(value) >= _MIN_SHOWN_LENGTH else ""
    return (
        shown if shown.isprintable() else ""
    )  # line breaks would spoil the output, and PostgreSQL rejects NUL


def _display_name(name: str, scope: str) -> str:
    return f"{name} of {scope}" if scope else name
