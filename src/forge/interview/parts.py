"""The parts of something that exists which can be changed, and the words that speak of them."""

from enum import StrEnum

from forge.interview.phases import Mode
from forge.interview.wording import words


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


def part_in(mode: Mode, text: str) -> Part | None:
    """The part that most of the words are about; the first of those with as many."""
    every = words(text)
    table = _SKILL_WORDS if mode is Mode.SKILL else _WORDS
    counts = {part: sum(word in known.split() for word in every) for part, known in table.items()}
    best = max(counts, key=lambda part: counts[part])
    return best if counts[best] else None
