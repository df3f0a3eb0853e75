"""What a manifest tells of a database, whichever kind it is of."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from forge.accounts.vault import OWN_SCOPE
from forge.backup.models import DatabaseCopy, TableCopy

_REVISION = "SELECT version_num FROM alembic_version"
_SECRETS = (
    "SELECT CASE scope WHEN '' THEN name ELSE name || ' of ' || scope END FROM secrets "  # noqa: S608  (our own)
    f"WHERE scope <> '{OWN_SCOPE}' ORDER BY scope, name"
)
_OUTSIDE = "SELECT path FROM workspaces WHERE path IS NOT NULL ORDER BY 1"

Ask = Callable[[str], list[Any]]
"""The first column of what a query finds."""


def describe(
    kind: Literal["sqlite", "postgresql"],
    ask: Ask,
    names: Collection[str],
    *,
    engine: str | None,
    tables: Sequence[TableCopy] = (),
) -> DatabaseCopy:
    """`names` are those of Forge's own tables, `engine` is where the run engine keeps its version."""
    return DatabaseCopy(
        kind=kind,
        revision=ask(_REVISION)[0],
        engine_revision=next(iter(ask(f"SELECT version FROM {engine}")), None) if engine else None,  # noqa: S608
        tables=list(tables),
        secrets=ask(_SECRETS),
        outside=ask(_OUTSIDE) if "workspaces" in names else [],
    )
