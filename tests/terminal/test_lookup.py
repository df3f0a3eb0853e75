import pytest

from forge.errors import Invalid, NotFound
from forge.terminal.lookup import choose, is_id

IDS = [f"01a1dd9e-{number:04x}-75f3-b0a6-6a948f274981" for number in range(8)]


def find(prefix: str) -> str:
    return choose(prefix, "run", IDS, lambda item: item)


def test_unique_prefix_finds_the_id():
    assert find("01a1dd9e-0003") == IDS[3]


def test_ambiguous_prefix_lists_the_matches():
    with pytest.raises(Invalid, match="matches 8 runs") as error:
        find("01a1")
    assert error.value.hint == f"Choose one: {', '.join(IDS[:5])} and 3 more"


@pytest.mark.parametrize("prefix", ["ff", "", "../keys", "nightly"])
def test_unknown_prefix_is_not_found(prefix: str):
    with pytest.raises(NotFound):
        find(prefix)


def test_only_a_complete_id_is_valid():
    assert is_id(IDS[0])
    assert not is_id(IDS[0][:-1])
    assert not is_id(f"{IDS[0]}/cancel")
