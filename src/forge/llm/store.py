"""SQL for models, ledgers and calls."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from forge.llm.messages import StopReason
from forge.llm.models import CallStatus, ModelCall, Price, Provider, Role, Share, Usage, Used
from forge.llm.tables import (
    ledgers,
    model_budgets,
    model_calls,
    model_prices,
    model_providers,
    model_roles,
    model_shares,
)
from forge.store.database import Tx
from forge.store.pagination import Cursor, newest_first

Chains = dict[tuple[str, Role], list[str]]
"""Models by scope and role."""
# Built once: every call executes them for three ledgers.
_OF_KEY = ledgers.c.key == sa.bindparam("ledger_key")
_AMOUNT = sa.bindparam("amount", type_=sa.BigInteger)
_RESERVE = (
    sa.update(ledgers)
    .where(
        _OF_KEY,
        ledgers.c.spent_micros + ledgers.c.reserved_micros + _AMOUNT
        <= sa.bindparam("most", type_=sa.BigInteger) + ledgers.c.raised_micros,
    )
    .values(reserved_micros=ledgers.c.reserved_micros + _AMOUNT)
)
_SETTLE = (
    sa.update(ledgers)
    .where(_OF_KEY)
    .values(
        reserved_micros=ledgers.c.reserved_micros - sa.bindparam("reserved", type_=sa.BigInteger),
        spent_micros=ledgers.c.spent_micros + sa.bindparam("cost", type_=sa.BigInteger),
    )
)


@dataclass(frozen=True)
class Ledger:
    key: str
    spent_micros: int = 0
    reserved_micros: int = 0
    raised_micros: int = 0


@dataclass(frozen=True)
class OpenCall:
    """A call that has not been settled."""

    id: str
    reserved_micros: int
    ledgers: list[str]


@dataclass(frozen=True)
class Settlement:
    """The end of a call."""

    status: CallStatus
    usage: Usage
    cost_micros: int
    finished_at: datetime
    stop: StopReason | None = None
    first_token_ms: int | None = None
    latency_ms: int | None = None
    error: str | None = None


async def list_providers(tx: Tx, account_id: str) -> list[Provider]:
    found = await tx.execute(
        sa.select(model_providers)
        .where(model_providers.c.account_id == account_id)
        .order_by(model_providers.c.name)
    )
    return [Provider.model_validate(dict(row)) for row in found.mappings()]


async def save_provider(tx: Tx, account_id: str, provider: Provider) -> None:
    values = provider.model_dump(include={"kind", "base_url", "key_name", "server", "parallel"})
    await tx.execute(
        tx.insert(model_providers)
        .values(account_id=account_id, name=provider.name, **values)
        .on_conflict_do_update(index_elements=["account_id", "name"], set_=values)
    )


async def delete_provider(tx: Tx, account_id: str, name: str) -> bool:
    found = await tx.execute(
        sa.delete(model_providers).where(
            model_providers.c.account_id == account_id, model_providers.c.name == name
        )
    )
    return found.rowcount > 0


async def list_shares(tx: Tx) -> dict[str, Share]:
    """Return the shared providers by name."""
    query = sa.select(model_shares.c.provider, model_shares.c.day_micros).order_by(model_shares.c.provider)
    return {
        row.provider: Share(provider=row.provider, day_micros=row.day_micros)
        for row in await tx.execute(query)
    }


async def save_share(tx: Tx, share: Share, at: datetime) -> None:
    await tx.execute(
        tx.insert(model_shares)
        .values(**share.model_dump(), created_at=at)
        .on_conflict_do_update(index_elements=["provider"], set_={"day_micros": share.day_micros})
    )


async def delete_share(tx: Tx, provider: str) -> None:
    await tx.execute(sa.delete(model_shares).where(model_shares.c.provider == provider))


async def list_chains(tx: Tx, account_id: str, scopes: Sequence[str] | None = None) -> Chains:
    """Return the chains of the account (scope "") and its bots, of all scopes or the given ones."""
    query = sa.select(model_roles).where(model_roles.c.account_id == account_id)
    if scopes is not None:
        query = query.where(model_roles.c.scope.in_(scopes))
    found = await tx.execute(query.order_by(model_roles.c.scope, model_roles.c.role))
    return {(row.scope, Role(row.role)): row.chain for row in found}


async def save_chain(tx: Tx, account_id: str, scope: str, role: Role, chain: list[str]) -> None:
    await tx.execute(
        tx.insert(model_roles)
        .values(account_id=account_id, scope=scope, role=role.value, chain=chain)
        .on_conflict_do_update(index_elements=["account_id", "scope", "role"], set_={"chain": chain})
    )


async def delete_chain(tx: Tx, account_id: str, scope: str, role: Role) -> None:
    await tx.execute(
        sa.delete(model_roles).where(
            model_roles.c.account_id == account_id,
            model_roles.c.scope == scope,
            model_roles.c.role == role.value,
        )
    )


async def delete_chains(tx: Tx, scope: str) -> None:
    await tx.execute(sa.delete(model_roles).where(model_roles.c.scope == scope))


async def list_prices(tx: Tx, account_id: str) -> dict[str, Price]:
    found = await tx.execute(
        sa.select(model_prices.c.model, model_prices.c.price).where(model_prices.c.account_id == account_id)
    )
    return {row.model: Price.model_validate(row.price) for row in found}


async def save_price(tx: Tx, account_id: str, model: str, price: Price) -> None:
    values = price.model_dump()
    await tx.execute(
        tx.insert(model_prices)
        .values(account_id=account_id, model=model, price=values)
        .on_conflict_do_update(index_elements=["account_id", "model"], set_={"price": values})
    )


async def delete_price(tx: Tx, account_id: str, model: str) -> bool:
    found = await tx.execute(
        sa.delete(model_prices).where(model_prices.c.account_id == account_id, model_prices.c.model == model)
    )
    return found.rowcount > 0


async def list_budgets(tx: Tx, account_id: str) -> dict[str, int]:
    found = await tx.execute(
        sa.select(model_budgets.c.budget, model_budgets.c.limit_micros).where(
            model_budgets.c.account_id == account_id
        )
    )
    return {row.budget: row.limit_micros for row in found}


async def save_budget(tx: Tx, account_id: str, budget: str, limit_micros: int) -> None:
    await tx.execute(
        tx.insert(model_budgets)
        .values(account_id=account_id, budget=budget, limit_micros=limit_micros)
        .on_conflict_do_update(index_elements=["account_id", "budget"], set_={"limit_micros": limit_micros})
    )


async def find_ledgers(tx: Tx, keys: Sequence[str]) -> dict[str, Ledger]:
    found = await tx.execute(sa.select(ledgers).where(ledgers.c.key.in_(keys)))
    rows = {row["key"]: Ledger(**row) for row in found.mappings()}
    return {key: rows.get(key, Ledger(key)) for key in keys}


async def reserve(tx: Tx, key: str, amount_micros: int, limit_micros: int) -> bool:
    """Reserve an amount of a budget; return False if it exceeds the limit. This is one statement on one row, so that two
    concurrent calls cannot both get the last dollar. Only the first call of a day has to insert the row."""
    parameters = {"ledger_key": key, "amount": amount_micros, "most": limit_micros}
    if (await tx.execute(_RESERVE, parameters)).rowcount:
        return True
    await tx.execute(
        tx.insert(ledgers)
        .values(key=key, spent_micros=0, reserved_micros=0, raised_micros=0)
        .on_conflict_do_nothing()
    )
    return (await tx.execute(_RESERVE, parameters)).rowcount > 0


async def settle_ledger(tx: Tx, key: str, *, reserved_micros: int, cost_micros: int) -> None:
    await tx.execute(_SETTLE, {"ledger_key": key, "reserved": reserved_micros, "cost": cost_micros})


async def raise_limit(tx: Tx, key: str, by_micros: int) -> None:
    await tx.execute(
        tx.insert(ledgers)
        .values(key=key, spent_micros=0, reserved_micros=0, raised_micros=by_micros)
        .on_conflict_do_update(
            index_elements=["key"], set_={"raised_micros": ledgers.c.raised_micros + by_micros}
        )
    )


async def insert_call(tx: Tx, values: Mapping[str, Any]) -> None:
    zeros = dict.fromkeys(("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"), 0)
    await tx.execute(sa.insert(model_calls).values(**zeros, cost_micros=0, **values))


async def find_open_calls(
    tx: Tx, *, step_key: str | None = None, before: datetime | None = None
) -> list[OpenCall]:
    """Find open calls of one step, or from before a time."""
    query = sa.select(model_calls.c.id, model_calls.c.reserved_micros, model_calls.c.ledgers)
    query = query.where(model_calls.c.status == CallStatus.OPEN.value)
    if step_key is not None:
        query = query.where(model_calls.c.step_key == step_key)
    if before is not None:
        query = query.where(model_calls.c.started_at < before)
    return [OpenCall(**row) for row in (await tx.execute(query)).mappings()]


async def settle_call(tx: Tx, call_id: str, settlement: Settlement) -> bool:
    """Settle a call once: return False if it was settled already."""
    found = await tx.execute(
        sa.update(model_calls)
        .where(model_calls.c.id == call_id, model_calls.c.status == CallStatus.OPEN.value)
        .values(
            status=settlement.status.value,
            stop=settlement.stop.value if settlement.stop else None,
            input_tokens=settlement.usage.input,
            output_tokens=settlement.usage.output,
            cache_read_tokens=settlement.usage.cache_read,
            cache_write_tokens=settlement.usage.cache_write,
            cost_micros=settlement.cost_micros,
            first_token_ms=settlement.first_token_ms,
            latency_ms=settlement.latency_ms,
            error=settlement.error,
            finished_at=settlement.finished_at,
        )
    )
    return found.rowcount > 0


async def list_calls(
    tx: Tx,
    account_id: str,
    *,
    run_id: str | None = None,
    cursor: Cursor | None = None,
    limit: int = 100,
) -> list[ModelCall]:
    """Return recorded calls, newest first."""
    query = sa.select(model_calls).where(model_calls.c.account_id == account_id)
    if run_id is not None:
        query = query.where(model_calls.c.run_id == run_id)
    found = await tx.execute(newest_first(query, model_calls.c.started_at, model_calls.c.id, cursor, limit))
    return [_call(dict(row)) for row in found.mappings()]


async def find_calls_of_step(tx: Tx, step_key: str) -> list[ModelCall]:
    """Return the calls of a step in the order they were made."""
    query = sa.select(model_calls).where(model_calls.c.step_key == step_key)
    found = await tx.execute(query.order_by(model_calls.c.started_at, model_calls.c.id))
    return [_call(dict(row)) for row in found.mappings()]


async def spent_by_model(tx: Tx, account_id: str, since: datetime) -> dict[str, int]:
    found = await tx.execute(
        sa.select(
            model_calls.c.provider, model_calls.c.model, sa.func.sum(model_calls.c.cost_micros).label("cost")
        )
        .where(model_calls.c.account_id == account_id, model_calls.c.started_at >= since)
        .group_by(model_calls.c.provider, model_calls.c.model)
    )
    return {f"{row.provider}:{row.model}": int(row.cost) for row in found}


async def used_by_scope(tx: Tx, account_id: str, scopes: Collection[str]) -> dict[str, Used]:
    """Sum up all calls per scope."""
    kinds = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    tokens = sum((model_calls.c[kind] for kind in kinds[1:]), model_calls.c[kinds[0]])
    found = await tx.execute(
        sa.select(
            model_calls.c.scope,
            sa.func.sum(tokens).label("tokens"),
            sa.func.sum(model_calls.c.cost_micros).label("cost"),
        )
        .where(model_calls.c.account_id == account_id, model_calls.c.scope.in_(scopes))
        .group_by(model_calls.c.scope)
    )
    return {row.scope: Used(tokens=int(row.tokens), cost_micros=int(row.cost)) for row in found}


def _call(row: dict[str, Any]) -> ModelCall:
    usage = Usage(
        input=row["input_tokens"],
        output=row["output_tokens"],
        cache_read=row["cache_read_tokens"],
        cache_write=row["cache_write_tokens"],
    )
    return ModelCall(**{name: row[name] for name in ModelCall.model_fields if name != "usage"}, usage=usage)
