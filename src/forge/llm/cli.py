"""`forge models`."""

import math
from typing import Any
from urllib.parse import quote

import click

from forge.llm.demo_cli import demo
from forge.llm.models import (
    ModelCall,
    ModelsView,
    Price,
    Provider,
    ProviderKind,
    ProviderView,
    Role,
    RoleChoice,
    Spent,
    TestResult,
)
from forge.llm.serve_cli import serve
from forge.terminal.choice import find_id, scope_of_bot
from forge.terminal.client import Client, connect
from forge.terminal.options import json_option, limit_option
from forge.terminal.output import console, print_json, working
from forge.terminal.text import clean

TEST_S = 90.0
"""Longer than the server waits for a model."""


class Dollars(click.FloatRange):
    """NaN and infinity are floats, but no money."""

    name = "dollars"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        amount = super().convert(value, param, ctx)
        if not math.isfinite(amount):
            self.fail(f"{value!r} is no amount of money.", param, ctx)
        return amount


DOLLARS = Dollars(min=0)
ROLES = click.Choice([role.value for role in Role])
bot_option = click.option("--bot", metavar="SLUG", help="For this bot only.")


@click.group()
def models() -> None:
    """Choose models, their providers and prices, and what may be spent."""


models.add_command(demo)
models.add_command(serve)


@models.command("list")
@bot_option
@json_option
def list_models(bot: str | None, as_json: bool) -> None:
    """Show the model of each role, the providers, your prices, and what was spent today."""
    with connect() as client:
        view = client.get("/models", ModelsView, _scope(client, bot))
    if as_json:
        print_json(view)
    else:
        from forge.llm.show import models_page

        console().print(models_page(view))


@models.command("set")
@click.argument("role", type=ROLES)
@click.argument("model")
@bot_option
@json_option
def set_chain(role: str, model: str, bot: str | None, as_json: bool) -> None:
    """Choose the MODEL of a ROLE, as provider:model. More of them, after commas, are tried when the first one's
    provider is down."""
    chain = [ref.strip() for ref in model.split(",")]
    with connect() as client:
        chosen = client.put(f"/models/roles/{role}", RoleChoice, {"chain": chain}, _scope(client, bot))
    _print_choice(chosen, as_json=as_json)


@models.command()
@click.argument("role", type=ROLES)
@bot_option
@json_option
def reset(role: str, bot: str | None, as_json: bool) -> None:
    """Go back to the default model of a ROLE."""
    with connect() as client:
        chosen = client.delete(f"/models/roles/{role}", RoleChoice, _scope(client, bot))
    _print_choice(chosen, as_json=as_json)


@models.command()
@click.argument("model", required=False)
@json_option
@click.pass_context
def test(ctx: click.Context, model: str | None, as_json: bool) -> None:
    """Ask MODEL for one word: a real call, which costs a little. Without MODEL, every one that a role uses.

    Exit code 1 when one of them does not work.
    """
    with connect() as client:
        asked = [model] if model else _used(client)
        results = [_test(client, ref, as_json=as_json) for ref in asked]
    if as_json:
        print_json(results)
    ctx.exit(0 if all(result.ok for result in results) else 1)


def _used(client: Client) -> list[str]:
    roles = client.get("/models", ModelsView).roles
    return list(dict.fromkeys(ref for choice in roles for ref in choice.chain))


def _test(client: Client, ref: str, *, as_json: bool) -> TestResult:
    from forge.llm.show import test_line

    with working(f"Asking {clean(ref)}"):
        result = client.post("/models/test", TestResult, {"model": ref}, within_s=TEST_S)
    if not as_json:
        console().print(test_line(result))
    return result


