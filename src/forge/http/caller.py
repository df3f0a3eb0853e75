"""Who is calling. Every route takes a `Reader`, `Writer` or `Admin`: there is no route without a caller by accident.

How a caller is recognised (cookie, key) is not known here: the API puts an authenticator on the application.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from forge.errors import Denied
from forge.http.scope import CallerMethod, Scope


@dataclass(frozen=True)
class Caller:
    account_id: str
    name: str
    scopes: frozenset[Scope]
    method: CallerMethod
    credential_id: str
    """The session or key that was shown: what a rate limit counts and a log line names."""

    def must_have(self, scope: Scope) -> None:
        if not any(scope in own.included for own in self.scopes):
            raise Denied(
                f"This needs the scope {scope.value!r}; the key has {', '.join(sorted(self.scopes)) or 'none'}.",
                hint=f"Create a key with it: forge keys create NAME --scope {scope.value}",
            )


Authenticate = Callable[[HTTPConnection], Awaitable[Caller]]


def _require(scope: Scope) -> Callable[[HTTPConnection], Awaitable[Caller]]:
    async def caller_with_scope(connection: HTTPConnection) -> Caller:
        authenticate: Authenticate = connection.app.state.authenticate
        caller = await authenticate(connection)
        caller.must_have(scope)
        return caller

    return caller_with_scope


Reader = Annotated[Caller, Depends(_require(Scope.READ))]
Writer = Annotated[Caller, Depends(_require(Scope.WRITE))]
Admin = Annotated[Caller, Depends(_require(Scope.ADMIN))]
