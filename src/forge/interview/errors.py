"""Errors of interviews."""

from forge.errors import Conflict, Invalid

ASSEMBLE = "Create the bot with `POST /api/v1/builder/sessions/{id}/assemble`."
CREATE_SKILL = "Create the skill with `POST /api/v1/builder/sessions/{id}/create-skill`."
SEND_ASSEMBLE = "Create the bot with the message `assemble_bot`."
SEND_CREATE_SKILL = "Create the skill with the message `create_skill`."


class BadAnswer(Invalid):
    """The answer does not fit the current turn."""

    status, code = 400, "bad_answer"


class NotThisMode(BadAnswer):
    """A bot operation in an interview about a skill, or the other way round."""

    code = "wrong_mode"

    @classmethod
    def is_about_a_skill(cls) -> "NotThisMode":
        return cls("This interview is about a skill.", hint=CREATE_SKILL, websocket_hint=SEND_CREATE_SKILL)

    @classmethod
    def is_about_a_bot(cls) -> "NotThisMode":
        return cls("This interview is about a bot.", hint=ASSEMBLE, websocket_hint=SEND_ASSEMBLE)


class ReadyToCreate(Conflict):
    """A skill was confirmed with an answer. Only the request that creates it confirms it."""

    def __init__(self) -> None:
        super().__init__(
            "All questions are answered; the skill is not created yet.",
            hint=CREATE_SKILL,
            websocket_hint=SEND_CREATE_SKILL,
        )


class NotFinished(Conflict):
    """There is nothing to create yet, and the request has no complete configuration either."""

    @classmethod
    def bot(cls) -> "NotFinished":
        return cls(
            "The interview is not finished.",
            hint="Answer the remaining questions, or send a complete `config`.",
        )

    @classmethod
    def skill(cls) -> "NotFinished":
        return cls(
            "The interview is not finished.",
            hint="Answer the remaining questions, or send a complete `skill_request`.",
        )


class WentOn(Conflict):
    """The request refers to an earlier revision of the interview."""

    code = "went_on"


class NewerDraft(Conflict):
    """The draft was saved by a newer version of Forge."""

    code = "newer_draft"


class BrokenDraft(Conflict):
    """The saved state is invalid."""

    code = "broken_draft"
