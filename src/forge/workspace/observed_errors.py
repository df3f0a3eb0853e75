"""What can be wrong with a repository that somebody else owns, in the words of the one error tree."""

from forge.errors import Invalid, NotFound, TooLarge, Unavailable


class NotARepository(Invalid):
    """There are files, and no history to compare them with."""


class BareRepository(Invalid):
    """There is a history, and no files beside it."""


class BrokenRepository(Invalid):
    """git itself cannot make sense of it."""


class NoSuchRevision(NotFound):
    """Nothing in the repository has that name."""


class CannotBeRead(Invalid):
    """Files that are part of the project and that we may not open."""


class TooMuchToHash(TooLarge):
    """New files so large that hashing them takes longer than anybody waits."""


class TooManyNested(TooLarge):
    """More repositories in one another than anybody means to have."""


class HistoryIsCut(Unavailable):
    """A shallow clone: the answer lies behind its edge."""


class GitTooOld(Unavailable):
    """The git of this machine lacks what we need."""
