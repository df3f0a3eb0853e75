"""The end of an interview, as it becomes true together with what was made."""

from collections.abc import Awaitable, Callable

from forge.interview.state import Made
from forge.store.engine import Tx

Settle = Callable[[Tx, Made], Awaitable[None]]
"""Called in the transaction that makes it. Raises when somebody else has ended the interview: then nothing is made."""
