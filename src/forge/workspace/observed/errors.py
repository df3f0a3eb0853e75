"""Errors of observed repositories."""

from forge.errors import Invalid, NotFound, TooLarge, Unavailable


class NotARepository(Invalid):
    """The path is not in a git repository."""


class BareRepository(Invalid):
    """The repository has no work tree."""


class BrokenRepository(Invalid):
    """The repository is damaged or invalid."""


class NoSuchRevision(NotFound):
    """The revision does not exist."""


class CannotBeRead(Invalid):
    """Files of the project are not readable."""


class TooMuchToHash(TooLarge):
    """New large files exceed the size that is hashed."""


class TooManyNested(TooLarge):
    """Too many nested repositories."""


class HistoryIsCut(Unavailable):
    """The history needed for the answer is missing in a shallow clone."""


class GitTooOld(Unavailable):
    """The installed git lacks a required feature."""
