"""Drop what a model repeats when it continues an answer."""

import pytest

from forge.bots.chat.continuation import OverlapFilter, without_overlap

SAID = "The sea rises twice a day, because the moon pulls"


@pytest.mark.parametrize(
    ("text", "new"),
    [
        (" the water.", " the water."),
        (f"{SAID} the water.", " the water."),
        (f"\n{SAID} the water.", " the water."),
        ("because the moon pulls the water.", " the water."),
        ("pulls the water.", "pulls the water."),
        ("The sea rises once a day.", "The sea rises once a day."),
        (SAID, ""),
        ("", ""),
    ],
    ids=["new", "again", "newline", "sentence", "word", "different", "nothing", "empty"],
)
@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_repeated_beginning_is_dropped(text: str, new: str, piece: int):
    assert without_overlap(SAID, text) == new
    overlap = OverlapFilter(SAID)
    pieces = [overlap.add(text[start : start + piece]) for start in range(0, len(text), piece)]
    assert "".join(pieces) + overlap.rest() == new


def test_new_answer_is_not_held_back():
    overlap = OverlapFilter("")
    assert (overlap.add("The"), overlap.add(" sea"), overlap.rest()) == ("The", " sea", "")
