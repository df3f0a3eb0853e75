"""The five phases of an interview, and the kinds of interviews there are."""

from enum import StrEnum


class Phase(StrEnum):
    BASICS = "basics"
    PERSONALITY = "personality"
    MODEL = "model"
    SKILLS = "skills"
    REVIEW = "review"


class Mode(StrEnum):
    BOT = "bot"
    SKILL = "skill"
    RECONFIGURE = "reconfigure"
    """An existing bot, changed."""
    BATCH = "batch"
    """Several variants of one bot."""

    @property
    def makes_bots(self) -> bool:
        return self is not Mode.SKILL


BOT_LABELS = {
    Phase.BASICS: "Setting up basics",
    Phase.PERSONALITY: "Defining personality",
    Phase.MODEL: "Choosing model",
    Phase.SKILLS: "Selecting skills",
    Phase.REVIEW: "Final review",
}
SKILL_LABELS = {
    Phase.BASICS: "What it does",
    Phase.PERSONALITY: "When it is used",
    Phase.MODEL: "How it works",
    Phase.SKILLS: "What it may do",
    Phase.REVIEW: "Final review",
}


def phase_label(mode: Mode, phase: Phase) -> str:
    return (SKILL_LABELS if mode is Mode.SKILL else BOT_LABELS)[phase]


def is_before(first: Phase, second: Phase) -> bool:
    order = list(Phase)
    return order.index(first) < order.index(second)
