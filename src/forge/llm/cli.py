"""`forge models`."""

import math
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forge.llm.demo_model import REF, assign_demo_model, unassign_demo_model
from forge.llm.local_servers import SERVER_TITLES
from forge.llm.models import (
    MAX_PARALLEL,
    ModelCall,
    ModelsView,
    ModelTrial,
    Price,
    Provider,
    ProviderKind,
    ProviderProbe,
    ProviderView,
    Role,
    RoleChoice,
    ServerKind,
    ServerModel,
    Share,
    Spent,
    TestResult,
    ToolSupport,
    dollars,
)
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.entry import wait_for_signal
from forge.terminal.lookup import find_id, scope_of_bot
from forge.terminal.options import json_option, limit_option
from forge.terminal.output import (
    FAINT,
    Columns,
    console,
    dot,
    marked,
    print_json,
    table,
    words,
    working,
)
from forge.terminal.text import clean, duration

if TYPE_CHECKING:
    from forge.demo.model_script import Script

TEST_S = 90.0
"""Longer than the server's own timeout for a model."""
PROBE_S = 330.0
"""Longer than the server's own timeout for all calls of a test."""
TOOL_SUPPORT = {
    ToolSupport.NATIVE: "work",
    ToolSupport.TEXT: "written as text, not as calls",
    ToolSupport.NONE: "not made when asked to",
}
DEMO_URL = "http://127.0.0.1:8010"
BUDGETS = {
    "run": "one run",
    "day": "today",
    "shared": "shared by the owner, today",
    "server": "all accounts today",
}
READY = """\
The scripted model server is running at {url}
It answers from {source} ({scenes}). No model is called, and nothing leaves this machine.

To use it in Forge, run in another terminal:

    forge models demo --url {url}

Other clients: ANTHROPIC_BASE_URL={url} or OPENAI_BASE_URL={url}/v1, with {key}.
All requests are listed at {url}/_script/requests. Press Ctrl-C to stop.
"""


class Dollars(click.FloatRange):
    """An amount of money; rejects NaN and infinity, which are floats too."""

    name = "dollars"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        amount = super().convert(value, param, ctx)
        if not math.isfinite(amount):
            self.fail(f"{value!r} is not an amount of money.", param, ctx)
        return amount


DOLLARS = Dollars(min=0)
ALL = "all"
ROLES = click.Choice([*(role.value for role in Role), ALL])
bot_option = click.option("--bot", metavar="SLUG", help="Only for this bot.")


def _prices_of(choice: RoleChoice) -> str:
    known = (f"${price.input:g} / ${price.output:g}" if price else "unknown" for price in choice.prices)
    return "\n".join(known)


def _key(provider: ProviderView) -> Text:
    if provider.key_name is None:
        return Text("not required", FAINT)
    if provider.has_key:
        return marked("ok", f"{provider.key_name} ····{provider.last_four}")
    return marked("bad", f"{provider.key_name} is not set")


def _end(call: ModelCall) -> Text:
    if call.error:
        return words(call.error, "red")
    return words(call.stop or call.status, "" if call.stop else "yellow")


