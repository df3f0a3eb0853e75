"""The parts of an existing bot or skill that can be changed, and the words that refer to them."""

from enum import StrEnum

from forge.interview.domain.dialogue import Mode
from forge.interview.domain.text_analysis import words


class Part(StrEnum):
    IDENTITY = "identity"
    PERSONALITY = "personality"
    BOUNDARIES = "boundaries"
    MODEL = "model"
    SKILLS = "skills"
    STEPS = "steps"
    TRIGGER = "trigger"
    KIND = "kind"
    DONE = "done"


_WORDS = {
    Part.DONE: "done nothing finished finish no none ready enough",
    Part.BOUNDARIES: "boundary boundaries never forbid forbidden limits limit rule rules avoid refuse",
    Part.SKILLS: "skill skills ability abilities",
    Part.MODEL: "model temperature creative creativity precise opus sonnet haiku gpt gemini llama tokens cheaper faster",
    Part.PERSONALITY: (
        "personality tone voice trait traits character friendlier friendly warmer warm formal funny funnier playful "
        "polite kinder shorter direct style speak speaks talk talks sound sounds"
    ),
    Part.IDENTITY: "name rename call called purpose description task job identity",
}
_SKILL_WORDS = {
    Part.DONE: "done nothing finished finish no none ready enough",
    Part.TRIGGER: "when trigger use used situation",
    Part.KIND: "kind script program instructions source code capability capabilities network files",
    Part.STEPS: "what step steps do does output result description name add also change",
}


def find_part(mode: Mode, text: str) -> Part | None:
    """Return the part that most words refer to; the first one on a tie."""
    every = words(text)
    table = _SKILL_WORDS if mode is Mode.SKILL else _WORDS
    counts = {part: sum(word in known.split() for word in every) for part, known in table.items()}
    best = max(counts, key=lambda part: counts[part])
    return best if counts[best] else None
