"""What can go wrong with a request that leaves this machine, in the words of the one error tree."""

from forge.errors import Denied, Invalid, TooLarge, Unavailable


class Refused(Denied):
    """It is not allowed to go there."""


class Unsendable(Invalid):
    """What was asked for is no request: an address that cannot be read, a header that is not the caller's to set."""


class Unreachable(Unavailable):
    """The name is not known, nobody answers, or what answers does not speak HTTP."""


class TooLate(Unavailable):
    """The time was over before the last byte."""


class TooLong(TooLarge):
    """More bytes than the caller takes."""