_roles_table = Columns[RoleChoice](
    {
        "ROLE": "role",
        "MODELS": lambda choice: "\n".join(choice.chain),
        "IN / OUT PER MILLION": _prices_of,
        "CHOSEN BY": lambda choice: "the settings" if choice.source == "default" else f"the {choice.source}",
        "": lambda choice: marked("bad", choice.problem) if choice.problem else None,
    },
    wrap={"MODELS", ""},
)
_providers_table = Columns[ProviderView](
    {
        "PROVIDER": "name",
        "SPEAKS": lambda provider: SERVER_TITLES[provider.server] if provider.server else provider.kind,
        "ADDRESS": lambda provider: provider.base_url or "its own",
        "KEY": _key,
    },
    wrap={"ADDRESS"},
)
_models_table = Columns[ServerModel](
    {
        "MODEL": "name",
        "CONTEXT WINDOW": lambda model: (
            f"{model.context_window:,}" if model.context_window else "not reported"
        ),
        "": lambda model: "loaded" if model.is_loaded else None,
    }
)
_prices_table = Columns[tuple[str, Price]](
    {
        "CUSTOM PRICES": lambda row: row[0],
        "INPUT": lambda row: f"${row[1].input:g}",
        "OUTPUT": lambda row: f"${row[1].output:g}",
        "CACHE READ": lambda row: f"${row[1].cache_read:g}",
        "CACHE WRITE": lambda row: f"${row[1].cache_write:g}",
        "WINDOW": lambda row: row[1].context_window,
    }
)
_budgets_table = Columns[Spent](
    {
        "BUDGET": lambda spent: BUDGETS[spent.budget] + (f" ({spent.provider})" if spent.provider else ""),
        "SPENT": lambda spent: "" if spent.budget == "run" else dollars(spent.spent_micros),
        "RESERVED": lambda spent: "" if spent.budget == "run" else dollars(spent.reserved_micros),
        "LIMIT": lambda spent: dollars(spent.limit_micros),
    }
)
_calls_table = Columns[ModelCall](
    {
        "WHEN": "started_at",
        "MODEL": lambda call: f"{call.provider}:{call.model}",
        "ROLE": "role",
        "IN": lambda call: call.usage.input,
        "CACHE READ": lambda call: call.usage.cache_read,
        "CACHE WRITE": lambda call: call.usage.cache_write,
        "OUT": lambda call: call.usage.output,
        "COST": lambda call: dollars(call.cost_micros),
        "TOOK": lambda call: None if call.latency_ms is None else timedelta(milliseconds=call.latency_ms),
        "END": _end,
    }
)


@click.group()
def models() -> None:
    """Configure models, providers, prices and budgets."""


@models.command("list")
@bot_option
@api_command
def list_models(client: Client, bot: str | None) -> Result[ModelsView]:
    """Show the model of each role, the providers, custom prices, and today's spending."""
    return Result(client.get("/models", ModelsView, _scope(client, bot)), _models_page)


def _models_page(view: ModelsView) -> RenderableType:
    tables = [_roles_table(view.roles), _providers_table(view.providers)]
    if view.prices:
        tables.append(_prices_table(view.prices.items()))
    tables.append(_budgets_table(view.budgets))
    if view.today_by_model:
        tables.append(_today_table(view.today_by_model))
    first, *others = tables
    return Group(first, *(part for one in others for part in (Text(), one)))


def _today_table(micros_by_model: dict[str, int]) -> Table:
    rows = table("TODAY BY MODEL", "SPENT")
    for model, micros in micros_by_model.items():
        rows.add_row(words(model), dollars(micros))
    return rows


@models.command("set")
@click.argument("role", type=ROLES)
@click.argument("model")
@bot_option
@json_option
def set_chain(role: str, model: str, bot: str | None, as_json: bool) -> None:
    """Set the model of a ROLE, or of all roles with `all`, as provider:model. Add fallback models, separated by
    commas: each is used while the provider of the previous one is down.
    """
    chain = [ref.strip() for ref in model.split(",")]
    with connect() as client:
        scope = _scope(client, bot)
        chosen = [
            client.put(f"/models/roles/{one}", RoleChoice, {"chain": chain}, scope) for one in _roles(role)
        ]
    _print_choices(chosen, as_json=as_json)


@models.command()
@click.argument("role", type=ROLES)
@bot_option
@json_option
def reset(role: str, bot: str | None, as_json: bool) -> None:
    """Reset a ROLE, or all roles with `all`, to the default model."""
    with connect() as client:
        scope = _scope(client, bot)
        chosen = [client.delete(f"/models/roles/{one}", RoleChoice, scope) for one in _roles(role)]
    _print_choices(chosen, as_json=as_json)


def _roles(role: str) -> list[str]:
    return [one.value for one in Role] if role == ALL else [role]


