"""What can go wrong between Forge and GitHub. No message contains a token."""

from typing import ClassVar

from forge.errors import Denied, TooMany, Unavailable


class GithubUnavailable(Unavailable):
    """GitHub did not answer, answered too late, or failed."""

    code: ClassVar[str] = "github_unavailable"


class GithubRateLimited(TooMany):
    code: ClassVar[str] = "github_rate_limited"


class GithubTokenRejected(Denied):
    """The token was revoked, has expired, or was never valid."""

    code: ClassVar[str] = "github_token_rejected"


class GithubDenied(Denied):
    """The token is valid, but lacks a permission, or GitHub refused the request."""

    code: ClassVar[str] = "github_denied"