@models.command()
@click.argument("model")
@click.option("--input", type=DOLLARS, help="Dollars for a million tokens sent.")
@click.option("--output", type=DOLLARS, help="Dollars for a million tokens received.")
@click.option("--cache-read", type=DOLLARS, help="The same for tokens found in a cache. Default: as --input.")
@click.option("--cache-write", type=DOLLARS, help="The same for tokens put into it. Default: as --input.")
@click.option(
    "--context", "context_window", type=int, help="How many tokens the model takes in. Default 128000."
)
@click.option("--remove", is_flag=True, help="Forget your price: the table's counts again.")
@json_option
def price(model: str, remove: bool, as_json: bool, **said: float | None) -> None:
    """Say what MODEL costs. A model of your own costs 0 and 0."""
    body = {name: value for name, value in said.items() if value is not None}
    if remove == bool(body) or (body and not {"input", "output"} <= set(body)):
        raise click.UsageError("Say both --input and --output, or --remove.")
    with connect() as client:
        found = _save_price(client, model, None if remove else body)
    if as_json:
        print_json(found)
    elif remove:
        click.echo(f"Forgot your price of {clean(model)}.")
    else:
        click.echo(f"{clean(model)}: ${found.input:g} in, ${found.output:g} out, for a million tokens.")


def _save_price(client: Client, model: str, body: dict[str, Any] | None) -> Price:
    if body is None:
        return client.delete("/models/prices", Price, {"model": model})
    return client.put("/models/prices", Price, body, {"model": model})


@models.command()
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in ProviderKind]),
    help="Whose API it speaks; Ollama, vLLM and llama.cpp speak openai.",
)
@click.option("--url", help="Its address, such as http://127.0.0.1:11434/v1.")
@click.option("--key", metavar="SECRET", help="Name of the secret with its key; none when left out.")
@click.option("--remove", is_flag=True, help="Remove it; one that came with Forge becomes as it came.")
@json_option
def provider(
    name: str, kind: str | None, url: str | None, key: str | None, remove: bool, as_json: bool
) -> None:
    """Add the provider NAME, or give it another address or key."""
    if remove == bool(kind or url or key) or (not remove and not kind):
        raise click.UsageError("Say --kind and --url, or --remove.")
    with connect() as client:
        found = _save_provider(
            client, name, None if remove else {"kind": kind, "base_url": url, "key_name": key}
        )
    if as_json:
        print_json(found)
        return
    click.echo(f"{'Removed' if remove else 'Saved'} {clean(found.name)}.")
    if isinstance(found, ProviderView) and not found.has_key:
        click.echo(f"Its key is missing: forge secrets set {clean(str(found.key_name))}", err=True)


def _save_provider(client: Client, name: str, body: dict[str, Any] | None) -> Provider:
    path = f"/models/providers/{quote(name, safe='')}"
    if body is None:
        return client.delete(path, Provider)
    return client.put(path, ProviderView, body)


@models.command()
@click.argument("budget", type=click.Choice(["run", "day"]))
@click.argument("usd", type=DOLLARS)
@json_option
def budget(budget: str, usd: float, as_json: bool) -> None:
    """Set what one run, or your account in a day, may spend on models."""
    with connect() as client:
        spent = client.put(f"/models/budgets/{budget}", Spent, {"limit_usd": usd})
    if as_json:
        print_json(spent)
    else:
        from forge.llm.dollars import dollars
        from forge.llm.show import BUDGETS

        click.echo(f"{BUDGETS[spent.budget].capitalize()}: at most {dollars(spent.limit_micros)}.")


@models.command()
@click.option("--run", metavar="ID", help="Only those of this run; the beginning of its id is enough.")
@limit_option
@json_option
def calls(run: str | None, limit: int, as_json: bool) -> None:
    """List requests to models, newest first: tokens, cost, time, how each ended."""
    with connect() as client:
        run_id = find_id(client, run, "run", "/runs") if run else None
        found = list(client.pages("/models/calls", ModelCall, limit, {"run_id": run_id}))
    if as_json:
        print_json(found)
    elif not found:
        click.echo("There were no such calls. Try one: forge models test", err=True)
    else:
        from forge.llm.show import calls_table

        console().print(calls_table(found))


def _scope(client: Client, bot: str | None) -> dict[str, str | int | list[str] | None]:
    return {"scope": scope_of_bot(client, bot) if bot is not None else None}


def _print_choice(chosen: RoleChoice, *, as_json: bool) -> None:
    if as_json:
        print_json(chosen)
        return
    click.echo(f"{chosen.role.value}: {clean(', '.join(chosen.chain))}")
    if chosen.problem:
        click.echo(clean(chosen.problem), err=True)
