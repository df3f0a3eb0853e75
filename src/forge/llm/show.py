"""How models, prices and calls look in a terminal."""

from collections.abc import Iterable
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forge.kernel.clock import now
from forge.llm.dollars import dollars
from forge.llm.models import (
    ModelCall,
    ModelsView,
    Price,
    ProviderView,
    RoleChoice,
    Spent,
    TestResult,
)
from forge.terminal.output import dot, table, words
from forge.terminal.text import ago, clean, duration

BUDGETS = {"run": "one run", "day": "today", "server": "all accounts today"}


def models_page(view: ModelsView) -> RenderableType:
    parts: list[RenderableType] = [roles_table(view.roles), Text(), providers_table(view.providers)]
    if view.prices:
        parts += [Text(), prices_table(view.prices)]
    return Group(*parts, Text(), budgets_table(view.budgets), *_today(view))


def roles_table(roles: Iterable[RoleChoice]) -> Table:
    rows = table("ROLE", "MODELS", "IN / OUT PER MILLION", "CHOSEN BY", "", wrapped={"MODELS", ""})
    for choice in roles:
        problem = Text.assemble(("● ", "red"), clean(choice.problem)) if choice.problem else Text()
        prices = "\n".join(price_text(price) for price in choice.prices)
        chosen = "the settings" if choice.source == "default" else f"the {choice.source}"
        rows.add_row(choice.role.value, words("\n".join(choice.chain)), prices, chosen, problem)
    return rows


def price_text(price: Price | None) -> str:
    return "unknown" if price is None else f"${price.input:g} / ${price.output:g}"


def providers_table(providers: Iterable[ProviderView]) -> Table:
    rows = table("PROVIDER", "SPEAKS", "ADDRESS", "KEY", wrapped={"ADDRESS"})
    for found in providers:
        address = found.base_url or "its own"
        rows.add_row(words(found.name), found.kind.value, words(address), _key(found))
    return rows


def _key(provider: ProviderView) -> Text:
    if provider.key_name is None:
        return Text("needs none", "bright_black")
    shown = dot("ok" if provider.has_key else "bad")
    state = (
        f"{provider.key_name} ····{provider.last_four}" if provider.has_key else f"set {provider.key_name}"
    )
    return Text.assemble((shown.plain[:2], shown.style), clean(state))


def prices_table(prices: dict[str, Price]) -> Table:
    rows = table("YOUR PRICES", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "WINDOW")
    for model, price in prices.items():
        kinds = (price.input, price.output, price.cache_read, price.cache_write)
        rows.add_row(words(model), *(f"${kind:g}" for kind in kinds), f"{price.context_window:,}")
    return rows


def budgets_table(budgets: Iterable[Spent]) -> Table:
    rows = table("BUDGET", "SPENT", "RESERVED", "LIMIT")
    for budget in budgets:
        spent, reserved = dollars(budget.spent_micros), dollars(budget.reserved_micros)
        is_each = budget.budget == "run"
        rows.add_row(
            BUDGETS[budget.budget],
            "" if is_each else spent,
            "" if is_each else reserved,
            dollars(budget.limit_micros),
        )
    return rows


def _today(view: ModelsView) -> list[RenderableType]:
    if not view.today_by_model:
        return []
    rows = table("TODAY BY MODEL", "SPENT")
    for model, micros in view.today_by_model.items():
        rows.add_row(words(model), dollars(micros))
    return [Text(), rows]


def test_line(result: TestResult) -> Text:
    shown = dot("ok" if result.ok else "bad")
    took = duration(timedelta(milliseconds=result.latency_ms))
    said = result.answer or "(no words)" if result.ok else (result.message or "")
    line = Text.assemble(shown, "  ", (clean(result.model), "bold"), "  ", clean(" ".join(said.split())))
    if result.ok or result.latency_ms:
        line.append(f"  {took}, {dollars(result.cost_micros)}", "bright_black")
    return line.append(f"\nhint: {clean(result.hint)}", "yellow") if result.hint else line


def calls_table(calls: Iterable[ModelCall]) -> Table:
    rows, at = (
        table("WHEN", "MODEL", "ROLE", "IN", "CACHE READ", "CACHE WRITE", "OUT", "COST", "TOOK", "END"),
        now(),
    )
    for call in calls:
        used = call.usage
        rows.add_row(
            ago(call.started_at, at),
            words(f"{call.provider}:{call.model}"),
            call.role.value,
            *(f"{count:,}" for count in (used.input, used.cache_read, used.cache_write, used.output)),
            dollars(call.cost_micros),
            "" if call.latency_ms is None else duration(timedelta(milliseconds=call.latency_ms)),
            _end(call),
        )
    return rows


def _end(call: ModelCall) -> Text:
    if call.error:
        return words(call.error, "red")
    return words(call.stop or call.status, "" if call.stop else "yellow")
