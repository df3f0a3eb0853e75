"""What can go wrong in an interview."""

from forge.errors import Conflict, Invalid


class BadAnswer(Invalid):
    """An answer that does not fit what was asked."""

    status, code = 400, "bad_answer"


class NotThisMode(BadAnswer):
    """A verb of bots in an interview about a skill, or the other way round."""

    code = "wrong_mode"


class WentOn(Conflict):
    """The answer is for a turn that is over."""

    code = "went_on"


class NewerDraft(Conflict):
    """The draft was made by a newer Forge."""

    code = "newer_draft"


class BrokenDraft(Conflict):
    """What was saved is no interview."""

    code = "broken_draft"
