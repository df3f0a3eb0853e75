"""Errors of interviews."""

from forge.errors import Conflict, Invalid


class BadAnswer(Invalid):
    """The answer does not fit the current turn."""

    status, code = 400, "bad_answer"


class NotThisMode(BadAnswer):
    """A bot operation in an interview about a skill, or the other way round."""

    code = "wrong_mode"


class WentOn(Conflict):
    """The request refers to an earlier revision of the interview."""

    code = "went_on"


class NewerDraft(Conflict):
    """The draft was saved by a newer version of Forge."""

    code = "newer_draft"


class BrokenDraft(Conflict):
    """The saved state is invalid."""

    code = "broken_draft"
