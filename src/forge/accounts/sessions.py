"""Web sessions with token rotation.

The token is replaced every hour, so that a stolen one is soon worthless and its use is detected. The replaced token
stays valid for another minute, because a page sends several requests at once. The new token is derived from the old
one and a random salt, so each of those requests can set the same new cookie. If the response with the new cookie is
lost, the user stays signed in: until the new token was used once, the old one gets it again. After that, use of the
old token means that two parties hold the session. The server cannot tell which one is the thief, so the session ends.
"""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum, auto

from forge.accounts import store, tokens
from forge.accounts.models import Account
from forge.accounts.store import SessionRow
from forge.errors import Unauthenticated
from forge.kernel.hashing import hash_text
from forge.kernel.ids import new_id
from forge.store.database import Tx

ROTATION_INTERVAL = timedelta(hours=1)
PREVIOUS_ACCEPTED_FOR = timedelta(seconds=60)
SEEN_UPDATE_INTERVAL = timedelta(minutes=1)
"""Not at every request: a write per request would make every page wait for the disk."""
SIGN_IN = "Sign in again with a link from the terminal: forge login --link"


class TokenState(Enum):
    """The state of a token that belongs to a session."""

    CURRENT = auto()
    UNSEEN = auto()
    """Current, but the session's expiry has not been extended for a while."""
    DUE = auto()
    """Current, and old enough to be rotated."""
    PREVIOUS = auto()
    UNCONFIRMED = auto()
    """Previous, and the new token was never used: its response was lost, or the laptop was closed."""
    REPLAYED = auto()
    EXPIRED = auto()


@dataclass(frozen=True)
class OpenedSession:
    id: str
    account: Account
    token: str = field(repr=False)


async def open_session(tx: Tx, account: Account, at: datetime, life: timedelta) -> OpenedSession:
    await store.delete_sessions_expired_before(tx, at)
    token = tokens.new_token()
    session = SessionRow(
        id=new_id(),
        token_hash=hash_text(token),
        previous_hash=None,
        salt=b"",
        rotated_at=at,
        seen_at=at,
        expires_at=at + life,
        account=account,
    )
    await store.insert_session(tx, session, created_at=at)
    return OpenedSession(session.id, account, token)


async def find(tx: Tx, token: str) -> SessionRow:
    session = await store.find_session(tx, hash_text(token))
    if session is None:
        raise Unauthenticated("This session has ended.", hint=SIGN_IN)
    return session


def token_state(session: SessionRow, token: str, at: datetime) -> TokenState:
    if session.expires_at <= at:
        return TokenState.EXPIRED
    age = at - session.rotated_at
    if hash_text(token) != session.token_hash:
        return _previous_token_state(session, age)
    if age > ROTATION_INTERVAL:
        return TokenState.DUE
    is_first_use = session.previous_hash is not None and not session.is_confirmed
    return (
        TokenState.UNSEEN
        if is_first_use or at - session.seen_at >= SEEN_UPDATE_INTERVAL
        else TokenState.CURRENT
    )


def _previous_token_state(session: SessionRow, age: timedelta) -> TokenState:
    if abs(age) <= PREVIOUS_ACCEPTED_FOR:  # a clock that was set back must not extend the minute
        return TokenState.PREVIOUS
    return TokenState.REPLAYED if session.is_confirmed else TokenState.UNCONFIRMED


async def rotate(tx: Tx, session: SessionRow, token: str, at: datetime, life: timedelta) -> str:
    """Rotate the token and return the new one, also if a concurrent request rotated it first."""
    salt = secrets.token_bytes(32)
    new_token = successor(token, salt)
    rotated = replace(
        session,
        token_hash=hash_text(new_token),
        previous_hash=hash_text(token),
        salt=salt,
        rotated_at=at,
        seen_at=at,
        expires_at=at + life,
    )
    if await store.rotate_session(tx, rotated, replaced_hash=hash_text(token)):
        return new_token
    return successor(token, (await find(tx, token)).salt)


def successor(token: str, salt: bytes) -> str:
    """Derive the next token. Needs both the token (in the browser) and the salt (in the database)."""
    digest = hmac.new(token.encode(), b"forge-rotate" + salt, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
