"""The errors shown to users and clients. Each has one code, the same in HTTP, WebSocket and terminal.

ForgeError
├── ConfigError      exit 2   invalid settings; every problem is listed
├── Invalid          422      well-formed, but violates a rule
│   └── Malformed    400      cannot be parsed: broken JSON, invalid cursor
├── Unauthenticated  401      no credentials, or an invalid key, link or session
├── Denied           403      authenticated, but not allowed
├── NotFound         404      does not exist, or belongs to another account
├── NotAllowed       405      the path exists, the method does not
├── TooSlow          408      a WebSocket client does not keep up
├── Conflict         409      exists, but is in the wrong state for this operation
├── Gone             410      existed, but has expired
├── TooLarge         413      exceeds a size limit
├── TooMany          429      rate limit exceeded; `retry_after_s` says when to retry
├── Internal         500      a bug; the log has the details under the request id
└── Unavailable      503      temporarily unavailable: starting, stopping, database unreachable
    └── SandboxTooWeak        the sandbox is weaker than the settings require

A WebSocket is closed with 4000 + the HTTP status. Exit codes are listed in `docs/reference/cli.md`.
"""

from typing import Any, ClassVar

WS_CLOSE_BASE = 4000


class ForgeError(Exception):
    """An error with a message and a hint for the user."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 1
    passes: ClassVar[bool] = True
    """Whether a retry of a 5xx error can succeed."""
    retry_after_s: float | None = None
    """How long to wait before a retry."""

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        websocket_hint: str | None = None,
        field: str | None = None,
        detail: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.websocket_hint = websocket_hint or hint
        """The hint for a client of the WebSocket, where the way to resolve it differs from HTTP."""
        self.field = field
        self.detail = detail
        """Structured data for the client, such as what a conflict is with."""

    @classmethod
    def ws_close_code(cls) -> int:
        return WS_CLOSE_BASE + cls.status


class ConfigError(ForgeError):
    code, exit_code = "config", 2

    def __init__(self, problems: list[str], *, hint: str | None = None) -> None:
        super().__init__("\n".join(problems), hint=hint)
        self.problems = problems


class Invalid(ForgeError):
    status, code, exit_code = 422, "invalid", 2


class Malformed(Invalid):
    status, code = 400, "malformed"


class Unauthenticated(ForgeError):
    status, code, exit_code = 401, "unauthenticated", 4


class Denied(ForgeError):
    status, code, exit_code = 403, "denied", 4


class NotFound(ForgeError):
    status, code, exit_code = 404, "not_found", 5


class NotAllowed(ForgeError):
    status, code, exit_code = 405, "not_allowed", 2


class TooSlow(ForgeError):
    status, code, exit_code = 408, "too_slow", 3


class Conflict(ForgeError):
    status, code, exit_code = 409, "conflict", 6


class Gone(ForgeError):
    status, code, exit_code = 410, "gone", 6


class TooLarge(ForgeError):
    status, code, exit_code = 413, "too_large", 2


class TooMany(ForgeError):
    status, code, exit_code = 429, "too_many", 7

    def __init__(self, message: str, *, retry_after_s: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class Internal(ForgeError):
    pass


class Unavailable(ForgeError):
    status, code, exit_code = 503, "unavailable", 3


class DiskFull(Unavailable):
    """The disk is full; the operation can be repeated when there is space."""

    def __init__(self) -> None:
        super().__init__("The disk is full.", hint="Saved data is intact. Free some space, then try again.")


class SandboxTooWeak(Unavailable):
    code = "sandbox_too_weak"
