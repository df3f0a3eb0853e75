"""The host function: the only way for a running skill to reach anything but its input.

`OPERATIONS` has all operations, and `Host.call` is the only place where grants are checked.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import JsonValue, ValidationError

from forge.errors import ForgeError
from forge.kernel.validation import first_problem
from forge.skills.execution import HostError, HostRefusal, LogLine
from forge.skills.host import arguments, commands, operations, web
from forge.skills.host.arguments import Arguments, Log, how_to_grant
from forge.skills.host.context import HostContext, HostServices, Invocation, RunLog
from forge.skills.host.resources import OwnFolder
from forge.skills.host.secret_mask import SecretMask
from forge.skills.models import Capability, Scope

MAX_CALLS = 1000
"""Maximum number of calls in a run, not counting log lines."""

OUT_OF_TIME = "The run is out of time."

CurrentScope = Callable[[Capability], Awaitable[Scope | None]]
"""Return the current scope of a grant; None if it was revoked during the run."""

A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True)
class Operation(Generic[A]):
    takes: type[A]
    perform: Callable[[HostContext, Scope, A], Awaitable[JsonValue]]


LOG = "log"
OPERATIONS: Mapping[str, Operation[Any]] = {
    LOG: Operation(arguments.Log, operations.log),
    "context": Operation(arguments.Nothing, operations.context),
    "http": Operation(arguments.Http, web.send_request),
    "kv.get": Operation(arguments.OneKey, operations.get_value),
    "kv.set": Operation(arguments.SetKey, operations.put_value),
    "kv.delete": Operation(arguments.OneKey, operations.delete_value),
    "kv.keys": Operation(arguments.Keys, operations.list_keys),
    "secret": Operation(arguments.Secret, operations.get_secret),
    "env": Operation(arguments.Env, operations.get_variable),
    "memory": Operation(arguments.Memory, operations.recall_memory),
    "file.read": Operation(arguments.ReadFile, operations.read_file),
    "file.write": Operation(arguments.WriteFile, operations.write_file),
    "file.list": Operation(arguments.ListFiles, operations.list_files),
    "exec": Operation(arguments.Exec, commands.execute),
}


class Host:
    """The host of one run. The time limit starts with the first call, since the run may have waited before."""

    def __init__(
        self,
        invocation: Invocation,
        allowed: Mapping[Capability, Scope],
        parts: HostServices,
        seconds: float,
        granted_now: CurrentScope | None = None,
    ) -> None:
        self._allowed = allowed
        self._granted_now = granted_now
        self._calls = 0
        self._used: Counter[Capability] = Counter()
        hidden = SecretMask()
        self._context = HostContext(
            invocation,
            parts,
            seconds,
            hidden,
            RunLog(hidden),
            OwnFolder(parts.files_dir, invocation.account_id, invocation.skill),
        )

    @property
    def used(self) -> dict[Capability, int]:
        """The number of uses of each capability."""
        return dict(self._used)

    @property
    def logs(self) -> list[LogLine]:
        return self._context.log.all()

    def mask(self, text: str) -> str:
        """Mask the secrets the skill has read, for texts that are stored about the run."""
        return self._context.mask(text)

    async def call(self, op: str, args: dict[str, Any]) -> JsonValue:
        """Perform an operation, after checking the grant it needs. Arguments are parsed first, because the capability may
        depend on them, such as on the method of a request."""
        operation = OPERATIONS.get(op)
        if operation is None:
            raise HostError(self.mask(f"There is no operation {op[:100]!r}."))
        self._count(op)
        given = _read(op, operation, args)
        scope = await self._check_granted(given)
        try:
            async with asyncio.timeout(self._left_s()):
                return await operation.perform(self._context, scope, given)
        except TimeoutError as error:
            raise HostError(OUT_OF_TIME) from error
        except HostError as error:
            raise HostError(self.mask(str(error))) from error
        except ForgeError as error:
            raise HostError(self.mask(" ".join(filter(None, (error.message, error.hint))))) from error

    def _left_s(self) -> float:
        if (left := self._context.left_s) > 0:
            return left
        raise HostError(OUT_OF_TIME)

    def _count(self, op: str) -> None:
        if op == LOG:
            self._used[Capability.LOG] += 1
            return
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise HostError(f"A run is limited to {MAX_CALLS:,} host calls.")

    async def _check_granted(self, given: Arguments) -> Scope:
        needs = given.needs
        if needs is None:
            return Scope()
        scope = self._allowed.get(needs)
        if scope is not None and self._granted_now is not None:
            scope = await self._granted_now(needs)
        if scope is None:
            skill = self._context.invocation.skill
            raise HostRefusal(
                f"The skill {skill} used {needs.value}, which is not granted. To grant it: "
                + self.mask(how_to_grant(skill, needs, [_asked(given)]))
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
        raise HostError(f"{op} was called with invalid arguments: {first_problem(error)}.") from error


class CodeHost:
    def __init__(self) -> None:
        self._lines = RunLog(SecretMask())

    @property
    def logs(self) -> list[LogLine]:
        return self._lines.all()

    async def call(self, op: str, args: dict[str, Any]) -> JsonValue:
        if op != LOG:
            raise HostRefusal(
                f"The code called {op[:100]!r}. Code can use only its input and its log; write a skill to use "
                "capabilities."
            )
        try:
            given = Log.model_validate(args)
        except ValidationError as error:
            raise HostError("log takes a level and a message.") from error
        self._lines.add(given.level, given.message)
        return None
