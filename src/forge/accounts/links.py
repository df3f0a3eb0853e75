"""One-time login links: shown in the terminal, opened in the browser, good for one use."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from forge.accounts import store, tokens
from forge.errors import ForgeError, Gone, Unauthenticated
from forge.kernel.hashing import hash_text
from forge.store.engine import Tx

LIFE = timedelta(minutes=15)
KEPT = timedelta(days=7)
"""How long a dead link can still say why it is dead."""
NEW_LINK = "Get a new one in the terminal: forge login --link"


@dataclass(frozen=True)
class NewLink:
    token: str = field(repr=False)
    expires_at: datetime


async def create(tx: Tx, account_id: str, at: datetime) -> NewLink:
    await store.delete_links_expired_before(tx, at - KEPT)
    link = NewLink(tokens.new_token(), at + LIFE)
    await store.insert_link(tx, hash_text(link.token), account_id, created_at=at, expires_at=link.expires_at)
    return link


async def use(tx: Tx, token: str, at: datetime) -> str:
    """Whose session to open. Of several uses at once exactly one gets here."""
    account_id = await store.use_link(tx, hash_text(token), at)
    if account_id is None:
        raise _reason(await store.find_link(tx, hash_text(token)))
    return account_id


def _reason(link: store.LinkRow | None) -> ForgeError:
    if link is None:
        return Unauthenticated("This login link is not known here.", hint=NEW_LINK)
    if link.used_at is not None:
        return Gone("This login link has been used; it works once.", hint=NEW_LINK)
    return Gone(f"This login link has expired; it works for {LIFE.seconds // 60} minutes.", hint=NEW_LINK)
