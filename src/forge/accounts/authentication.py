"""Authenticate a caller from plain credentials; independent of the web framework.

A key in a header can only come from a program that has it. A browser sends cookies automatically, also with requests
of foreign pages: an unsafe request with a cookie must therefore come from our own pages (Origin) and
carry a token only they can read (CSRF).
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

from forge.accounts import keys, sessions, store, tokens
from forge.accounts.bearer_tokens import BearerTokens, looks_like_bearer_token
from forge.accounts.models import Role
from forge.accounts.sessions import TokenState
from forge.accounts.store import SessionRow
from forge.errors import Denied, Unauthenticated
from forge.http.caller import Caller
from forge.http.scope import CallerMethod, Scope
from forge.kernel.clock import now
from forge.store.database import Store, Tx, is_outage

_log = logging.getLogger(__name__)

T = TypeVar("T")


class RequestKind(Enum):
    SAFE = auto()
    """GET, HEAD, OPTIONS."""
    UNSAFE = auto()
    WEBSOCKET = auto()
    """Any page can open one with our cookie, so its Origin is checked; a browser cannot add headers to it."""


@dataclass(frozen=True)
class Credentials:
    """The credentials a request carries."""

    kind: RequestKind
    authorization: str | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    csrf_token: str | None = field(default=None, repr=False)
    origin: str | None = None
    allowed_origins: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Authentication:
    caller: Caller
    new_session_token: str | None = field(default=None, repr=False)
    """Set when the response must carry new cookies."""


class Authenticator:
    def __init__(
        self, store: Store, bearer: BearerTokens, *, session_days: int, clock: Callable[[], datetime] = now
    ) -> None:
        self._store = store
        self._bearer = bearer
        self._session_life = timedelta(days=session_days)
        self._clock = clock

    async def authenticate(self, credentials: Credentials) -> Authentication:
        if (key := _api_key(credentials)) is not None:
            by_header = self._by_bearer_token if looks_like_bearer_token(key) else self._by_key
            return Authentication(await by_header(key))
        if not credentials.session_token:
            raise Unauthenticated(
                "Not signed in.",
                hint="Sign in (forge login --link) or send an API key (Authorization: Bearer).",
            )
        return await self._by_session(credentials, credentials.session_token)

    async def _by_key(self, key: str) -> Caller:
        at = self._clock()
        async with self._store.read() as tx:
            row = await keys.find(tx, key)
        if keys.needs_use_update(row.key, at):
            await self._write_if_possible(lambda tx: store.touch_key(tx, row.key.id, at))
        return Caller(
            account_id=row.account.id,
            name=row.account.name,
            scopes=frozenset(row.key.scopes),
            method=CallerMethod.API_KEY,
            credential_id=row.key.id,
            is_owner=row.account.role is Role.OWNER,
        )

    async def _by_bearer_token(self, token: str) -> Caller:
        session_id = self._bearer.session_id(token, self._clock())
        async with self._store.read() as tx:
            session = await store.find_session(tx, session_id=session_id)
        if session is None:
            raise Unauthenticated("This session has ended.", hint=sessions.SIGN_IN)
        if session.expires_at <= self._clock():
            raise Unauthenticated("This session has expired.", hint=sessions.SIGN_IN)
        return _session_caller(session)

    async def _by_session(self, credentials: Credentials, token: str) -> Authentication:
        _check_origin(credentials)
        at = self._clock()
        async with self._store.read() as tx:
            session = await sessions.find(tx, token)
        state = sessions.token_state(session, token, at)
        await self._reject_ended(session, state)
        _check_csrf(credentials, token)
        if credentials.kind is RequestKind.WEBSOCKET:
            return Authentication(
                _session_caller(session)
            )  # no response follows that could carry a new cookie
        return Authentication(_session_caller(session), await self._renew(session, token, state, at))

    async def _reject_ended(self, session: SessionRow, state: TokenState) -> None:
        if state is TokenState.EXPIRED:
            raise Unauthenticated("This session has expired.", hint=sessions.SIGN_IN)
        if state is TokenState.REPLAYED:
            async with self._store.begin() as tx:  # committed before the error is raised
                await store.delete_session(tx, session.id)
            _log.warning("session %s ended: a replaced token was used", session.id)
            raise Unauthenticated(
                "This session was ended because an outdated token was used.", hint=sessions.SIGN_IN
            )

    async def _renew(self, session: SessionRow, token: str, state: TokenState, at: datetime) -> str | None:
        """Extend the session. Return the new token if it was rotated."""
        if state is TokenState.PREVIOUS:
            return sessions.successor(token, session.salt)
        if state is TokenState.CURRENT:
            return None
        life = self._session_life
        if state is TokenState.UNCONFIRMED:
            await self._write_if_possible(lambda tx: store.restart_rotation(tx, session.id, at))
            return sessions.successor(token, session.salt)
        if state is TokenState.DUE:
            return await self._write_if_possible(lambda tx: sessions.rotate(tx, session, token, at, life))
        await self._write_if_possible(
            lambda tx: store.touch_session(tx, session, at=at, expires_at=at + life)
        )
        return None

    async def _write_if_possible(self, write: Callable[[Tx], Awaitable[T]]) -> T | None:
        """Record usage, ignoring outages: reads must still work when the disk is full."""
        try:
            async with self._store.begin() as tx:
                return await write(tx)
        except SQLAlchemyError as error:
            if not is_outage(error):
                raise
            _log.warning("cannot record the use of a session or key: %s", error)
            return None


def _api_key(credentials: Credentials) -> str | None:
    """Return the key in the headers, if any. Schemes other than Bearer are left to a proxy."""
    scheme, _, rest = (credentials.authorization or "").strip().partition(" ")
    bearer = rest.strip() if scheme.lower() == "bearer" else None
    if bearer is not None and credentials.api_key is not None and bearer != credentials.api_key:
        raise Unauthenticated(
            "Two different API keys were sent.", hint="Send one: Authorization: Bearer, or X-API-Key."
        )
    return bearer if bearer is not None else credentials.api_key


def _check_origin(credentials: Credentials) -> None:
    if credentials.kind is RequestKind.SAFE:
        return
    if credentials.origin is None:
        raise Denied(
            "An unsafe request with a session cookie needs an Origin header.",
            hint="Programs should use an API key: forge keys create NAME",
        )
    if credentials.origin not in credentials.allowed_origins:
        raise Denied(
            "The Origin of this request is not an address of this server.",
            hint="If this is your address for Forge, set FORGE_PUBLIC_URL to it.",
        )


def _check_csrf(credentials: Credentials, token: str) -> None:
    if credentials.kind is not RequestKind.UNSAFE:
        return
    if not tokens.is_csrf_token(credentials.csrf_token or "", token):
        raise Denied(
            "The X-CSRF-Token header is missing or does not belong to this session.",
            hint="Send the value of the forge_csrf cookie in it; reload the page if it has been open for long.",
        )


def _session_caller(session: SessionRow) -> Caller:
    return Caller(
        account_id=session.account.id,
        name=session.account.name,
        scopes=frozenset({Scope.ADMIN}),
        method=CallerMethod.SESSION,
        credential_id=session.id,
        is_owner=session.account.role is Role.OWNER,
    )
