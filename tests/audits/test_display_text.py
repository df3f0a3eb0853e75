"""Display of unusual names, and its inverse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.audits.display_text import escape_path, is_same_path, unescape_path


@given(st.binary(max_size=40))
def test_escaped_path_round_trips(name: bytes):
    path = name.decode("utf-8", "surrogateescape")
    assert unescape_path(escape_path(path)) == path
    assert is_same_path(escape_path(path), path)
    assert is_same_path(path, escape_path(path))
    assert is_same_path(path, path)
    escape_path(path).encode()


@given(st.text(st.characters(codec=None), max_size=20))
def test_arbitrary_text_is_unescaped_without_error(text: str):
    assert isinstance(unescape_path(text), str)
    assert "\n" not in escape_path(text)


@given(first=st.binary(max_size=3), second=st.binary(max_size=3))
def test_different_names_have_different_escapes(first: bytes, second: bytes):
    names = [name.decode("utf-8", "surrogateescape") for name in (first, second)]
    assert (escape_path(names[0]) == escape_path(names[1])) is (first == second)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("plain.py", "plain.py"),
        ("caf\\xe9.py", "caf\udce9.py"),
        ("caf\\xc3\\xa9.py", "café.py"),
        ("a\\x0ab", "a\nb"),
        ("a\\\\x0ab", "a\\x0ab"),
        ("a\\u0085b", "a\x85b"),
        ("a\\b\\xz\\", "a\\b\\xz\\"),
        ("\\ud800", "\ud800"),
    ],
)
def test_escape_sequences_are_decoded(text: str, path: str):
    assert unescape_path(text) == path


def test_different_paths_are_not_the_same():
    assert not is_same_path("a\\xe9.py", "aé.py")
    assert not is_same_path("a/b.py", "b.py")
