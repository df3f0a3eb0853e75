"""HTTP routes for models, providers, prices and budgets."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request

from forge.http.caller import Admin, Owner, Reader, Writer
from forge.http.envelope import Envelope, reply, reply_page
from forge.http.parameters import CursorParam, Limit, OptionalLimit
from forge.llm.models import (
    MAX_REF,
    NAME_PATTERN,
    SCOPE_PATTERN,
    ModelCall,
    ModelsView,
    NewBudget,
    NewChain,
    NewPrice,
    NewProbe,
    NewProvider,
    NewShare,
    NewTest,
    OwnBudget,
    Price,
    Provider,
    ProviderProbe,
    ProviderView,
    Role,
    RoleChoice,
    Share,
    Spent,
    TestResult,
)
from forge.llm.service import Models

router = APIRouter(prefix="/api/v1/models", tags=["models"])


def _models(request: Request) -> Models:
    return request.app.state.models


Service = Annotated[Models, Depends(_models)]
ScopeOf = Annotated[
    str, Query(pattern=SCOPE_PATTERN, description="A bot, as `bot:ID`; empty for the account's default.")
]
ModelOf = Annotated[str, Query(max_length=MAX_REF, description="`provider:model`.")]
ProviderName = Annotated[str, Path(pattern=NAME_PATTERN)]


@router.get("")
async def get_models(caller: Reader, models: Service, scope: ScopeOf = "") -> Envelope[ModelsView]:
    """Return providers, the models of each role, custom prices, budgets and today's spending."""
    return reply(await models.view(caller.account_id, scope))


@router.put("/roles/{role}")
async def set_chain(
    caller: Admin, models: Service, role: Role, body: NewChain, scope: ScopeOf = ""
) -> Envelope[RoleChoice]:
    """Set the models of a role, in the order they are tried. A model without a price is rejected (404)."""
    return reply(await models.set_chain(caller.account_id, role, body.chain, scope))


@router.delete("/roles/{role}")
async def reset_chain(
    caller: Admin, models: Service, role: Role, scope: ScopeOf = ""
) -> Envelope[RoleChoice]:
    """Reset the models of a role to the default."""
    return reply(await models.reset_chain(caller.account_id, role, scope))


@router.put("/providers/{name}")
async def save_provider(
    caller: Admin, models: Service, name: ProviderName, body: NewProvider
) -> Envelope[ProviderView]:
    """Add a provider, or change its address or key. Only the owner of the server may set an address."""
    if body.base_url is not None:
        caller.must_be_owner()
    return reply(await models.save_provider(caller.account_id, name, body))


@router.post("/providers/{name}/probe")
async def probe_provider(
    caller: Admin, models: Service, name: ProviderName, body: NewProbe
) -> Envelope[ProviderProbe]:
    """Ask the provider which models it has, and test one of them with three short calls. For a server of local models,
    models without a price get a price of 0 and the context window that the server reports. Problems of the provider are
    returned as `problem`, not as an error of this request.
    """
    return reply(await models.probe(caller.account_id, name, body.model))


@router.delete("/providers/{name}")
async def remove_provider(caller: Admin, models: Service, name: ProviderName) -> Envelope[Provider]:
    """Remove a custom provider that no role uses, or reset a built-in one."""
    return reply(await models.remove_provider(caller.account_id, name))


@router.get("/shares")
async def list_shares(caller: Reader, models: Service, limit: OptionalLimit = None) -> Envelope[list[Share]]:
    """List the providers that the owner of the server shares with the members."""
    return reply((await models.shares())[:limit])


@router.put("/shares/{name}")
async def share_provider(
    caller: Owner, models: Service, name: ProviderName, body: NewShare
) -> Envelope[Share]:
    """Let members use a provider at the owner's expense, each up to a budget per day. Only for the owner."""
    return reply(await models.share(caller.account_id, name, body.day_usd))


@router.delete("/shares/{name}")
async def unshare_provider(caller: Owner, models: Service, name: ProviderName) -> Envelope[Share]:
    return reply(await models.unshare(name))


@router.put("/prices")
async def set_price(caller: Admin, models: Service, model: ModelOf, body: NewPrice) -> Envelope[Price]:
    """Set the price of a model, in dollars per million tokens."""
    return reply(await models.set_price(caller.account_id, model, body))


@router.delete("/prices")
async def remove_price(caller: Admin, models: Service, model: ModelOf) -> Envelope[Price]:
    """Reset the price of a model to that of the table, if there is one."""
    return reply(await models.remove_price(caller.account_id, model))


@router.put("/budgets/{budget}")
async def set_budget(caller: Admin, models: Service, budget: OwnBudget, body: NewBudget) -> Envelope[Spent]:
    """Set the budget of a run, or of the account per day."""
    return reply(await models.set_budget(caller.account_id, budget, body.limit_usd))


@router.post("/test")
async def test_model(caller: Writer, models: Service, body: NewTest) -> Envelope[TestResult]:
    """Make a small test call. Problems of the model are returned with `ok: false`, not as an error of this request."""
    return reply(await models.test(caller.account_id, body.model))


@router.get("/calls")
async def list_calls(
    caller: Reader,
    models: Service,
    cursor: CursorParam,
    run_id: Annotated[str | None, Query(pattern=r"^[A-Za-z0-9-]{1,64}$")] = None,
    limit: Limit = 50,
) -> Envelope[list[ModelCall]]:
    """List requests to providers with tokens, cost and latency, newest first."""
    page = await models.calls(caller.account_id, run_id=run_id, cursor=cursor, limit=limit)
    return reply_page(page)
