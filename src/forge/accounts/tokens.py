"""Everything opaque that opens a door: how it is made, and what of it may be stored or shown."""

import hashlib
import hmac
import secrets

KEY_PREFIX = "forge_"


def new_token() -> str:
    """256 random bits, safe in a URL and in a cookie."""
    return secrets.token_urlsafe(32)


def new_key() -> str:
    return KEY_PREFIX + new_token()


def hint_of(key: str) -> str:
    """Enough of a key for its owner to recognise it."""
    return f"{KEY_PREFIX}…{key[-4:]}"


def csrf_token(session_token: str) -> str:
    """Follows from the session's token, so there is nothing to store and it changes with it."""
    return hmac.new(session_token.encode(), b"forge-csrf", hashlib.sha256).hexdigest()


def is_csrf_token(shown: str, session_token: str) -> bool:
    # As bytes: compare_digest refuses text that is not ASCII, and a header can hold anything.
    return hmac.compare_digest(shown.encode(), csrf_token(session_token).encode())
