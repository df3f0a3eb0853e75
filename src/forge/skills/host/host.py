"""The one function through which a running skill reaches anything but its own input.

Every operation is in one table, and `call` is the one place where it is checked that somebody granted what it needs.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import JsonValue, ValidationError

from forge.errors import ForgeError
from forge.kernel.misfit import first_misfit
from forge.skills.execution import HostError, HostRefusal, LogLine
from forge.skills.host import arguments, commands, filing, keeping, knowing, web
from forge.skills.host.advice import how_to_grant
from forge.skills.host.arguments import Arguments
from forge.skills.host.hiding import Hidden
from forge.skills.host.lines import Lines
from forge.skills.host.own_folder import OwnFolder
from forge.skills.host.parts import HostParts, Invocation, Running
from forge.skills.models import Capability, Scope

MAX_CALLS = 1000
"""Of one run, without its lines for the log."""

OUT_OF_TIME = "The run is out of time."

GrantedNow = Callable[[Capability], Awaitable[Scope | None]]
"""How far a grant goes at this moment; None when it was revoked since the run began."""

A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True)
class Operation(Generic[A]):
    takes: type[A]
    perform: Callable[[Running, Scope, A], Awaitable[JsonValue]]


LOG = "log"
OPERATIONS: Mapping[str, Operation[Any]] = {
    LOG: Operation(arguments.Log, knowing.log),
    "context": Operation(arguments.Nothing, knowing.context),
    "http": Operation(arguments.Http, web.ask),
    "kv.get": Operation(arguments.OneKey, keeping.get),
    "kv.set": Operation(arguments.SetKey, keeping.put),
    "kv.delete": Operation(arguments.OneKey, keeping.drop),
    "kv.keys": Operation(arguments.Keys, keeping.keys),
    "secret": Operation(arguments.Secret, knowing.secret),
    "env": Operation(arguments.Env, knowing.env),
    "memory": Operation(arguments.Memory, knowing.memory),
    "file.read": Operation(arguments.ReadFile, filing.read),
    "file.write": Operation(arguments.WriteFile, filing.write),
    "file.list": Operation(arguments.ListFiles, filing.list_names),
    "exec": Operation(arguments.Exec, commands.execute),
}


class Host:
    """For one run, `seconds` long from its first call on: it may have waited for its turn before."""

    def __init__(
        self,
        invocation: Invocation,
        allowed: Mapping[Capability, Scope],
        parts: HostParts,
        seconds: float,
        granted_now: GrantedNow | None = None,
    ) -> None:
        self._allowed = allowed
        self._granted_now = granted_now
        self._calls = 0
        self._used: Counter[Capability] = Counter()
        hidden = Hidden()
        self._running = Running(
            invocation,
            parts,
            seconds,
            hidden,
            Lines(hidden),
            OwnFolder(parts.files_dir, invocation.account_id, invocation.skill),
        )

    @property
    def used(self) -> dict[Capability, int]:
        """What it made use of, and how often."""
        return dict(self._used)

    @property
    def logs(self) -> list[LogLine]:
        return self._running.lines.all()

    def hide(self, text: str) -> str:
        """Without the secrets it was given: for whatever else is written down about this run."""
        return self._running.hidden(text)

    async def call(self, op: str, args: dict[str, Any]) -> JsonValue:
        """What it needs may depend on its arguments, as the method of a request: they are read first, and nothing is
        done before the grant is checked."""
        operation = OPERATIONS.get(op)
        if operation is None:
            raise HostError(self.hide(f"There is no operation {op[:100]!r}."))
        self._count(op)
        given = _read(op, operation, args)
        scope = await self._check_granted(given)
        try:
            async with asyncio.timeout(self._left_s()):
                return await operation.perform(self._running, scope, given)
        except TimeoutError as error:
            raise HostError(OUT_OF_TIME) from error
        except HostError as error:
            raise HostError(self.hide(str(error))) from error
        except ForgeError as error:
            raise HostError(self.hide(" ".join(filter(None, (error.message, error.hint))))) from error

    def _left_s(self) -> float:
        if (left := self._running.left_s) > 0:
            return left
        raise HostError(OUT_OF_TIME)

    def _count(self, op: str) -> None:
        if op == LOG:
            self._used[Capability.LOG] += 1
            return
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise HostError(f"A run may ask {MAX_CALLS:,} times; this one has.")

    async def _check_granted(self, given: Arguments) -> Scope:
        needs = given.needs
        if needs is None:
            return Scope()
        scope = self._allowed.get(needs)
        if scope is not None and self._granted_now is not None:
            scope = await self._granted_now(needs)
        if scope is None:
            skill = self._running.invocation.skill
            raise HostRefusal(
                f"The skill {skill} reached for {needs.value}, which nobody granted it. If it should have it: "
                + self.hide(how_to_grant(skill, needs, [_asked(given)]))
            )
        self._used[needs] += 1
        return scope


def _asked(given: Arguments) -> str:
    try:
        return given.asks
    except ForgeError:
        return ""


def _read(op: str, operation: Operation[A], args: dict[str, Any]) -> A:
    try:
        return operation.takes.model_validate(args)
    except ValidationError as error:
        raise HostError(f"{op} was called wrongly: {first_misfit(error)}.") from error
