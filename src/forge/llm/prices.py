"""Prices of tokens: the table of genai-prices, and prices set by users.

Models without a price cannot be chosen, because their cost could not be limited.
"""

import asyncio
import math
import re
import sys
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from forge.llm.errors import ModelUnknown
from forge.llm.models import MICROS, Price, Provider, ProviderKind, Usage

BYTES_PER_TOKEN = 2.5
"""Lower than the average of any text, so that the estimate is an upper bound."""
DEFAULT_WINDOW = 200_000


NOT_TEXT_MODELS = re.compile(
    r"image|audio|realtime|live|tts|whisper|transcribe|embedding|moderation|^ft:|-ft-|\.ft-"
)
"""Models in the table whose output is not text."""


class PriceTable:
    """The prices of one account: its own, else those of the table."""

    def __init__(self, own: Mapping[str, Price]) -> None:
        self._own = own

    def find(self, provider: Provider, model: str) -> Price | None:
        ref = f"{provider.name}:{model}"
        if (own := self._own.get(ref)) is not None:
            return own
        found = _look_up(provider, model)
        return _as_price(*found) if found else None

    def get(self, provider: Provider, model: str) -> Price:
        price = self.find(provider, model)
        if price is None:
            ref = f"{provider.name}:{model}"
            raise ModelUnknown(
                f"There is no price for {ref}.",
                hint=f"Set it in dollars per million tokens: forge models price {ref} --input 1 --output 5 "
                "(0 and 0 for a local model).",
            )
        return price

    def cost_micros(self, provider: Provider, model: str, usage: Usage) -> int:
        """Return the cost, rounded up so that budgets are not exceeded."""
        price = self.get(provider, model)
        if price.overridden or (found := _look_up(provider, model)) is None:
            return _arithmetic(price, usage)
        from genai_prices import Usage as Counted
        from genai_prices import calc_price

        counted = Counted(
            input_tokens=usage.sent,
            cache_read_tokens=usage.cache_read,
            cache_write_tokens=usage.cache_write,
            output_tokens=usage.output,
        )
        total = calc_price(counted, found[1].id, provider_id=found[0].id).total_price
        return math.ceil(total * MICROS)

    def worst_case_micros(self, provider: Provider, model: str, *, sent: int, max_output: int) -> int:
        """Return the cost without cache hits, with everything written to the cache, and the longest answer."""
        dearest = Usage(cache_write=sent, output=max_output)
        plain = Usage(input=sent, output=max_output)
        return max(self.cost_micros(provider, model, usage) for usage in (dearest, plain))


async def load_price_table() -> None:
    """Load the table in a thread: it takes a second, once."""
    if "genai_prices.data" not in sys.modules:
        await asyncio.to_thread(_snapshot)


def known_models(providers: Iterable[Provider]) -> list[str]:
    """List the models that the table has for these providers, newest names last."""
    tables = {table.id: table for table in _snapshot().providers}
    return [
        f"{provider.name}:{model.id}"
        for provider in providers
        if provider.base_url is None
        for model in tables[_table(provider)].models
        if not NOT_TEXT_MODELS.search(model.id)
    ]


def estimate_tokens(text_bytes: int) -> int:
    return math.ceil(text_bytes / BYTES_PER_TOKEN)


def _arithmetic(price: Price, usage: Usage) -> int:
    """Dollars per million tokens equal millionths of a dollar per token."""
    plain = (price.input, usage.input), (price.output, usage.output)
    cached = (price.cache_read, usage.cache_read), (price.cache_write, usage.cache_write)
    return math.ceil(sum(Decimal(str(dollars)) * tokens for dollars, tokens in (*plain, *cached)))


def _look_up(provider: Provider, model: str) -> tuple[Any, Any] | None:
    """Return the table's provider and model. A custom endpoint never has the price of the public one."""
    if provider.base_url is not None:
        return None
    try:
        return _snapshot().find_provider_model(model, None, _table(provider), None)
    except LookupError:
        return None


def _table(provider: Provider) -> str:
    return "anthropic" if provider.kind is ProviderKind.ANTHROPIC else "openai"


def _snapshot() -> Any:
    from genai_prices.data_snapshot import get_snapshot

    return get_snapshot()


def _as_price(provider: Any, model: Any) -> Price:
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    table = calc_price(Counted(input_tokens=1), model.id, provider_id=provider.id).model_price
    plain = _base(table.input_mtok)
    return Price(
        input=plain,
        output=_base(table.output_mtok),
        cache_read=_base(table.cache_read_mtok, plain),
        cache_write=_base(table.cache_write_mtok, plain),
        context_window=model.context_window or DEFAULT_WINDOW,
    )


def _base(tiers: Any, default: float = 0.0) -> float:
    if tiers is None:
        return default
    return float(getattr(tiers, "base", tiers))
