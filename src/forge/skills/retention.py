"""Deletes what is old enough: invocations, as long as finished runs are kept, and what killed trials have left."""

import asyncio
import logging
import shutil
from datetime import timedelta
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from forge.kernel.clock import now
from forge.skills import store
from forge.store.engine import Store

log = logging.getLogger(__name__)

EVERY_S = 3600.0
NOBODY = "nobody-"
"""What is tried out is run on behalf of an account that begins so."""
LEFT = timedelta(hours=1)
"""No trial takes as long."""


async def keep_tidy(database: Store, files_dir: Path, keep_days: int) -> None:
    """Runs until cancelled. 0 days keeps all invocations."""
    while True:
        try:
            await asyncio.to_thread(_remove_left, files_dir)
            async with database.begin() as tx:
                await store.delete_left(tx, NOBODY, now() - LEFT)
                if keep_days:
                    await store.delete_runs_before(tx, now() - timedelta(days=keep_days))
        except (SQLAlchemyError, OSError):
            log.exception("cannot delete old invocations of skills; trying again later")
        await asyncio.sleep(EVERY_S)


def _remove_left(files_dir: Path) -> None:
    if files_dir.is_dir():
        for folder in files_dir.glob(f"{NOBODY}*"):
            if now().timestamp() - folder.stat().st_mtime > LEFT.total_seconds():
                shutil.rmtree(folder, ignore_errors=True)
