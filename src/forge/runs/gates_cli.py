"""`forge gates`: what waits for a person."""

import sys

import click

from forge.errors import Conflict
from forge.runs.models import Gate, GateStatus
from forge.runs.show import gate_page, gates_table
from forge.terminal.choice import SEARCHED, choose, is_id
from forge.terminal.client import Client, connect
from forge.terminal.options import json_option, limit_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean


@click.group()
def gates() -> None:
    """See and answer what waits for you."""


@gates.command("list")
@click.option("--all", "show_all", is_flag=True, help="Also those that are settled.")
@limit_option
@json_option
def list_gates(show_all: bool, limit: int, as_json: bool) -> None:
    """List the questions that wait for an answer, newest first."""
    with connect() as client:
        status = None if show_all else GateStatus.OPEN.value
        found = list(client.pages("/gates", Gate, limit, {"status": status}))
    if as_json:
        print_json(found)
    elif not found:
        click.echo("Nothing waits for you.", err=True)
    else:
        console().print(gates_table(found))


@gates.command()
@click.argument("gate")
@json_option
def show(gate: str, as_json: bool) -> None:
    """Show a question, with what is needed to answer it."""
    with connect() as client:
        found = find_gate(client, gate)
    if as_json:
        print_json(found)
    else:
        console().print(gate_page(found))


@gates.command()
@click.argument("gate")
@click.argument("option", required=False)
@click.option("--comment", default="", help="Words that go with the answer.")
@json_option
def answer(gate: str, option: str | None, comment: str, as_json: bool) -> None:
    """Answer a question with one of its options; asks which, when there is a terminal.

    The answer is bound to the question as it is shown: if that changed meanwhile, it is refused.
    """
    with connect() as client:
        asked = find_gate(client, gate)
        if asked.status is not GateStatus.OPEN:
            raise Conflict(
                f"This question is {asked.status.value} already.", hint=f"forge gates show {asked.id}"
            )
        if not as_json:
            console(stderr=True).print(gate_page(asked, is_being_answered=True))
        body = {"option": option or _ask(asked), "comment": comment, "shown_hash": asked.shown_hash}
        settled = client.post(f"/gates/{asked.id}/answer", Gate, body)
    if as_json:
        print_json(settled)
    else:
        click.echo(f"Answered: {clean(body['option'])}")


def find_gate(client: Client, given: str) -> Gate:
    if is_id(given):
        return client.get(f"/gates/{given}", Gate)
    return choose(given, "gate", client.pages("/gates", Gate, SEARCHED), lambda gate: gate.id)


def _ask(gate: Gate) -> str:
    options = [option.id for option in gate.options]
    if not sys.stdin.isatty():
        raise click.UsageError(f"Say which option: {', '.join(options)}.")
    return click.prompt("Your answer", type=click.Choice(options), err=True)
