"""Whether settings can become a bot: what a client sends is checked where it is used, whoever sent it."""

from collections.abc import Iterable

from forge.bots.models import Category
from forge.bots.slugs import slug_of
from forge.errors import Invalid
from forge.interview.assembly.stock import Stock, added_skills
from forge.interview.config import DEFAULT_MODEL, BuilderConfig, ModelConfig
from forge.interview.errors import NotThisMode
from forge.interview.phases import Mode
from forge.interview.state import State
from forge.llm.catalog import Catalog, Target
from forge.llm.errors import ModelUnknown
from forge.llm.models import ProviderKind, Role


class Checking:
    def __init__(self, catalog: Catalog, stock: Stock) -> None:
        self._catalog = catalog
        self._stock = stock

    async def check(self, account_id: str, config: BuilderConfig, state: State) -> BuilderConfig:
        """The settings as they are used: nothing twice."""
        _check_mode(state, config)
        names = [variant.name for variant in config.variants] or [config.name]
        for name in [config.name, *names]:
            slug_of(name)
        _refuse_twice(names, "Two of the bots have the same name: {}.", "variants")
        if config.category not in set(Category):
            known = ", ".join(Category)
            raise Invalid(
                f"There is no category {config.category!r}.", hint=f"Known: {known}.", field="category"
            )
        await self._check_model(account_id, config.model_settings)
        requests = {request.name: request for request in config.skills}
        config = config.model_copy(update={"skills": list(requests.values())})
        await self._stock.check(added_skills(state, config))
        return config

    async def _check_model(self, account_id: str, wanted: ModelConfig) -> None:
        target = await self._target(account_id, wanted.model)
        if target is None:
            return
        if wanted.temperature > 1 and target.provider.kind is ProviderKind.ANTHROPIC:
            raise Invalid(
                f"A temperature of {wanted.temperature:g} is too much for {target.ref}: it takes 1 at most.",
                hint="Lower the temperature, or choose a model that takes more.",
                field="model_config.temperature",
            )
        if wanted.max_tokens >= target.price.context_window:
            raise Invalid(
                f"Answers of {wanted.max_tokens:,} tokens do not fit into {target.ref}, which takes "
                f"{target.price.context_window:,} for question and answer together.",
                hint="Allow fewer tokens, or choose a model that takes more.",
                field="model_config.max_tokens",
            )

    async def _target(self, account_id: str, model: str) -> Target | None:
        """None when nothing is chosen that could be called: a bot may be made before its model is set up."""
        if model != DEFAULT_MODEL:
            return await self._catalog.target(account_id, model)
        try:
            return (await self._catalog.chain(account_id, "", Role.BOT))[0]
        except (ModelUnknown, Invalid):
            return None


def _check_mode(state: State, config: BuilderConfig) -> None:
    """Raises when these settings are for another kind of interview."""
    if not state.mode.makes_bots:
        raise NotThisMode("This interview is about a skill.", hint="Create the skill instead of a bot.")
    if config.variants and state.mode is not Mode.BATCH:
        raise Invalid(
            "Only a batch makes several bots.", hint="Begin an interview of mode batch.", field="variants"
        )


def _refuse_twice(names: Iterable[str], message: str, field: str) -> None:
    seen = set[str]()
    for name in names:
        if name.casefold() in seen:
            raise Invalid(message.format(name), hint="Give each a name of its own.", field=field)
        seen.add(name.casefold())
