"""The two cookies of a web session, as Set-Cookie values: the token, and the CSRF token that our pages can read."""

from forge.accounts.tokens import csrf_token

SESSION_COOKIE = "forge_session"
CSRF_COOKIE = "forge_csrf"

_DAY_S = 24 * 60 * 60


def session_cookies(token: str, *, secure: bool, days: int) -> list[str]:
    """After login, and whenever the token was replaced."""
    return _both(token, csrf_token(token), secure=secure, max_age_s=days * _DAY_S)


def ended_session_cookies(*, secure: bool) -> list[str]:
    """Makes the browser forget the session."""
    return _both("", "", secure=secure, max_age_s=0)


def _both(token: str, csrf: str, *, secure: bool, max_age_s: int) -> list[str]:
    common = f"Path=/; Max-Age={max_age_s}; SameSite=Lax" + ("; Secure" if secure else "")
    return [f"{SESSION_COOKIE}={token}; {common}; HttpOnly", f"{CSRF_COOKIE}={csrf}; {common}"]
