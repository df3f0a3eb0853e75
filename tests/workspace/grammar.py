"""Generate path traversal attempts from the building blocks of public lists."""

import itertools
import random
from collections.abc import Iterator


def _pieces(text: str) -> list[str]:
    return text.split("|")


DOTS = _pieces(
    "..|../.|...|....|..;|.. | ..|. .|..\t|..\0|..\n|%2e%2e|%2E%2e|.%2e|%252e%252e|%c0%ae%c0%ae|%u002e%u002e|"
    "\\.\\.|\u2026|\u2024\u2024|\uff0e\uff0e|\u202e..|0x2e0x2e|..\udc2f|..%00|..%0a|..::$DATA|.\u200b."
)
SLASHES = _pieces(
    "/|\\|//|/./|\\/|%2f|%5c|%252f|%c0%af|%u2215|\uff0f|\u2215|\u2044|:|;/|/\0/|/\u200d/",
)
STARTS = _pieces(
    "|/|./|//|src/|src//|link/|loop/|file:///|file://localhost/|C:\\|C:/|c:|\\\\?\\C:\\|\\\\server\\share\\|"
    "//server/share/|~/|~root/|$HOME/|${PWD}/|`pwd`/|-/|/proc/self/cwd/|/proc/self/root/|/dev/fd/0/|\ufeff|"
    f"{'x' * 300}/|{'a/' * 150}"
)
TARGETS = _pieces(
    "|outside/secret.txt|etc/passwd|proc/self/root/etc/passwd|proc/self/environ|proc/self/fd/0|dev/zero|dev/tty|"
    ".git/config|.git/hooks/post-commit|GIT~1/config|secret.txt|src/app.py|Windows/win.ini|CON|NUL|aux.txt|"
    "secret.txt%00.png|secret.txt\0.png|secret.txt::$DATA"
)


def climbing_paths(count: int) -> Iterator[str]:
    """Generate a sample of starts, ways up and targets; always the same one."""
    choose = random.Random(20261115)
    ways_up = itertools.cycle(list(itertools.product(DOTS, SLASHES)))
    for dots, slash in itertools.islice(ways_up, count):
        climb = (dots + slash) * choose.choice((1, 1, 2, 3, 8, 40))
        yield choose.choice(STARTS) + climb + choose.choice(TARGETS)
