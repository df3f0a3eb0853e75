"""Where a tool writes down what it is about to do: in a run, so that a crash in between is noticed; else nowhere."""

from typing import Any, Protocol


class Intent(Protocol):
    async def recall(self) -> Any | None: ...

    async def declare(self, meant: Any) -> None: ...


class NoIntent:
    """For tools used outside a run: nothing is repeated there."""

    async def recall(self) -> Any | None:
        return None

    async def declare(self, meant: Any) -> None:
        return None
