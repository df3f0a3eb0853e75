"""How money is written, wherever a person reads it. The web writes it the same way (`web/src/ui/money.ts`)."""

from forge.llm.models import MICROS


def dollars(micros: int) -> str:
    """`$0`, `$0.0042`, `$0.02`, `$0.42`, `$12.50`, `$1,204`: as many digits as tell something."""
    amount = micros / MICROS
    if amount == 0:
        return "$0"
    if amount < 0.0001:
        return "< $0.0001"
    if amount < 0.1:
        return f"${round(amount, 4):g}"
    return f"${amount:.2f}" if amount < 1000 else f"${amount:,.0f}"
