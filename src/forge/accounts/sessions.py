"""Web sessions. Their token is replaced every hour, so that a stolen one is of little use and gives itself away.

The replaced token is good for another minute, because a page sends several requests at once. The new token follows
from the old one and a random salt, so each of those requests can hand out the same new cookie: if the first answer
is lost on its way, nobody is signed out: as long as the new token was never shown, the old one gets it again. Shown any
later, the old token means that two parties hold the session, and nobody can tell which one is the thief: the session
ends for both.
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
from forge.store.engine import Tx

ROTATED_AFTER = timedelta(hours=1)
PREVIOUS_ACCEPTED_FOR = timedelta(seconds=60)
SEEN_EVERY = timedelta(minutes=1)
"""A write per request would make every page wait for the disk."""
SIGN_IN = "Sign in again with a link from the terminal: forge login --link"


class Standing(Enum):
    """What a token that belongs to a session means at this moment."""

    CURRENT = auto()
    UNSEEN = auto()
    """Current, and the session's expiry has not been moved for a while."""
    DUE = auto()
    """Current, and old enough to be replaced."""
    PREVIOUS = auto()
    UNARRIVED = auto()
    """Previous, and the new token was never shown: its answer was lost, or the lid was shut on it."""
    REPLAYED = auto()
    EXPIRED = auto()


@dataclass(frozen=True)
class OpenedSession:
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
    return OpenedSession(account, token)


async def find(tx: Tx, token: str) -> SessionRow:
    session = await store.find_session(tx, hash_text(token))
    if session is None:
        raise Unauthenticated("This session has ended.", hint=SIGN_IN)
    return session


def judge(session: SessionRow, token: str, at: datetime) -> Standing:
    if session.expires_at <= at:
        return Standing.EXPIRED
    age = at - session.rotated_at
    if hash_text(token) != session.token_hash:
        return _judge_previous(session, age)
    if age > ROTATED_AFTER:
        return Standing.DUE
    is_first_use = session.previous_hash is not None and not session.is_confirmed
    return Standing.UNSEEN if is_first_use or at - session.seen_at >= SEEN_EVERY else Standing.CURRENT


def _judge_previous(session: SessionRow, age: timedelta) -> Standing:
    if abs(age) <= PREVIOUS_ACCEPTED_FOR:  # a clock that was set back must not make the minute longer
        return Standing.PREVIOUS
    return Standing.REPLAYED if session.is_confirmed else Standing.UNARRIVED


async def rotate(tx: Tx, session: SessionRow, token: str, at: datetime, life: timedelta) -> str:
    """The token that takes this one's place, also when a request at the same time was first."""
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
    """Computable only with both: the browser has the token, the database has the salt."""
    digest = hmac.new(token.encode(), b"forge-rotate" + salt, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
