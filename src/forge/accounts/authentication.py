"""Who is calling, from what a request shows. Knows no web framework, so every rule can be tested on plain values.

A key in a header can only come from a program that was given it. A cookie is sent by the browser by itself, also for
a page of somebody else: therefore a change asked for with a cookie must come from our own pages (Origin) and show a
token that only they can read (CSRF).
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import TypeVar

from sqlalchemy.exc import SQLAlchemyError

from forge.accounts import keys, sessions, store, tokens
from forge.accounts.sessions import Standing
from forge.accounts.store import SessionRow
from forge.errors import Denied, Unauthenticated
from forge.http.caller import Caller
from forge.http.scope import CallerMethod
from forge.kernel.clock import now
from forge.store.engine import Store, Tx, is_outage

_log = logging.getLogger(__name__)

T = TypeVar("T")


class RequestKind(Enum):
    SAFE = auto()
    """Changes nothing: GET, HEAD, OPTIONS."""
    UNSAFE = auto()
    WEBSOCKET = auto()
    """Any page may open one with our cookie, so its Origin matters; a browser cannot add a header to it."""


@dataclass(frozen=True)
class Credentials:
    """What a request shows of its caller."""

    kind: RequestKind
    authorization: str | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    csrf_token: str | None = field(default=None, repr=False)
    origin: str | None = None
    allowed_origins: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Recognised:
    caller: Caller
    new_session_token: str | None = field(default=None, repr=False)
    """Set when the answer has to carry new cookies."""


class Authenticator:
    def __init__(self, store: Store, *, session_days: int, clock: Callable[[], datetime] = now) -> None:
        self._store = store
        self._session_life = timedelta(days=session_days)
        self._clock = clock

    async def recognise(self, shown: Credentials) -> Recognised:
        if (key := _shown_key(shown)) is not None:
            return Recognised(await self._by_key(key))
        if not shown.session_token:
            raise Unauthenticated(
                "Nobody is signed in.",
                hint="Sign in (forge login --link) or send an API key (Authorization: Bearer).",
            )
        return await self._by_session(shown, shown.session_token)

    async def _by_key(self, key: str) -> Caller:
        at = self._clock()
        async with self._store.read() as tx:
            row = await keys.find(tx, key)
        if keys.is_use_to_be_noted(row.key, at):
            await self._note(lambda tx: store.touch_key(tx, row.key.id, at))
        return Caller(
            account_id=row.account.id,
            name=row.account.name,
            scopes=frozenset(row.key.scopes),
            method=CallerMethod.API_KEY,
            credential_id=row.key.id,
        )

    async def _by_session(self, shown: Credentials, token: str) -> Recognised:
        _check_origin(shown)
        at = self._clock()
        async with self._store.read() as tx:
            session = await sessions.find(tx, token)
        standing = sessions.judge(session, token, at)
        await self._refuse_dead(session, standing)
        _check_csrf(shown, token)
        if shown.kind is RequestKind.WEBSOCKET:
            return Recognised(_session_caller(session))  # no answer follows that could carry a new cookie
        return Recognised(_session_caller(session), await self._renew(session, token, standing, at))

    async def _refuse_dead(self, session: SessionRow, standing: Standing) -> None:
        if standing is Standing.EXPIRED:
            raise Unauthenticated("This session has expired.", hint=sessions.SIGN_IN)
        if standing is Standing.REPLAYED:
            async with self._store.begin() as tx:  # committed before the refusal is raised
                await store.delete_session(tx, session.id)
            _log.warning("session %s ended: a token was shown that had been replaced", session.id)
            raise Unauthenticated(
                "This session was ended, because an outdated copy of it was used.", hint=sessions.SIGN_IN
            )

    async def _renew(self, session: SessionRow, token: str, standing: Standing, at: datetime) -> str | None:
        """Keep the session alive; the token to go on with, if it is a new one."""
        if standing is Standing.PREVIOUS:
            return sessions.successor(token, session.salt)
        if standing is Standing.CURRENT:
            return None
        life = self._session_life
        if standing is Standing.UNARRIVED:
            await self._note(lambda tx: store.restart_rotation(tx, session.id, at))
            return sessions.successor(token, session.salt)
        if standing is Standing.DUE:
            return await self._note(lambda tx: sessions.rotate(tx, session, token, at, life))
        await self._note(lambda tx: store.touch_session(tx, session, at=at, expires_at=at + life))
        return None

    async def _note(self, write: Callable[[Tx], Awaitable[T]]) -> T | None:
        """Whoever is recognised may go on, also when that cannot be written down now: there is much to read even
        when the disk is full."""
        try:
            async with self._store.begin() as tx:
                return await write(tx)
        except SQLAlchemyError as error:
            if not is_outage(error):
                raise
            _log.warning("cannot write down who was here: %s", error)
            return None


def _shown_key(shown: Credentials) -> str | None:
    """The key in the headers, if any. Other schemes than Bearer are a proxy's business."""
    scheme, _, rest = (shown.authorization or "").strip().partition(" ")
    bearer = rest.strip() if scheme.lower() == "bearer" else None
    if bearer is not None and shown.api_key is not None and bearer != shown.api_key:
        raise Unauthenticated(
            "Two different API keys were sent.", hint="Send one: Authorization: Bearer, or X-API-Key."
        )
    return bearer if bearer is not None else shown.api_key


def _check_origin(shown: Credentials) -> None:
    if shown.kind is RequestKind.SAFE:
        return
    if shown.origin is None:
        raise Denied(
            "A change asked for with a cookie has to say which page it comes from (Origin).",
            hint="Programs use an API key instead: forge keys create NAME",
        )
    if shown.origin not in shown.allowed_origins:
        raise Denied(
            "This request comes from a page that is not Forge's own.",
            hint="If this is your address for Forge, set FORGE_PUBLIC_URL to it.",
        )


def _check_csrf(shown: Credentials, token: str) -> None:
    if shown.kind is not RequestKind.UNSAFE:
        return
    if not tokens.is_csrf_token(shown.csrf_token or "", token):
        raise Denied(
            "The X-CSRF-Token header is missing or does not belong to this session.",
            hint="Send the value of the cookie forge_csrf in it; reload the page if it was open for long.",
        )


def _session_caller(session: SessionRow) -> Caller:
    return Caller(
        account_id=session.account.id,
        name=session.account.name,
        scopes=session.account.role.scopes,
        method=CallerMethod.SESSION,
        credential_id=session.id,
    )
