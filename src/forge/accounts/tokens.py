"""Session tokens, API keys and CSRF tokens: generation and display."""

import hashlib
import hmac
import secrets

KEY_PREFIX = "forge_"


def new_token() -> str:
    """Return 256 random bits, safe in a URL and in a cookie."""
    return secrets.token_urlsafe(32)


def new_key() -> str:
    return KEY_PREFIX + new_token()


def hint_of(key: str) -> str:
    """Return an excerpt of a key by which its owner can recognize it."""
    return f"{KEY_PREFIX}…{key[-4:]}"


def csrf_token(session_token: str) -> str:
    """Derive the CSRF token from the session token: nothing to store, and both change together."""
    return hmac.new(session_token.encode(), b"forge-csrf", hashlib.sha256).hexdigest()


def is_csrf_token(shown: str, session_token: str) -> bool:
    # As bytes: compare_digest rejects non-ASCII text, and a header can contain anything.
    return hmac.compare_digest(shown.encode(), csrf_token(session_token).encode())
