"""SQL queries of workspaces."""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from forge.store.database import Tx
from forge.workspace.tables import workspaces


@dataclass(frozen=True)
class WorkspaceRow:
    id: str
    account_id: str
    name: str
    path: str | None
    created_at: datetime


async def insert(tx: Tx, row: WorkspaceRow) -> bool:
    """Insert a workspace; returns False if the account already has one with this name."""
    values = {name: getattr(row, name) for name in WorkspaceRow.__dataclass_fields__}
    statement = tx.insert(workspaces).values(**values).on_conflict_do_nothing().returning(workspaces.c.id)
    return (await tx.execute(statement)).one_or_none() is not None


async def find(tx: Tx, account_id: str, workspace_id: str) -> WorkspaceRow | None:
    row = (await tx.execute(_own(account_id).where(workspaces.c.id == workspace_id))).one_or_none()
    return WorkspaceRow(*row) if row else None


async def exists(tx: Tx, workspace_id: str) -> bool:
    """Return whether a workspace exists in any account."""
    statement = sa.select(workspaces.c.id).where(workspaces.c.id == workspace_id)
    return (await tx.execute(statement)).one_or_none() is not None


async def list_all(tx: Tx, account_id: str) -> list[WorkspaceRow]:
    found = await tx.execute(_own(account_id).order_by(workspaces.c.name))
    return [WorkspaceRow(*row) for row in found]


async def find_path(tx: Tx, path: str) -> str | None:
    """Return the name of the workspace, in any account, that adopted a directory."""
    statement = sa.select(workspaces.c.name).where(workspaces.c.path == path).limit(1)
    return (await tx.execute(statement)).scalar_one_or_none()


async def delete(tx: Tx, account_id: str, workspace_id: str) -> None:
    is_it = (workspaces.c.account_id == account_id, workspaces.c.id == workspace_id)
    await tx.execute(sa.delete(workspaces).where(*is_it))


def _own(account_id: str) -> sa.Select[tuple[str, str, str, str | None, datetime]]:
    columns = [workspaces.c[name] for name in WorkspaceRow.__dataclass_fields__]
    return sa.select(*columns).where(workspaces.c.account_id == account_id)
