"""The caller of a request. Routes declare a `Reader`, `Writer` or `Admin` parameter, which authenticates the request.

The authenticator itself is installed on the application by `forge.api`.
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
    """The id of the session or key."""
    is_owner: bool = False
    """Whether the account owns the server; everyone else is a member."""

    def must_have(self, scope: Scope) -> None:
        if not any(scope in own.included for own in self.scopes):
            raise Denied(
                f"This request needs the scope {scope.value!r}; the key has {', '.join(sorted(self.scopes)) or 'none'}.",
                hint=f"Create a key with it: forge keys create NAME --scope {scope.value}",
            )

    def must_be_owner(self) -> None:
        if not self.is_owner:
            raise Denied(
                "Only the owner of this server may do this.", hint="Ask the person who runs this server."
            )


def _require(scope: Scope, *, owner: bool = False) -> Callable[[HTTPConnection], Awaitable[Caller]]:
    async def caller_with_scope(connection: HTTPConnection) -> Caller:
        authenticate: Callable[[HTTPConnection], Awaitable[Caller]] = connection.app.state.authenticate
        caller = await authenticate(connection)
        caller.must_have(scope)
        if owner:
            caller.must_be_owner()
        return caller

    return caller_with_scope


Reader = Annotated[Caller, Depends(_require(Scope.READ))]
Writer = Annotated[Caller, Depends(_require(Scope.WRITE))]
Admin = Annotated[Caller, Depends(_require(Scope.ADMIN))]
OwnerReader = Annotated[Caller, Depends(_require(Scope.READ, owner=True))]
Owner = Annotated[Caller, Depends(_require(Scope.ADMIN, owner=True))]
