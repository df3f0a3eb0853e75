"""Scopes and authentication methods. No heavy imports: the command line uses this module."""

from enum import StrEnum


class Scope(StrEnum):
    """Permissions of a caller; each scope includes the ones before it."""

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
