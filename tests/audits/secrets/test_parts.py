"""The parts of the secret scanner: shapes, randomness, checksums, masks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.audits.secrets.entropy import entropy, surprise
from forge.audits.secrets.leaks import FileKind, checksum, file_kind, has_checksum
from forge.audits.secrets.models import Hit, Rank
from forge.audits.secrets.patterns import compiled
from forge.audits.secrets.scanner import MAX_SHOWN, mask_secrets
from forge.audits.secrets.shapes import lead_of, pattern_of, sample_of, starts_of


@given(st.integers(0, 50))
def test_sample_matches_pattern_of_shape(seed: int) -> None:
    shape = "k<y|z|>_<a20-40>.<uuid>-<w9+>="
    assert compiled(pattern_of(shape)).fullmatch(sample_of(shape, seed).encode())
    assert sample_of(shape, seed) == sample_of(shape, seed)


def test_prefixes_of_shape_are_computed() -> None:
    assert starts_of("gh<p|o>_<a36>") == ("ghp_", "gho_")
    assert lead_of("gh<p|o>_<a36>") == "gh(?:p|o)_[0-9A-Za-z]{12}"
    assert lead_of("x<d3>y") == "x[0-9]{3}"


def test_words_have_lower_surprise_than_keys() -> None:
    assert surprise(b"password_reset_token_generator") < 4
    assert surprise(sample_of("<a40>", 1).encode()) > 5.5
    assert (surprise(b""), surprise(b"a"), entropy(b""), entropy(b"aaaa"), entropy(b"abab")) == (
        0,
        0,
        0,
        0,
        1,
    )


def test_token_checksum_is_verified() -> None:
    body = sample_of("<a30>", 1).encode()
    assert has_checksum(b"ghp_" + body + checksum(body))
    assert not has_checksum(b"ghp_" + body + b"000000")
    assert not has_checksum(b"ghp_")


def test_mask_keeps_text_around_secrets() -> None:
    line = b'token = "abcd1234efgh5678"; other = "short"'
    hits = [Hit("x", "x", Rank.TOKEN, 9, 25), Hit("y", "y", Rank.TOKEN, 37, 42)]
    assert mask_secrets(line, hits) == 'token = "abcd…"; other = "…"'


def test_mask_covers_continuation_of_secret() -> None:
    assert (
        mask_secrets(b"t=abcd1234efgh5678ijkl.mnop end", [Hit("x", "x", Rank.TOKEN, 2, 18)]) == "t=abcd… end"
    )


@given(st.binary(min_size=16, max_size=60), st.binary(max_size=3000), st.binary(max_size=3000))
def test_masked_text_is_short(secret: bytes, before: bytes, after: bytes) -> None:
    shown = mask_secrets(
        before + secret + after, [Hit("x", "x", Rank.TOKEN, len(before), len(before) + len(secret))]
    )
    assert len(shown) <= MAX_SHOWN


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app.py", FileKind.CODE),
        (".env", FileKind.CODE),
        ("deploy/values.yaml", FileKind.CODE),
        ("src/contest/main.py", FileKind.CODE),
        ("docs/guide.txt", FileKind.EXAMPLES),
        ("README.md", FileKind.EXAMPLES),
        ("tests/test_login.py", FileKind.EXAMPLES),
        ("src/login.test.ts", FileKind.EXAMPLES),
        (".env.example", FileKind.EXAMPLES),
        ("web/package-lock.json", FileKind.GENERATED),
        ("uv.lock", FileKind.GENERATED),
        ("static/jquery.min.js", FileKind.GENERATED),
        ("logo.svg", FileKind.GENERATED),
        ("na\udcefve\n.py", FileKind.CODE),
    ],
)
def test_file_kind_is_detected_by_path(path: str, expected: FileKind) -> None:
    assert file_kind(path) is expected
