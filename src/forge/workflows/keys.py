"""The name of a step within its run: its id, and where it stands in loops. `each[2]/fetch` is the third fetch of `each`."""


def inside(key: str, index: int) -> str:
    """What the keys of a loop's iteration begin with."""
    return f"{key}[{index}]/"


def parts_of(key: str) -> list[tuple[str, int | None]]:
    """The steps it is in and itself, from the outermost, each loop with its iteration."""
    parts = (part.rstrip("]").partition("[") for part in key.split("/"))
    return [(step, int(index) if index else None) for step, _, index in parts]
