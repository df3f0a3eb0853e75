"""The interview that needs no model: the next question follows from what is known, the same one every time."""

from forge.interview.guide.following import next_question

__all__ = ["next_question"]
