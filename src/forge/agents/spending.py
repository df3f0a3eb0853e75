"""When the money is used up, a person decides: the run waits at a gate that says what was spent."""

from datetime import timedelta

from forge.llm.dollars import dollars
from forge.llm.errors import BUDGET_NAMES
from forge.llm.models import MICROS, Shortfall
from forge.llm.money import Money
from forge.runs.context import RunContext
from forge.runs.models import GateOption, GateStatus, Question
from forge.store.engine import Tx

LEAST_MICROS = 1 * MICROS
MORE = "more"


async def ask_for_money(context: RunContext, money: Money, short: Shortfall) -> timedelta | None:
    """How long a person took to let the run go on; None when it may not."""
    more = max(short.limit_micros // 2, 2 * short.needed_micros, LEAST_MICROS)
    gate = await context.ask(_question(short, more))
    if gate.status is not GateStatus.ANSWERED or gate.answer is None or gate.answer.option == "stop":
        return None

    async def allow(tx: Tx) -> None:
        if gate.answer and gate.answer.option == MORE:
            await money.allow_more(tx, short.ledger, more)

    await context.transact("raise budget", allow)
    return gate.answer.answered_at - gate.opened_at


def _question(short: Shortfall, more: int) -> Question:
    budget = short.budget
    go_on = (
        GateOption(id="again", label="Try again")
        if budget == "server"
        else GateOption(id=MORE, label=f"Allow {dollars(more)} more", tone="positive")
    )
    return Question(
        kind="budget",
        title=f"The {BUDGET_NAMES[budget]} is used up",
        body=f"{dollars(short.spent_micros)} of {dollars(short.limit_micros)} is spent or reserved, and the "
        f"next call to the model may cost up to {dollars(short.needed_micros)}. Nothing was called."
        + (
            " Only the server's settings can raise this one (FORGE_BUDGET_SERVER_USD)."
            if budget == "server"
            else ""
        ),
        payload={**short.model_dump(), "more_micros": more},
        options=[go_on, GateOption(id="stop", label="Stop here", tone="negative")],
    )
