"""Format values for output in a terminal."""

import re
from datetime import datetime, timedelta

_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_SIZES = ("bytes", "kB", "MB", "GB", "TB")


def clean(text: str) -> str:
    """Replace characters that move the cursor, change colors or reverse the direction of text."""
    return _INVISIBLE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def ago(at: datetime, now: datetime) -> str:
    """Format a time as `3 min ago` or `in 2 h`."""
    seconds = (now - at).total_seconds()
    if abs(seconds) < 1:
        return "just now"
    size, unit = next((size, unit) for size, unit in _UNITS if abs(seconds) >= size)
    amount = f"{int(abs(seconds) // size)} {unit}"
    return f"{amount} ago" if seconds > 0 else f"in {amount}"


def duration(length: timedelta) -> str:
    """Format a duration as `340 ms`, `2.4 s`, `3 min 5 s`, `2 h 4 min` or `5 d 3 h`.

    A negative duration (the clock was set back) counts as zero.
    """
    seconds = max(0.0, length.total_seconds())
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    index = next(i for i, (size, _) in enumerate(_UNITS) if seconds >= size)
    (size, unit), (small_size, small_unit) = _UNITS[index], _UNITS[index + 1]
    whole, rest = divmod(int(seconds), size)
    return f"{whole} {unit} {rest // small_size} {small_unit}"


def size(count: int) -> str:
    """Format a number of bytes in decimal units."""
    amount = float(count)
    for unit in _SIZES[:-1]:
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} {_SIZES[-1]}"
