"""Which item of a list became which, when all there is to go by is the list before and the list after."""

from collections.abc import Callable, Sequence
from typing import Any

_Judge = Callable[[Any, Any], bool]


def is_same(one: Any, other: Any) -> bool:
    """As JSON: 1 is 1.0 and not true, and the order of keys says nothing."""
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(value, other[key]) for key, value in one.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType, reportUnknownMemberType]
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def match_items(old: Sequence[Any], new: Sequence[Any]) -> list[int | None]:
    """For each new item the index of the one it was; the surest matches first."""
    matches: list[int | None] = [None] * len(new)
    if _all_have_ids(old) and _all_have_ids(new):
        places = {item["id"]: index for index, item in reversed(list(enumerate(old)))}
        matches = [places.get(item["id"]) for item in new]
        judges: tuple[_Judge, ...] = (_does_the_same,)
    else:
        judges = (is_same, _is_alike)
    for judge in judges:
        _match(matches, old, new, judge)
    return matches


def _match(matches: list[int | None], old: Sequence[Any], new: Sequence[Any], judge: _Judge) -> None:
    free = [index for index in range(len(old)) if index not in set(matches)]
    for place, item in enumerate(new):
        if matches[place] is None and free:
            found = next((index for index in free if judge(old[index], item)), None)
            if found is not None:
                free.remove(found)
                matches[place] = found


def _all_have_ids(items: Sequence[Any]) -> bool:
    return all(isinstance(item, dict) and isinstance(item.get("id"), str) for item in items)  # pyright: ignore[reportUnknownMemberType]


def _does_the_same(old: Any, new: Any) -> bool:
    """A step that was only given another id."""
    return is_same(old.get("config"), new.get("config"))


def _is_alike(old: Any, new: Any) -> bool:
    if isinstance(old, dict) and isinstance(new, dict):
        return old.get("type") == new.get("type")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return False
