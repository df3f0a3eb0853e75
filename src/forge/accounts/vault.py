"""Secrets, encrypted at rest. Values go in and come out as `SecretStr`; between, there is only ciphertext.

Each value is sealed with AES-256-GCM under a nonce of its own and bound to its scope and name, so a row that was
changed, or moved to another name, does not open.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import SecretBytes, SecretStr

from forge.accounts import store
from forge.accounts.environment import is_secret_name, secrets_of
from forge.accounts.models import SCOPE_PATTERN, SecretView, check_secret_name, check_secret_value
from forge.accounts.store import SecretRow
from forge.errors import ConfigError, Conflict, Invalid, NotFound
from forge.kernel.clock import now
from forge.store.engine import Store, Tx

_NONCE_BYTES = 12
_SHOWN_FROM = 8
"""Shorter values show none of their characters: four would be half of the secret."""


OWN_SCOPE = "forge:vault"
CANARY = "canary"


class Vault:
    """Looks in the environment first (see environment.py), then among the scope's secrets, then among everyone's."""

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
        """At the start: is this the key of this database? A canary, sealed by the first one, tells."""
        async with self._store.begin() as tx:
            await store.insert_secret_once(tx, self._seal(CANARY, OWN_SCOPE, CANARY))
            found = await store.find_secrets(tx, CANARY, {OWN_SCOPE})
        try:
            self._open(found[OWN_SCOPE])
        except Conflict as error:
            raise ConfigError(
                ["The vault key is not the one the secrets of this database were saved with."],
                hint="Put back the vault.key that belongs to it, or name it: FORGE_VAULT_KEY_FILE=/path/to/vault.key. If it "
                "is lost: forge backup FILE, then forge restore FILE --replace --without-secrets",
            ) from error

    async def set(self, name: str, value: SecretStr, scope: str = "") -> SecretView:
        _check_place(name, scope)
        check_secret_value(value.get_secret_value())
        row = self._seal(name, scope, value.get_secret_value())
        async with self._store.begin() as tx:
            await store.upsert_secret(tx, row)
        return row.view()

    async def list(self, scope: str | None = None) -> Sequence[SecretView]:
        """What is saved, and which well-known names the environment has; all scopes unless one is named."""
        async with self._store.read() as tx:
            rows = await store.list_secrets(tx, scope)
        views = [row.view() for row in rows if row.scope != OWN_SCOPE]
        if not scope:
            views.extend(self._from_environment())
        return sorted(views, key=lambda view: (view.name, view.scope, view.source))

    async def remove(self, name: str, scope: str = "") -> SecretView:
        _check_place(name, scope)
        async with self._store.begin() as tx:
            row = await store.delete_secret(tx, name, scope)
        if row is None:
            raise NotFound(
                f"There is no secret {_described(name, scope)}.", hint="List them: forge secrets list"
            )
        return row.view()

    async def resolve(self, name: str, scope: str = "") -> SecretStr:
        _check_place(name, scope)
        if value := self._environment.get(name):
            return SecretStr(value)
        row = await self._find(name, scope)
        if row is None:
            raise NotFound(f"The secret {_described(name, scope)} is not set.", hint=self._how_to_set(name))
        return self._open(row)

    async def find(self, name: str, scope: str = "") -> SecretView | None:
        """What `resolve` would open, as it can be shown; None where it would find nothing."""
        _check_place(name, scope)
        if value := self._environment.get(name):
            return _view_of_environment(name, value)
        row = await self._find(name, scope)
        return row.view() if row else None

    async def _find(self, name: str, scope: str) -> SecretRow | None:
        async with self._store.read() as tx:
            found = await store.find_secrets(tx, name, {scope, ""})
        return found.get(scope) or found.get("")

    def _how_to_set(self, name: str) -> str:
        if not is_secret_name(name, self._known_names):
            return f"Set it: forge secrets set {name}"
        return f"Set it (forge secrets set {name}), or start the server with {name} in its environment."

    def _seal(self, name: str, scope: str, value: str) -> SecretRow:
        nonce = os.urandom(_NONCE_BYTES)
        return SecretRow(
            scope=scope,
            name=name,
            nonce=nonce,
            ciphertext=self._cipher.encrypt(nonce, value.encode(), _binding(name, scope)),
            last_four=_last_four(value),
            updated_at=self._clock(),
        )

    def _open(self, row: SecretRow) -> SecretStr:
        try:
            value = self._cipher.decrypt(row.nonce, row.ciphertext, _binding(row.name, row.scope))
        except (InvalidTag, ValueError):
            raise Conflict(
                f"The vault key does not fit the secret {_described(row.name, row.scope)}.",
                hint="Every server on this database needs the key the secret was saved with "
                "(FORGE_VAULT_KEY_FILE); if that key is lost, set the secret again.",
            ) from None
        return SecretStr(value.decode())

    def _from_environment(self) -> Iterator[SecretView]:
        return (
            _view_of_environment(name, value)
            for name in self._known_names
            if (value := self._environment.get(name))
        )


async def forget_secrets(tx: Tx, scope: str) -> None:
    """Of one who is gone for good, in the transaction that ends it."""
    await store.delete_secrets(tx, scope)


def _view_of_environment(name: str, value: str) -> SecretView:
    return SecretView(name=name, scope="", last_four=_last_four(value), updated_at=None, source="environment")


def _check_place(name: str, scope: str) -> None:
    check_secret_name(name)
    if scope == OWN_SCOPE or not re.fullmatch(SCOPE_PATTERN, scope):
        raise Invalid("A secret's scope looks like bot:ID, or is left out.", field="scope")


def _binding(name: str, scope: str) -> bytes:
    return f"forge-secret\x00{scope}\x00{name}".encode()


def _last_four(value: str) -> str:
    shown = value[-4:] if len(value) >= _SHOWN_FROM else ""
    return shown if shown.isprintable() else ""  # a line break helps nobody, and PostgreSQL refuses a NUL


def _described(name: str, scope: str) -> str:
    return f"{name} of {scope}" if scope else name
