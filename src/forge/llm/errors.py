"""Errors of model calls, distinguished by how to react to them."""

from collections.abc import Mapping

from forge.errors import Conflict, Denied, ForgeError, Invalid, NotFound, Unavailable
from forge.llm.models import Budget, Shortfall, dollars


class ModelFault(Unavailable):
    """The provider failed: overloaded, rate limited, unreachable, broken answer. Retry later."""

    code = "model_fault"

    def __init__(self, message: str, *, retry_after_s: float | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class ModelKeyRefused(Denied):
    """The key is missing, invalid or out of quota. Retrying does not help."""

    code = "model_key"


class ModelRejected(Invalid):
    """The provider rejected the request: a bug or a wrong setting. Retrying does not help."""

    code = "model_rejected"


class ModelUnknown(NotFound):
    """No such provider, no such model, or no price for it."""

    code = "model_unknown"


class ContextFull(Invalid):
    """The request exceeds the model's context window. The numbers of tokens are None if the provider reports none."""

    code = "context_full"

    def __init__(
        self, ref: str, *, sent: int | None = None, window: int | None = None, is_estimate: bool = False
    ) -> None:
        about = "about " if is_estimate else ""
        room = f"the context window of {ref}" + (f" is {window:,} tokens" if window else "")
        if sent is None or window is None:
            message = f"The request exceeds {room}."
        elif sent < window:
            message = (
                f"The request has {about}{sent:,} tokens, and {room}: too little is left for the answer."
            )
        else:
            message = f"The request has {about}{sent:,} tokens, but {room}."
        size = window or "TOKENS"
        super().__init__(
            message,
            hint=f"Shorten the conversation, or use a model with a larger window. If the size of the window is wrong "
            f"in Forge, set it: forge models price {ref} --context {size}",
        )
        self.sent = sent
        self.window = window


class AnswerUnusable(ForgeError):
    """The model's answer does not match the schema, even after a correction. A retry would cost the same and rarely
    succeed."""

    status, code, passes = 502, "answer_unusable", False


class BudgetExceeded(Conflict):
    """The worst-case cost of a call exceeds what is left of a budget, so it was not started."""

    code = "budget"

    def __init__(self, shortfall: Shortfall) -> None:
        spent, limit = dollars(shortfall.spent_micros), dollars(shortfall.limit_micros)
        super().__init__(
            f"The {BUDGET_NAMES[shortfall.budget]} is exhausted: {spent} of {limit} is spent or reserved, "
            f"and the next call may cost {dollars(shortfall.needed_micros)}.",
            hint="Try again tomorrow, ask the owner of this server to raise it, or use a key of your own."
            if shortfall.budget == "shared"
            else "Raise it: forge models budget, or Settings, Models.",
        )
        self.shortfall = shortfall


BUDGET_NAMES: Mapping[Budget, str] = {
    "run": "budget of this run",
    "day": "budget of this day",
    "shared": "daily budget for this shared provider",
    "server": "budget of this server",
}
