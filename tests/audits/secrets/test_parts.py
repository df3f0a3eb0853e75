"""Shapes, randomness, checksums, masks: the parts that finding secrets is made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.audits.secrets.checksums import checksum, has_checksum
from forge.audits.secrets.entropy import entropy, surprise
from forge.audits.secrets.masking import MAX_SHOWN, masked
from forge.audits.secrets.models import Hit, Rank
from forge.audits.secrets.patterns import compiled
from forge.audits.secrets.shapes import lead_of, pattern_of, sample_of, starts_of
from forge.audits.secrets.surroundings import Surroundings, surroundings


@given(st.integers(0, 50))
def test_a_sample_matches_the_pattern_of_its_shape(seed: int) -> None:
    shape = "k<y|z|>_<a20-40>.<uuid>-<w9+>="
    assert compiled(pattern_of(shape)).fullmatch(sample_of(shape, seed).encode())
    assert sample_of(shape, seed) == sample_of(shape, seed)


def test_a_shape_says_what_it_starts_with() -> None:
    assert starts_of("gh<p|o>_<a36>") == ("ghp_", "gho_")
    assert lead_of("gh<p|o>_<a36>") == "gh(?:p|o)_[0-9A-Za-z]{12}"
    assert lead_of("x<d3>y") == "x[0-9]{3}"


def test_words_surprise_less_than_keys() -> None:
    assert surprise(b"password_reset_token_generator") < 4
    assert surprise(sample_of("<a40>", 1).encode()) > 5.5
    assert (surprise(b""), surprise(b"a"), entropy(b""), entropy(b"aaaa"), entropy(b"abab")) == (
        0,
        0,
        0,
        0,
        1,
    )


def test_a_token_with_the_right_checksum_is_real() -> None:
    body = sample_of("<a30>", 1).encode()
    assert has_checksum(b"ghp_" + body + checksum(body))
    assert not has_checksum(b"ghp_" + body + b"000000")
    assert not has_checksum(b"ghp_")


def test_a_masked_line_keeps_what_is_around_the_secret() -> None:
    line = b'token = "abcd1234efgh5678"; other = "short"'
    hits = [Hit("x", "x", Rank.TOKEN, 9, 25), Hit("y", "y", Rank.TOKEN, 37, 42)]
    assert masked(line, hits) == 'token = "abcd…"; other = "…"'


def test_a_mask_covers_what_continues_the_secret() -> None:
    assert masked(b"t=abcd1234efgh5678ijkl.mnop end", [Hit("x", "x", Rank.TOKEN, 2, 18)]) == "t=abcd… end"


@given(st.binary(min_size=16, max_size=60), st.binary(max_size=3000), st.binary(max_size=3000))
def test_what_is_shown_is_short_and_never_the_secret(secret: bytes, before: bytes, after: bytes) -> None:
    shown = masked(
        before + secret + after, [Hit("x", "x", Rank.TOKEN, len(before), len(before) + len(secret))]
    )
    assert len(shown) <= MAX_SHOWN


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app.py", Surroundings.CODE),
        (".env", Surroundings.CODE),
        ("deploy/values.yaml", Surroundings.CODE),
        ("src/contest/main.py", Surroundings.CODE),
        ("docs/guide.txt", Surroundings.EXAMPLES),
        ("README.md", Surroundings.EXAMPLES),
        ("tests/test_login.py", Surroundings.EXAMPLES),
        ("src/login.test.ts", Surroundings.EXAMPLES),
        (".env.example", Surroundings.EXAMPLES),
        ("web/package-lock.json", Surroundings.GENERATED),
        ("uv.lock", Surroundings.GENERATED),
        ("static/jquery.min.js", Surroundings.GENERATED),
        ("logo.svg", Surroundings.GENERATED),
        ("na\udcefve\n.py", Surroundings.CODE),
    ],
)
def test_the_kind_of_file_decides_what_counts(path: str, expected: Surroundings) -> None:
    assert surroundings(path) is expected
