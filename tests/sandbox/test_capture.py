import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.sandbox.models import Output
from forge.sandbox.process.supervisor import Capture


def captured(limit: int, *chunks: bytes) -> Output:
    capture = Capture(limit)
    for chunk in chunks:
        capture.add(chunk)
    return capture.output()


def test_output_within_limit_is_kept():
    assert captured(10, b"01234", b"56789") == Output("0123456789", 10, truncated=False)


def test_head_and_tail_are_kept_with_gap_note():
    assert captured(4, b"ab", b"c" * 1000, b"yz") == Output(
        "ab\n[... 1000 bytes omitted ...]\nyz", 1004, truncated=True
    )


@pytest.mark.parametrize("limit", range(4, 16))
def test_characters_are_not_split(limit: int):
    output = captured(limit, "äöü€😀".encode() * 20)
    assert output.truncated
    assert "\ufffd" not in output.text


def test_invalid_utf8_is_replaced():
    assert captured(10, b"a\xff\xfeb").text == "a\ufffd\ufffdb"


@given(st.lists(st.binary(max_size=50)), st.integers(2, 100))
def test_capture_is_bounded_for_any_input(chunks: list[bytes], limit: int):
    data = b"".join(chunks)
    output = captured(limit, *chunks)
    assert output.total_bytes == len(data)
    assert output.truncated == (len(data) > limit)
    if not output.truncated:
        assert output.text == data.decode(errors="replace")
