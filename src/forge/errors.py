"""Every error a person or a client can meet. One code each, the same in HTTP, WebSocket and terminal.

ForgeError
├── ConfigError      exit 2   the settings are wrong; every problem is listed
├── Invalid          422      well formed, but breaks a rule
│   └── Malformed    400      cannot even be read: broken JSON, a bad cursor
├── Unauthenticated  401      nobody, or a key, link or session that is no longer good
├── Denied           403      known, but not allowed
├── NotFound         404      does not exist, or is not yours
├── NotAllowed       405      the path exists, the method does not
├── TooSlow          408      a live client that does not take what it is sent
├── Conflict         409      exists, but in the wrong state for this verb
├── Gone             410      was there, and its time is over
├── TooLarge         413      more bytes than are taken
├── TooMany          429      too often; `retry_after_s` says when
├── Internal         500      a defect of ours; the log has the details, under the request id
└── Unavailable      503      cannot serve now, try again: starting, stopping, database away
    └── SandboxTooWeak        commands cannot be locked in as well as the settings require

A WebSocket is closed with 4000 + the HTTP status. Exit codes are listed in `docs/reference/cli.md`.
"""

from typing import Any, ClassVar

WS_CLOSE_BASE = 4000


class ForgeError(Exception):
    """Something a person can be told: what is wrong (`message`) and what to do (`hint`)."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 1
    passes: ClassVar[bool] = True
    """Of a failure on our side or a provider's (5xx): whether the same may well work a little later."""
    retry_after_s: float | None = None
    """How long whoever failed asked to be left alone."""

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        field: str | None = None,
        detail: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.field = field
        self.detail = detail
        """What a client needs to go on, as data: what a conflict is with, for instance."""

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
    """What was refused is done again when there is room."""

    def __init__(self) -> None:
        super().__init__("The disk is full.", hint="Nothing is lost. Make room, and do it again.")


class SandboxTooWeak(Unavailable):
    code = "sandbox_too_weak"
