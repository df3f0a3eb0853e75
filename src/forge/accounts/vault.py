"""The vault: secrets encrypted at rest. Values are passed and returned as `SecretStr`.

Each value is encrypted with AES-256-GCM under its own nonce and bound to its scope and name: decryption fails for a
row that was changed or moved to another name.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import SecretBytes, SecretStr

from forge.accounts import store
from forge.accounts.models import SCOPE_PATTERN, SecretView, check_secret_name, check_secret_value
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


class Vault:
    """Looks secrets up in the environment, then in the given scope, then among those shared by all."""

    def __init__(
        self,
        store: Store,
        key: SecretBytes,
        *,
        environment: Mapping[str, str],
        known_names: Collection[str] = (),
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._store = store
        self._cipher = AESGCM(key.get_secret_value())
        self._environment = secrets_of(environment, known_names)
        self._known_names = known_names
        self._clock = clock

    async def check_key(self) -> None:
        """Check at startup that the key belongs to this database, with a canary that the first key encrypted."""
        async with self._store.begin() as tx:
            await store.insert_secret_once(tx, self._encrypt(CANARY, OWN_SCOPE, CANARY))
            found = await store.find_secrets(tx, CANARY, {OWN_SCOPE})
        try:
            self._decrypt(found[OWN_SCOPE])
        except Conflict as error:
            raise ConfigError(
                ["The vault key does not match the secrets in this database."],
                hint="Restore the vault.key that belongs to it, or set FORGE_VAULT_KEY_FILE=/path/to/vault.key. If it "
                "is lost: forge backup FILE, then forge restore FILE --replace --without-secrets",
            ) from error

    async def set(self, name: str, value: SecretStr, scope: str = "") -> SecretView:
        _check_name_and_scope(name, scope)
        check_secret_value(value.get_secret_value())
        row = self._encrypt(name, scope, value.get_secret_value())
        async with self._store.begin() as tx:
            await store.upsert_secret(tx, row)
        return row.view()

    async def list(self, scope: str | None = None) -> Sequence[SecretView]:
        """List stored secrets and well-known names in the environment; of one scope, or of all."""
        async with self._store.read() as tx:
            rows = await store.list_secrets(tx, scope)
        views = [row.view() for row in rows if row.scope != OWN_SCOPE]
        if not scope:
            views.extend(self._from_environment())
        return sorted(views, key=lambda view: (view.name, view.scope, view.source))

    async def remove(self, name: str, scope: str = "") -> SecretView:
        _check_name_and_scope(name, scope)
        async with self._store.begin() as tx:
            row = await store.delete_secret(tx, name, scope)
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
        return self._decrypt(row)

    async def find(self, name: str, scope: str = "") -> SecretView | None:
        """Return the public data of the secret that `resolve` would decrypt, or None."""
        _check_name_and_scope(name, scope)
        if value := self._environment.get(name):
            return _view_of_environment(name, value)
        row = await self._find(name, scope)
        return row.view() if row else None

    async def _find(self, name: str, scope: str) -> SecretRow | None:
        async with self._store.read() as tx:
            found = await store.find_secrets(tx, name, {scope, ""})
        return found.get(scope) or found.get("")

    def _set_hint(self, name: str) -> str:
        if not is_secret_name(name, self._known_names):
            return f"Set it: forge secrets set {name}"
        return f"Set it (forge secrets set {name}), or start the server with {name} in its environment."

    def _encrypt(self, name: str, scope: str, value: str) -> SecretRow:
        nonce = os.urandom(_NONCE_BYTES)
        return SecretRow(
            scope=scope,
            name=name,
            nonce=nonce,
            ciphertext=self._cipher.encrypt(nonce, value.encode(), _associated_data(name, scope)),
            last_four=_last_four(value),
            updated_at=self._clock(),
        )

    def _decrypt(self, row: SecretRow) -> SecretStr:
        try:
            value = self._cipher.decrypt(row.nonce, row.ciphertext, _associated_data(row.name, row.scope))
        except (InvalidTag, ValueError):
            raise Conflict(
                f"The vault key cannot decrypt the secret {_display_name(row.name, row.scope)}.",
                hint="Every server on this database needs the key the secret was encrypted with "
                "(FORGE_VAULT_KEY_FILE). If that key is lost, set the secret again.",
            ) from None
        return SecretStr(value.decode())

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
    if scope == OWN_SCOPE or not re.fullmatch(SCOPE_PATTERN, scope):
        raise Invalid("The scope of a secret must have the form bot:ID, or be omitted.", field="scope")


def _associated_data(name: str, scope: str) -> bytes:
    return f"forge-secret\x00{scope}\x00{name}".encode()


def _last_four(value: str) -> str:
    shown = value[-4:] if len(value) >= _MIN_SHOWN_LENGTH else ""
    return (
        shown if shown.isprintable() else ""
    )  # line breaks would spoil the output, and PostgreSQL rejects NUL


def _display_name(name: str, scope: str) -> str:
    return f"{name} of {scope}" if scope else name
