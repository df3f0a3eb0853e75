"""Cleanup of old skill runs, stored values and trial folders."""

import asyncio
import os
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa
from tests.support.timeouts import PATIENCE_S

from forge.kernel.background import in_background
from forge.kernel.clock import now
from forge.skills import store as rows
from forge.skills.component import clean_up
from forge.skills.execution import RunEnd
from forge.skills.invocations.runner import TRIAL_ACCOUNT_PREFIX
from forge.skills.models import SkillKind, Tier
from forge.skills.store import ValueOwner
from forge.skills.tables import skill_kv
from forge.skills.views import SkillRun
from forge.store.database import Store


def skill_run(run_id: str, days: int) -> SkillRun:
    return SkillRun(
        id=run_id,
        skill="counts",
        version="1",
        folder_hash="0",
        kind=SkillKind.SCRIPT,
        tier=Tier.UNTRUSTED,
        purpose="api",
        end=RunEnd.DONE,
        input_hash="0",
        duration_ms=1,
        at=now() - timedelta(days=days),
    )


async def test_old_runs_and_data_of_killed_trials_are_deleted(store: Store, tmp_path: Path):
    old = tmp_path / f"{TRIAL_ACCOUNT_PREFIX}1"
    fresh = tmp_path / f"{TRIAL_ACCOUNT_PREFIX}2"
    own = tmp_path / "somebody"
    for folder in (old, fresh, own):
        (folder / "counts").mkdir(parents=True)
    for folder in (old, own):
        os.utime(folder, (1, 1))
    async with store.begin() as tx:
        await rows.insert_run(tx, "me", skill_run("old", 91))
        await rows.insert_run(tx, "me", skill_run("new", 89))
        for account in (f"{TRIAL_ACCOUNT_PREFIX}1", f"{TRIAL_ACCOUNT_PREFIX}2", "me"):
            await rows.upsert_value(tx, ValueOwner(account, "counts"), "n", "1")
        early = now() - timedelta(hours=2)
        is_early = skill_kv.c.account_id.in_([f"{TRIAL_ACCOUNT_PREFIX}1", "me"])
        await tx.execute(sa.update(skill_kv).where(is_early).values(changed_at=early))
    async with in_background(clean_up(store, tmp_path, 90), "cleanup"):
        async with asyncio.timeout(PATIENCE_S):
            while old.exists() or await _runs(store) != ["new"]:
                await asyncio.sleep(0.02)
    assert (fresh.exists(), own.exists()) == (True, True)
    async with store.read() as tx:
        account_ids = (await tx.execute(sa.select(skill_kv.c.account_id))).scalars()
        assert sorted(account_ids) == ["me", f"{TRIAL_ACCOUNT_PREFIX}2"]


async def _runs(database: Store) -> list[str]:
    async with database.read() as tx:
        return [run.id for run in await rows.list_runs(tx, "me", "counts", None, 10)]
