from datetime import UTC, datetime, timedelta

import pytest

from forge.terminal.text import ago, clean, duration, size

NOON = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (5, "5 s ago"),
        (119, "1 min ago"),
        (3 * 3600 + 5, "3 h ago"),
        (50 * 3600, "2 d ago"),
        (-90, "in 1 min"),
    ],
)
def test_time_is_formatted_relative_to_now(seconds: int, words: str):
    assert ago(NOON - timedelta(seconds=seconds), NOON) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 ms"),
        (-10724.9, "0 ms"),
        (0.0214, "21 ms"),
        (2.44, "2.4 s"),
        (185, "3 min 5 s"),
        (7445, "2 h 4 min"),
        (5 * 86400 + 3 * 3600, "5 d 3 h"),
    ],
)
def test_duration_is_formatted_in_two_units(seconds: float, words: str):
    assert duration(timedelta(seconds=seconds)) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (389_120, "389.1 kB"),
        (83_500_000_000, "83.5 GB"),
        (5 * 10**15, "5000.0 TB"),
    ],
)
def test_size_is_formatted_in_decimal_units(count: int, words: str):
    assert size(count) == words


@pytest.mark.parametrize(
    "hostile", ["\x1b]0;owned\x07", "\x1b[2J", "\x9b31m", "a\rb", "\u202egnp.exe", "\x7f", "\x00"]
)
def test_control_characters_are_removed(hostile: str):
    assert not any(character in clean(hostile) for character in "\x1b\x07\x9b\r\u202e\x7f\x00")


def test_line_breaks_and_letters_are_kept():
    assert clean("Grüße\n\t✓ 日本\r\nend") == "Grüße\n\t✓ 日本\nend"
