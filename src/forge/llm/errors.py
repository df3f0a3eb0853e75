"""What can go wrong with a model, told apart by what to do about it."""

from collections.abc import Mapping

from forge.errors import Conflict, Denied, ForgeError, Invalid, NotFound, Unavailable
from forge.llm.dollars import dollars
from forge.llm.models import Budget, Shortfall


class ModelFault(Unavailable):
    """The provider's side: overloaded, rate limited, unreachable, cut off, unreadable. Worth trying again."""

    code = "model_fault"

    def __init__(self, message: str, *, retry_after_s: float | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class ModelKeyRefused(Denied):
    """The key is missing, wrong, or has no credit left. Waiting does not help."""

    code = "model_key"


class ModelRejected(Invalid):
    """The provider does not take this request: our mistake or a wrong setting, never worth repeating."""

    code = "model_rejected"


class ModelUnknown(NotFound):
    """No such provider, no such model, or no price for it."""

    code = "model_unknown"


class ContextFull(Invalid):
    """The conversation is longer than the model's window."""

    code = "context_full"


class AnswerUnusable(ForgeError):
    """The model answered, but not with what was asked for, even after being told what was wrong. Asked again, it would
    cost the same and hardly do better."""

    status, code, passes = 502, "answer_unusable", False


class BudgetExceeded(Conflict):
    """The worst case of this call does not fit what is left of a budget: it was not started."""

    code = "budget"

    def __init__(self, shortfall: Shortfall) -> None:
        spent, limit = dollars(shortfall.spent_micros), dollars(shortfall.limit_micros)
        super().__init__(
            f"The {BUDGET_NAMES[shortfall.budget]} is used up: {spent} of {limit} is spent or reserved, "
            f"and the next call may cost {dollars(shortfall.needed_micros)}.",
            hint="Raise it: forge models budget, or Settings, Models.",
        )
        self.shortfall = shortfall


BUDGET_NAMES: Mapping[Budget, str] = {
    "run": "budget of this run",
    "day": "budget of this day",
    "server": "budget of this server",
}
