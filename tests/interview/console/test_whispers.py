"""The sign of life while Forge thinks."""

import io
import re

from rich.console import Console
from tests.support.server import wait_until

from forge.interview.console.whispers import Whispers
from forge.terminal.client import Client
from forge.terminal.location import Location, Source


def test_it_moves():
    out = io.StringIO()
    whispers = Whispers(
        Client(lambda: Location("http://127.0.0.1:9", "", Source.LOGIN)),
        Console(file=out, force_terminal=True),
    )
    with whispers.shown():
        frames = wait_until(
            lambda: len(set(re.findall("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", out.getvalue()))) > 2, what="a turn of it"
        )
    assert frames
    assert "thinking …" in out.getvalue()
