"""Budgets: the worst-case cost of each call is reserved before it starts and settled when it ends.

A call is recorded when it is reserved. If its process dies, the next attempt of the same step finds it open and
settles it at its worst-case cost: the actual cost is unknown, and budgets must not be exceeded.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.llm import store
from forge.llm.errors import BudgetExceeded
from forge.llm.models import MICROS, Budget, CallStatus, Role, Shortfall, Spent, Usage, Used
from forge.llm.store import OpenCall, Settlement
from forge.store.database import Store, Tx, survives_outage

log = logging.getLogger(__name__)

ABANDONED_AFTER = timedelta(hours=3)
"""Longer than any call takes."""


@dataclass(frozen=True)
class Spender:
    """The account, run and scope charged for a call. `key` is the same for each repetition of the call."""

    account_id: str
    key: str
    run_id: str | None = None
    scope: str = ""


@dataclass(frozen=True)
class BudgetLimits:
    """Default budgets, in dollars."""

    run_usd: float
    day_usd: float
    server_usd: float


@dataclass(frozen=True)
class CallEstimate:
    """A call that is about to be made, with its worst-case cost."""

    role: Role
    provider: str
    model: str
    prompt_hash: str
    worst_case_micros: int
    is_shared: bool = False
    """Whether the owner of the server pays for it."""


@dataclass(frozen=True)
class Bill:
    model: str
    """The last model that was called."""
    usage: Usage
    cost_micros: int
    latency_ms: int


class Budgets:
    def __init__(self, database: Store, limits: BudgetLimits, *, clock: Callable[[], datetime] = now) -> None:
        self._database = database
        self._limits = limits
        self._clock = clock

    @survives_outage
    async def reserve(self, spender: Spender, order: CallEstimate) -> str:
        """Reserve the worst-case cost and return the id of the call. Raise `BudgetExceeded` without any change."""
        call_id = new_id()
        amount = order.worst_case_micros
        async with self._database.begin() as tx:
            await self._write_off(tx, spender.key)
            limits = await self._limits_of(tx, spender, order.provider if order.is_shared else None)
            for budget, (key, limit) in limits.items():
                if not await store.reserve(tx, key, amount, limit):
                    ledger = (await store.find_ledgers(tx, [key]))[key]
                    raise BudgetExceeded(
                        Shortfall(
                            budget=budget,
                            ledger=key,
                            spent_micros=ledger.spent_micros + ledger.reserved_micros,
                            limit_micros=limit + ledger.raised_micros,
                            needed_micros=amount,
                        )
                    )
            values = {
                "id": call_id,
                "account_id": spender.account_id,
                "run_id": spender.run_id,
                "step_key": spender.key,
                "scope": spender.scope,
                "role": order.role.value,
                "provider": order.provider,
                "model": order.model,
                "status": CallStatus.OPEN.value,
                "prompt_hash": order.prompt_hash,
                "reserved_micros": amount,
                "ledgers": [key for key, _ in limits.values()],
                "started_at": self._clock(),
            }
            await store.insert_call(tx, values)
        return call_id

    @survives_outage
    async def settle(self, spender: Spender, call_id: str, settlement: Settlement) -> None:
        async with self._database.begin() as tx:
            for call in await store.find_open_calls(tx, step_key=spender.key):
                if call.id == call_id:
                    await self._settle(tx, call, settlement)

    async def raise_limit(self, tx: Tx, ledger: str, by_micros: int) -> None:
        """Raise the limit of a ledger after a user's approval."""
        await store.raise_limit(tx, ledger, by_micros)

    async def write_off_abandoned(self) -> None:
        """Settle abandoned calls: their process died, and their run was cancelled before it continued."""
        before = self._clock() - ABANDONED_AFTER
        async with self._database.begin() as tx:
            found = await store.find_open_calls(tx, before=before)
            for call in found:
                await self._settle(tx, call, _settlement_of_lost_call(call, self._clock()))
        if found:
            log.warning("settled %d abandoned model calls at their worst-case cost", len(found))

    @survives_outage
    async def write_off(self, spender: Spender) -> None:
        """Settle open calls of a spender that will not be repeated after its process died."""
        async with self._database.begin() as tx:
            await self._write_off(tx, spender.key)

    async def bill(self, account_id: str, run_id: str, role: Role) -> Bill:
        """Return the usage and cost of a role's models in a run, including failed calls."""
        async with self._database.read() as tx:
            calls = await store.list_calls(tx, account_id, run_id=run_id)
        own = [call for call in calls if call.role is role]
        return Bill(
            model=f"{own[0].provider}:{own[0].model}" if own else "",
            usage=sum((call.usage for call in own), Usage()),
            cost_micros=sum(call.cost_micros for call in own),
            latency_ms=sum(call.latency_ms or 0 for call in own),
        )

    async def spent(self, account_id: str, shared_providers: Collection[str] = ()) -> list[Spent]:
        """Return the state of all budgets of an account."""
        async with self._database.read() as tx:
            limits: list[tuple[Budget, str | None, str, int]] = [
                (budget, None, key, limit)
                for budget, (key, limit) in (await self._limits_of(tx, Spender(account_id, ""), None)).items()
            ]
            for name in shared_providers:
                key, limit = await self._shared_limit(tx, account_id, name, self._clock())
                limits.append(("shared", name, key, limit))
            ledgers = await store.find_ledgers(tx, [key for *_, key, _ in limits])
        shown = [
            Spent(
                budget=budget,
                provider=provider,
                spent_micros=ledgers[key].spent_micros,
                reserved_micros=ledgers[key].reserved_micros,
                limit_micros=limit + ledgers[key].raised_micros,
            )
            for budget, provider, key, limit in limits
        ]
        run_limit = await self.run_limit_micros(account_id)
        return [Spent(budget="run", spent_micros=0, reserved_micros=0, limit_micros=run_limit), *shown]

    async def run_limit_micros(self, account_id: str) -> int:
        async with self._database.read() as tx:
            own = await store.list_budgets(tx, account_id)
        return own.get("run", _micros(self._limits.run_usd))

    async def _limits_of(
        self, tx: Tx, spender: Spender, shared_provider: str | None
    ) -> dict[Budget, tuple[str, int]]:
        """Return ledger and limit of each budget a call counts against, always in the same order because of the locks."""
        own = await store.list_budgets(tx, spender.account_id)
        today = self._clock()
        found: dict[Budget, tuple[str, int]] = {}
        if spender.run_id is not None:
            found["run"] = (_run_key(spender.run_id), own.get("run", _micros(self._limits.run_usd)))
        day = own.get("day", _micros(self._limits.day_usd))
        found["day"] = (_day_key(spender.account_id, today), day)
        if shared_provider is not None:
            found["shared"] = await self._shared_limit(tx, spender.account_id, shared_provider, today)
        found["server"] = (f"server:{_iso_date(today)}", _micros(self._limits.server_usd))
        return found

    async def _shared_limit(self, tx: Tx, account_id: str, provider: str, at: datetime) -> tuple[str, int]:
        """Return ledger and limit of a share; the limit is 0 if it has just been withdrawn."""
        share = (await store.list_shares(tx)).get(provider)
        return f"shared:{provider}:{account_id}:{_iso_date(at)}", share.day_micros if share else 0

    async def _write_off(self, tx: Tx, step_key: str) -> None:
        """Settle calls this step started before its process died."""
        for call in await store.find_open_calls(tx, step_key=step_key):
            await self._settle(tx, call, _settlement_of_lost_call(call, self._clock()))

    async def _settle(self, tx: Tx, call: OpenCall, settlement: Settlement) -> None:
        if await store.settle_call(tx, call.id, settlement):
            for key in call.ledgers:
                await store.settle_ledger(
                    tx, key, reserved_micros=call.reserved_micros, cost_micros=settlement.cost_micros
                )


async def used_by_scope(tx: Tx, account_id: str, scopes: Collection[str]) -> dict[str, Used]:
    """Return the total usage per scope, such as `bot:<id>`, omitting scopes without calls."""
    return await store.used_by_scope(tx, account_id, scopes)


def _settlement_of_lost_call(call: OpenCall, at: datetime) -> Settlement:
    return Settlement(CallStatus.LOST, Usage(), call.reserved_micros, at, error="process died")


def _micros(dollars: float) -> int:
    return round(dollars * MICROS)


def _iso_date(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()


def _run_key(run_id: str) -> str:
    return f"run:{run_id}"


def _day_key(account_id: str, moment: datetime) -> str:
    return f"day:{account_id}:{_iso_date(moment)}"
