"""Bearer tokens of sign-ins over the API: JWTs (HS256) whose `jti` is the id of a session, so that signing out revokes them."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import jwt
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import SecretBytes, SecretStr

from forge.errors import Unauthenticated

LIFETIME = timedelta(hours=24)
ISSUER = "forge"
ALGORITHM = "HS256"
_CLAIMS = ("exp", "iat", "iss", "aud", "sub", "jti")
_SIGN_IN = "Sign in again: GET /auth/github."


@dataclass(frozen=True)
class BearerTokens:
    key: SecretBytes = field(repr=False)

    @classmethod
    def with_secret(cls, secret: SecretStr | None, vault_key: SecretBytes) -> "BearerTokens":
        """Sign with the configured secret, or with a key derived from the vault key."""
        if secret is not None:
            return cls(SecretBytes(secret.get_secret_value().encode()))
        derivation = HKDF(SHA256(), length=32, salt=None, info=b"forge bearer tokens")
        return cls(SecretBytes(derivation.derive(vault_key.get_secret_value())))

    def issue(self, *, session_id: str, account_id: str, github_login: str, at: datetime) -> str:
        claims = {
            "sub": account_id,
            "jti": session_id,
            "github_login": github_login,
            "iss": ISSUER,
            "aud": ISSUER,
            "iat": at,
            "exp": at + LIFETIME,
        }
        return jwt.encode(claims, self.key.get_secret_value(), ALGORITHM)

    def session_id(self, token: str, at: datetime) -> str:
        """Verify a token and return the id of its session, which may have ended."""
        try:
            claims = jwt.decode(
                token,
                self.key.get_secret_value(),
                [ALGORITHM],
                issuer=ISSUER,
                audience=ISSUER,
                options={"require": list(_CLAIMS), "verify_exp": False, "verify_iat": False},
            )
        except jwt.InvalidTokenError as error:
            raise Unauthenticated("This bearer token is not valid.", hint=_SIGN_IN) from error
        if claims["exp"] <= at.timestamp():
            raise Unauthenticated("This bearer token has expired.", hint=_SIGN_IN)
        return claims["jti"]


def looks_like_bearer_token(text: str) -> bool:
    """Return whether the text has the form of a JWT; API keys have no dots."""
    return text.count(".") == 2
