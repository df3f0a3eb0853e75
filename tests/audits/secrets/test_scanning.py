"""Scanning of texts: ordinary, long, broken, hostile."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.audits.secrets.models import Hit, Rank
from forge.audits.secrets.scanner import scan
from forge.audits.secrets.shapes import sample_of

TOKEN = sample_of("ghp_<a36>", 1).encode()
KEY = sample_of("<b64>\n<b64>\n<b40>", 1).encode()


def rules(text: bytes, least: Rank = Rank.GENERIC) -> list[str]:
    return [hit.rule for hit in scan(text, least)]


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] task-list, Flask-Login, risk-averse",
        'client.login(username="ada", password="secret")',
        "https://example.com/reset?token=abc&next=/",
        'api_key = os.environ["API_KEY"]',
        "password: ${DATABASE_PASSWORD}",
        "password = {{ vault_database_password_2 }}",
        "token = %(access_token_1)s",
        'token = "<your-token-here-12345>"',
        "secret_key = get_random_secret_key_v2()",
        'self.token_generator = PasswordResetTokenGenerator2("x")',
        '"integrity": "sha512-' + sample_of("<b86>", 1) + '=="',
        "commit_key = " + sample_of("<h40>", 1),
        "public_key = " + sample_of("<a60>", 1),
        "image: registry/auth@sha256:" + sample_of("<h64>", 1),
        "author: " + sample_of("<h40>", 1),
        'password_hash = "' + sample_of("<a44>", 1) + '"',
        "postgres://postgres:postgres@localhost:5432/app",
        "ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
        "token = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'",
        'alphabet_key = "abcdefghijklmnopqrstuvwxyz0123456789"',
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC" + sample_of("<b200>", 1),
        "-----BEGIN CERTIFICATE-----",
        'if text.startswith("-----BEGIN RSA PRIVATE KEY-----"):',
    ],
)
def test_ordinary_lines_have_no_secret(line: str) -> None:
    assert scan(line.encode()) == []


@pytest.mark.parametrize(
    "name", ["password", "DB_PASSWORD", "client_secret", "apiKey", "auth-token", "credentials", "private_key"]
)
@pytest.mark.parametrize("shape", ["<a32>", "<h40>", "<b40>", "<w43>"])
def test_generated_value_with_secret_name_is_found(name: str, shape: str) -> None:
    for seed, line in enumerate(['{} = "{}"', "{}: {}", '"{}": "{}"', "export {}={}", "--{} {}"]):
        assert len(scan(line.format(name, sample_of(shape, seed)).encode())) == 1


def test_private_key_is_one_finding() -> None:
    block = b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + KEY + b"\n-----END OPENSSH PRIVATE KEY-----\n"
    opened = len(b"a\n")
    ends = opened + len(block.rstrip())
    assert scan(b"a\n" + block) == [Hit("private-key", "private key", Rank.TOKEN, opened, ends)]
    assert rules(block * 3) == ["private-key"] * 3
    assert rules(block.replace(b"\n", b"\\n")) == ["private-key"]
    assert rules(block.replace(b"PRIVATE", b"PUBLIC")) == []


def test_kubernetes_secret_values_are_found() -> None:
    values = [sample_of("<b24>", seed) for seed in range(2)]
    manifest = f"apiVersion: v1\nkind: Secret\ndata:\n  one: {values[0]}\n  two: {values[1]}\ntype: Opaque\n"
    assert rules(manifest.encode()) == ["kubernetes-secret", "kubernetes-secret"]
    assert rules(manifest.replace("Secret", "ConfigMap").encode()) == []


def test_rule_with_higher_rank_wins() -> None:
    assert rules(b'github_token = "' + TOKEN + b'"') == ["github-token"]
    assert rules(b"Authorization: Bearer " + TOKEN) == ["github-token"]
    assert rules(b"https://x:" + TOKEN + b"@git.acme.io/a.git") == ["github-token"]


def test_secret_in_two_megabyte_line_is_found() -> None:
    filling = b"var a=1;" * (1 << 17)
    assert rules(filling + b" " + TOKEN + b" " + filling) == ["github-token"]


def test_all_secrets_of_long_line_are_found() -> None:
    tokens = [sample_of("ghp_<a36>", seed) for seed in range(500)]
    assert rules(" ".join(tokens).encode()) == ["github-token"] * 500


def test_secret_among_invalid_utf8_is_found() -> None:
    assert rules(b"\xff\xfe\x80 " + TOKEN + b"\xc3\x28") == ["github-token"]


def test_hits_below_minimum_rank_are_omitted() -> None:
    line = sample_of('SECRET_KEY = "<a50>"', 1).encode()
    assert rules(line) == ["generic-secret"]
    assert rules(line, Rank.VENDOR) == []


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_scanned(text: bytes) -> None:
    hits = scan(text)
    assert all(0 <= hit.start < hit.end <= len(text) for hit in hits)
    assert all(a.end <= b.start for a, b in pairwise(hits))


@given(st.text(alphabet="key=:\"' pas_wordAKIAsk-xoxb0123456789+/.\\\n@<>${}", max_size=300))
def test_secret_lookalikes_are_scanned_without_error(text: str) -> None:
    scan(text.encode())