def _print_choices(chosen: list[RoleChoice], *, as_json: bool) -> None:
    """Print one choice, or a list of those of all roles."""
    if as_json:
        print_json(chosen if len(chosen) > 1 else chosen[0])
        return
    for choice in chosen:
        click.echo(clean(f"{choice.role.value}: {', '.join(choice.chain)}"))
    for problem in dict.fromkeys(choice.problem for choice in chosen if choice.problem):
        click.echo(clean(problem), err=True)


@models.command()
@click.argument("model", required=False)
@json_option
@click.pass_context
def test(ctx: click.Context, model: str | None, as_json: bool) -> None:
    """Test MODEL with a short request, which costs a little. Without MODEL, test all models in use.

    Exit code 1 if a model does not work.
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
    with working(f"Testing {clean(ref)}"):
        result = client.post("/models/test", TestResult, {"model": ref}, within_s=TEST_S)
    if not as_json:
        console().print(_test_line(result))
    return result


def _test_line(result: TestResult) -> Text:
    took = duration(timedelta(milliseconds=result.latency_ms))
    answer = result.answer or "(no text)" if result.ok else (result.message or "")
    status = dot("ok" if result.ok else "bad")
    line = Text.assemble(status, "  ", (clean(result.model), "bold"), "  ", clean(" ".join(answer.split())))
    if result.ok or result.latency_ms:
        line.append(f"  {took}, {dollars(result.cost_micros)}", FAINT)
    return line.append(f"\nhint: {clean(result.hint)}", "yellow") if result.hint else line


@models.command()
@click.argument("model")
@click.option("--input", type=DOLLARS, help="Dollars per million input tokens.")
@click.option("--output", type=DOLLARS, help="Dollars per million output tokens.")
@click.option(
    "--cache-read",
    type=DOLLARS,
    help="Dollars per million tokens read from a cache. Default: same as --input.",
)
@click.option(
    "--cache-write",
    type=DOLLARS,
    help="Dollars per million tokens written to a cache. Default: same as --input.",
)
@click.option(
    "--context",
    "context_window",
    type=int,
    help="Size of the context window in tokens. Default: the previous one, else what the server reports.",
)
@click.option(
    "--text-tool-calls/--no-text-tool-calls",
    default=None,
    help="Execute tool calls that the model writes as text. Default: only on servers other than Anthropic's and OpenAI's.",
)
@click.option("--remove", is_flag=True, help="Remove the custom price and use the built-in table again.")
@api_command
def price(client: Client, model: str, remove: bool, **prices: float | None) -> Result[Price]:
    """Set the price and the context window of MODEL. What is not passed keeps its value; a local model costs 0."""
    body = {name: value for name, value in prices.items() if value is not None}
    if remove == bool(body) or ("input" in body) != ("output" in body):
        raise click.UsageError("Pass both --input and --output, --context, or --remove.")
    if remove:
        removed = client.delete("/models/prices", Price, {"model": model})
        return Result(removed, f"Removed the custom price of {model}.")
    saved = client.put("/models/prices", Price, body, {"model": model})
    amounts = f"${saved.input:g} in, ${saved.output:g} out per million tokens"
    return Result(saved, f"{model}: {amounts}, context window {saved.context_window:,}.")


@models.command()
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in ProviderKind]),
    help="API of the provider. Default: openai, which Ollama, vLLM, llama.cpp and LM Studio have.",
)
@click.option("--url", help="Base URL, such as http://127.0.0.1:11434/v1.")
@click.option("--key", metavar="SECRET", help="Name of the secret with the API key. Default: no key.")
@click.option(
    "--server",
    type=click.Choice([kind.value for kind in ServerKind]),
    help="Server for local models. Default: NAME if it is one of these, else detected.",
)
@click.option(
    "--parallel",
    type=click.IntRange(1, MAX_PARALLEL),
    help="Maximum number of concurrent requests. Default: 1 for a server for local models, else no limit.",
)
@click.option("--model", help="Model to test. Default: one in use, else one that is loaded, else the first.")
@click.option("--remove", is_flag=True, help="Remove the provider, or reset a built-in one.")
@api_command
def provider(
    client: Client, name: str, model: str | None, remove: bool, **options: str | int | None
) -> Result[Any]:
    """Add the provider NAME, or change it, and test it: its models, their context windows, and what a model can do.

    NAME can be the name of a server for local models, which is then expected at its usual address. Without options,
    only test a provider.
    """
    path = f"/models/providers/{quote(name, safe='')}"
    given = {field: value for field, value in options.items() if value is not None}
    if remove and (given or model):
        raise click.UsageError("--remove cannot be combined with other options.")
    if remove:
        removed = client.delete(path, Provider)
        return Result(removed, f"Removed {removed.name}.")
    known = {one.name for one in client.get("/models", ModelsView).providers}
    is_changed = bool(given) or name not in known
    if is_changed:
        saved = client.put(path, ProviderView, _new_provider(name, given))
        click.echo(f"Saved {clean(saved.name)}.", err=True)
        if not saved.has_key:
            hint = f"Its key is not set yet. Set it: forge secrets set {clean(str(saved.key_name))}"
            click.echo(hint, err=True)
    with working(f"Testing {clean(name)}"):
        probe = client.post(f"{path}/probe", ProviderProbe, {"model": model}, within_s=PROBE_S)
    problem = probe.problem or (probe.trial and probe.trial.problem)
    return Result(probe, _probe_page, exit_code=1 if problem and not is_changed else 0)


def _new_provider(name: str, given: dict[str, str | int]) -> dict[str, str | int | None]:
    if not given and name not in set(ServerKind):
        raise click.UsageError("Pass --url, or the name of a server for local models.")
    is_preset = "server" not in given and "kind" not in given and name in set(ServerKind)
    server = name if is_preset else given.get("server")
    return {
        "kind": given.get("kind", ProviderKind.OPENAI.value),
        "base_url": given.get("url"),
        "key_name": given.get("key"),
        "server": server,
        "parallel": given.get("parallel"),
    }


def _probe_page(probe: ProviderProbe) -> RenderableType:
    lines: list[RenderableType] = [_provider_line(probe.provider)]
    if probe.problem:
        return Group(*lines, _problem_text(probe.problem, probe.hint))
    lines.append(_models_table(probe.models))
    if probe.trial:
        lines += [Text(), _trial_text(probe.trial)]
        if not probe.trial.problem:
            lines.append(words(f"Use it for everything: forge models set all {probe.trial.model}", FAINT))
    return Group(*lines)


def _provider_line(provider: ProviderView) -> Text:
    title = SERVER_TITLES[provider.server] if provider.server else f"{provider.kind.value} API"
    limit = f", {provider.parallel} at a time" if provider.parallel else ""
    address = provider.base_url or "its own address"
    return Text.assemble((clean(provider.name), "bold"), clean(f"  {title} at {address}{limit}"))


def _trial_text(trial: ModelTrial) -> Text:
    line = Text.assemble("Tested ", (clean(trial.model), "bold"))
    if trial.first_token_ms is not None:
        took = duration(timedelta(milliseconds=trial.first_token_ms))
        speed = f", {trial.tokens_per_second:g} tokens/s" if trial.tokens_per_second else ""
        line.append(f": first token after {took}{speed}")
    if trial.tools is not None:
        line.append(f"\n  tool calls   {TOOL_SUPPORT[trial.tools]}")
    if trial.schema_support is not None:
        line.append(f"\n  JSON schemas {'followed' if trial.schema_support else 'not followed'}")
    if trial.problem:
        line.append("\n").append(_problem_text(trial.problem, trial.hint))
    return line


def _problem_text(problem: str, hint: str | None) -> Text:
    text = marked("bad", problem)
    return text.append(f"\nhint: {clean(hint)}", "yellow") if hint else text


@models.command()
@click.argument("budget", type=click.Choice(["run", "day"]))
@click.argument("usd", type=DOLLARS)
@api_command
def budget(client: Client, budget: str, usd: float) -> Result[Spent]:
    """Set the spending limit of a run, or of your account per day."""
    spent = client.put(f"/models/budgets/{budget}", Spent, {"limit_usd": usd})
    return Result(spent, f"{BUDGETS[spent.budget].capitalize()}: at most {dollars(spent.limit_micros)}.")


@models.command()
@click.argument("name")
@click.option("--day", "day_usd", type=DOLLARS, help="What each member may spend per day, in dollars.")
@click.option("--stop", is_flag=True, help="Stop sharing the provider.")
@api_command
def share(client: Client, name: str, day_usd: float | None, stop: bool) -> Result[Any]:
    """Let all members use the provider NAME at your expense, up to a budget per member and day. Only for the owner."""
    if stop == (day_usd is not None):
        raise click.UsageError("Pass --day, or --stop.")
    path = f"/models/shares/{quote(name, safe='')}"
    if stop:
        stopped = client.delete(path, Share)
        return Result(stopped, f"{stopped.provider} is no longer shared.")
    shared = client.put(path, Share, {"day_usd": day_usd})
    return Result(shared, f"Shared {shared.provider}: {dollars(shared.day_micros)} per member and day.")


@models.command()
@click.option("--run", metavar="ID", help="Only requests of this run (id or id prefix).")
@limit_option
@api_command
def calls(client: Client, run: str | None, limit: int) -> Result[list[ModelCall]]:
    """List requests to models, newest first, with tokens, cost, time and result."""
    run_id = find_id(client, run, "run", "/runs") if run else None
    found = list(client.pages("/models/calls", ModelCall, limit, {"run_id": run_id}))
    return Result(found, _calls_table, empty="No calls found. Make one: forge models test")


def _scope(client: Client, bot: str | None) -> dict[str, str | int | list[str] | None]:
    return {"scope": scope_of_bot(client, bot) if bot is not None else None}


@models.command()
@click.option(
    "--url", default=DEMO_URL, help=f"Address that `forge models serve` printed (default {DEMO_URL})."
)
@click.option("--off", is_flag=True, help="Switch back to the default models.")
def demo(url: str, off: bool) -> None:
    """Use the scripted model of `forge models serve` for every role, to try Forge without an API key."""
    with connect() as client:
        if off:
            changed = _names(unassign_demo_model(client)) or "nothing to change"
            console().print(f"Back to the default models: {changed}.")
            return
        free, kept = assign_demo_model(client, url)
    console().print(f"{REF} is used for: {_names(free)}. To go back to real models: forge models demo --off")
    if kept:
        console().print(f"Not changed, because you chose their models: {_names(kept)}.")


def _names(roles: list[RoleChoice]) -> str:
    return ", ".join(choice.role.value for choice in roles)


@models.command()
@click.argument("script", default="demo")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8010, help="Port (default 8010; 0 for any free port)."
)
@click.option(
    "--log", type=click.Path(path_type=Path), help="Append every request to this file, as JSON lines."
)
@click.option("--check", is_flag=True, help="Only validate the script.")
def serve(script: str, port: int, log: Path | None, check: bool) -> None:
    """Start a model server that answers from SCRIPT: a file, or a built-in script (demo, coding, faults)."""
    from forge.demo.model_script import find_script, load_script

    path = find_script(script)
    loaded = load_script(path)
    if check:
        click.echo(f"{path} is valid: {_scenes(loaded)}.")
        return
    _serve(loaded, script, port, log)


def _serve(script: "Script", source: str, port: int, log: Path | None) -> None:
    from forge.demo.model_server import open_model_server
    from forge.errors import ConfigError

    try:
        if log is not None:
            log.touch(mode=0o600)  # requests may contain secrets
        with open_model_server(script, port=port, log=log) as server:
            key = "one of the keys in the script" if script.keys else "any key"
            click.echo(READY.format(url=server.url, source=source, scenes=_scenes(script), key=key))
            wait_for_signal()
    except OSError as error:
        raise ConfigError(
            [f"cannot start: {error}"], hint="Choose another port or file: --port, --log."
        ) from error


def _scenes(script: "Script") -> str:
    names = [*script.scenes, "default"]
    return f"{'scene' if len(names) == 1 else 'scenes'} {', '.join(names)}"
