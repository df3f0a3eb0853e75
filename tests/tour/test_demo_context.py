"""The demo quotes streamed text with a margin."""

import io
from itertools import accumulate

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
    for text in accumulate(pieces):
        quote.write(text)
    quote.write(whole)
    assert out.getvalue() == "   │ Hello.\n   │ \n   │ You said: hi."
