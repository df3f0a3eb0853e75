import pytest

from forge.errors import Invalid, NotFound
from forge.terminal.lookup import choose, is_id

IDS = [f"01a1dd9e-{number:04x}-75f3-b0a6-6a948f274981" for number in range(8)]


def pick(given: str) -> str:
    return choose(given, "run", IDS, lambda item: item)


def test_the_beginning_of_an_id_is_enough_when_it_fits_one():
    assert pick("01a1dd9e-0003") == IDS[3]


def test_a_beginning_that_fits_several_is_refused_with_a_choice():
    with pytest.raises(Invalid, match="fits 8 runs") as refused:
        pick("01a1")
    assert refused.value.hint == f"Say which: {', '.join(IDS[:5])} and 3 more"


@pytest.mark.parametrize("given", ["ff", "", "../keys", "nightly"])
def test_what_fits_nothing_is_not_found(given: str):
    with pytest.raises(NotFound):
        pick(given)


def test_only_a_whole_id_is_an_id():
    assert is_id(IDS[0])
    assert not is_id(IDS[0][:-1])
    assert not is_id(f"{IDS[0]}/cancel")
