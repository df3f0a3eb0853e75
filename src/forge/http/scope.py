"""What a caller may do, and how it was recognised. Light enough for the command line to import."""

from enum import StrEnum


class Scope(StrEnum):
    """What a caller may do; each scope includes the ones before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    @property
    def included(self) -> frozenset["Scope"]:
        order = list(Scope)
        return frozenset(order[: order.index(self) + 1])


class CallerMethod(StrEnum):
    SESSION = "session"
    API_KEY = "api_key"
