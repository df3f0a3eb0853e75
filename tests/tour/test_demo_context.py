"""What the demo quotes while it comes in pieces."""

import io

import pytest
from rich.console import Console

from forge.tour.demo_context import Quote


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        (["Hel", "lo.\n", "\nYou", " said: hi.\n"], "Hello.\n\nYou said: hi.\n"),
        ([], "Hello.\n\nYou said: hi.\n"),
    ],
    ids=["in pieces", "at once"],
)
def test_quote_has_a_margin_and_no_trailing_newline(pieces: list[str], whole: str):
    out = io.StringIO()
    quote = Quote(Console(file=out, width=200))
    for piece in pieces:
        quote.add(piece)
    quote.complete(whole)
    assert out.getvalue() == "   │ Hello.\n   │ \n   │ You said: hi."
