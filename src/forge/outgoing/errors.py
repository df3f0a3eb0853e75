"""Errors of outgoing requests."""

from forge.errors import Denied, Invalid, TooLarge, Unavailable


class Refused(Denied):
    """The destination is not allowed."""


class Unsendable(Invalid):
    """The request is invalid, such as its URL or a reserved header."""


class Unreachable(Unavailable):
    """The host cannot be resolved or reached, or does not respond with valid HTTP."""


class TooLate(Unavailable):
    """The request timed out."""


class TooLong(TooLarge):
    """The request or response exceeds its size limit."""
