"""Words of a turn, while it is written."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.interviews import ask, clarify

from forge.interview.speaking.partial import Words

TURN = json.dumps(ask("Was soll es können? “Alles” \\ oder 🌙?", "A", "B", patch={"name": "question"}))


async def heard(pieces: list[str]) -> list[str]:
    words: list[str] = []

    async def hear(piece: str) -> None:
        words.append(piece)

    growing = Words(hear)
    for piece in pieces:
        await growing.hear(piece)
    return words


@given(cuts=st.lists(st.integers(0, len(TURN)), max_size=30))
async def test_however_it_is_cut_the_words_are_those_of_the_question(cuts: list[int]):
    places = sorted({0, *cuts, len(TURN)})
    pieces = [TURN[start:end] for start, end in pairwise(places)]
    assert "".join(await heard(pieces)) == "Was soll es können? “Alles” \\ oder 🌙?"


async def test_a_message_is_heard_as_well():
    assert await heard([json.dumps(clarify("What do you mean?"))]) == ["What do you mean?"]


@pytest.mark.parametrize("junk", ["Sure!", "[1, 2", "null", '"question"', "{]"])
async def test_what_is_no_turn_is_not_heard(junk: str):
    assert await heard([junk]) == []


async def test_a_turn_that_begins_again_goes_on_where_it_was_or_is_silent():
    begun = '{"question": "How shall'
    assert await heard([begun, "", '{"question": "How shall it sound?"}']) == ["How shall", " it sound?"]
    assert await heard([begun, "", '{"question": "Which tone does it have?"}']) == ["How shall"]
