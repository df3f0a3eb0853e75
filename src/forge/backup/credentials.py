"""Find and remove what grants access in an unpacked backup: API keys, sign-ins, secrets, signing keys and external folders.

Whoever creates an archive chooses them, so they are only restored from a trusted one. They are read from the contents, because
the manifest can say anything.
"""

from pathlib import Path

from pydantic import BaseModel

from forge.accounts.vault import OWN_SCOPE
from forge.backup.archived_database import ArchivedDatabase
from forge.backup.layout import DATA, VAULT_KEY
from forge.kernel.tree_removal import remove_tree

SECRETS, API_KEYS, SESSIONS, LOGIN_LINKS = "secrets", "api_keys", "sessions", "login_links"
WORKSPACES = "workspaces"
CONTENTS = {
    "bots": "bots",
    "workflows": "workflows",
    "workflow_triggers": "triggers",
    "skill_grants": "skill permissions",
    "model_providers": "model providers",
}
"""Tables, and what their rows are called."""
SIGNING = Path(DATA) / "audit"
"""The key that signs evidence, and the keys whose signatures count."""


class Credentials(BaseModel):
    api_keys: list[str] = []
    sign_ins: int = 0
    """Browser sessions and one-time login links."""
    secrets: list[str] = []
    has_vault_key: bool = False
    has_signing_keys: bool = False
    folders: list[str] = []
    """Folders outside the data directory, in which workspaces read and write."""

    def describe(self) -> str:
        """Return a list in words; empty if there are none."""
        parts = [
            _counted(self.api_keys, "API key"),
            f"{self.sign_ins} browser {'session' if self.sign_ins == 1 else 'sessions'}"
            if self.sign_ins
            else "",
            _counted(self.secrets, "secret"),
            "the vault key" if self.has_vault_key else "",
            "the key that signs audit evidence" if self.has_signing_keys else "",
            _counted(self.folders, "adopted folder"),
        ]
        return ", ".join(part for part in parts if part)


def find_credentials(database: ArchivedDatabase, staging: Path) -> Credentials:
    keys = database.rows(API_KEYS, ["name", "revoked_at"])
    sign_ins = len(database.rows(SESSIONS, ["id"])) + len(database.rows(LOGIN_LINKS, ["token_hash"]))
    return Credentials(
        api_keys=[str(name) for name, revoked_at in keys if revoked_at is None],
        sign_ins=sign_ins,
        secrets=[
            f"{name} of {scope}" if scope else str(name)
            for name, scope in database.rows(SECRETS, ["name", "scope"])
            if scope != OWN_SCOPE
        ],
        has_vault_key=(staging / VAULT_KEY).exists(),
        has_signing_keys=(staging / SIGNING).exists(),
        folders=[path for (path,) in database.rows(WORKSPACES, ["path"]) if path is not None],
    )


def count_contents(database: ArchivedDatabase) -> dict[str, int]:
    """Count what acts on its own, or on behalf of the account, once it is restored."""
    return {table: len(database.rows(table, ["account_id"])) for table in CONTENTS}


def remove_secrets(database: ArchivedDatabase, staging: Path) -> None:
    """Remove the secrets and the key they are encrypted with."""
    database.delete(SECRETS)
    (staging / VAULT_KEY).unlink(missing_ok=True)


def remove_credentials(database: ArchivedDatabase, staging: Path) -> None:
    """Remove everything that grants access."""
    remove_secrets(database, staging)
    for table in (API_KEYS, SESSIONS, LOGIN_LINKS):
        database.delete(table)
    database.delete(WORKSPACES, unless_null="path")
    if (staging / SIGNING).exists():
        remove_tree(staging / SIGNING)


def _counted(names: list[str], noun: str) -> str:
    if not names:
        return ""
    return f"{len(names)} {noun}{'' if len(names) == 1 else 's'} ({', '.join(names)})"
