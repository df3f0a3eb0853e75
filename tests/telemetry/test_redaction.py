"""Secrets are masked in any context, and ordinary text is unchanged."""

import string

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from forge.telemetry.redaction import MASK, redact, redact_mapping, redact_value

WORD = string.ascii_letters + string.digits
URL_SAFE = WORD + "-._~"
TYPEABLE = "".join(sorted(set(string.printable) - set(string.whitespace)))


def secret(
    before: str, alphabet: str, after: str = "", *, least: int = 20
) -> st.SearchStrategy[tuple[str, str]]:
    """A secret and the text that contains it."""
    hidden = st.text(alphabet, min_size=least, max_size=90)
    return hidden.map(lambda text: (text, before + text + after))


SECRETS = st.one_of(
    secret("forge_", WORD + "_-"),
    secret("sk-ant-api03-", WORD + "_-"),
    secret("sk-proj-", WORD + "_-"),
    secret("sk-", WORD),
    *(secret(before, WORD) for before in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    secret("github_pat_", WORD + "_"),
    secret("Bearer ", URL_SAFE, least=8),
    secret("authorization: bearer  ", URL_SAFE, least=8),
    secret("Authorization: Basic ", WORD + "+/="),
    secret("x-api-key: ", URL_SAFE, least=8),
    secret("Set-Cookie: a=b; forge=", URL_SAFE, "; Path=/", least=8),
    secret('{"access_token": "', URL_SAFE, '"}', least=8),
    secret("{'x-api-key': '", URL_SAFE, "'}", least=8),
    secret('{"client_secret":"', URL_SAFE, '"}', least=8),
    secret("https://forge.example.com/open?token=", URL_SAFE, "&next=/", least=8),
    secret("/ws?stream=a&access_token=", URL_SAFE, least=8),
    secret("postgresql://forge:", TYPEABLE, "@db.example.com:5432/forge", least=8),
    secret("redis://:", TYPEABLE, "@cache/0", least=8),
    secret("https://deploy:", URL_SAFE, "@git.example.com/a.git", least=8),
)


@given(st.text(), SECRETS, st.text())
@example("Bearer ", ("abcdefghijkl", "Bearer abcdefghijkl"), "")
@example("token='", ("abcdefghijkl", "?token=abcdefghijkl"), "'")
@example("http", ("abcdefghijkl", "postgresql://forge:abcdefghijkl@db"), "@")
@example("\\n", ("a" * 36, "ghp_" + "a" * 36), "\\n")
def test_secret_in_text_is_masked(before: str, found: tuple[str, str], after: str):
    hidden, shape = found
    assume(hidden not in before + after)
    assert hidden not in redact(before + shape + after)


@given(st.text(), SECRETS, st.text())
def test_nested_secret_is_masked(before: str, found: tuple[str, str], after: str):
    hidden, shape = found
    assume(hidden not in before + after)
    text = before + shape + after
    value = {"a": [{"b": (text, {text})}], text: 1, "c": ValueError(text)}
    assert hidden not in str(redact_value(value)).replace("\\\\", "\\")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET /open?token=abcdef&next=/runs", "GET /open?token=•••&next=/runs"),
        ("GET /callback?code=abcdef&state=1", "GET /callback?code=•••&state=1"),
        ("postgresql://forge:p@ss/w0rd@db/forge is away", "postgresql://forge:•••@db/forge is away"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer •••"),
        ("{'api_key': 'abcdef', 'model': 'm'}", "{'api_key': '•••', 'model': 'm'}"),
        ("{'access_token': 'abcdef', 'expires_in': 1}", "{'access_token': '•••', 'expires_in': 1}"),
        ("Authorization: Basic YTpi\nHost: a", "Authorization: Basic •••\nHost: a"),
        ("Cookie: a=b; c=d\nHost: a", "Cookie: •••\nHost: a"),
        ("key sk-team-a1b2c3-d4e5f6-a7b8c9 refused", "key ••• refused"),
    ],
)
def test_text_around_a_secret_is_kept(text: str, shown: str):
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "task-0192f0c1-7b6c-7def-8abc-0123456789ab is done, exit_code=1, max_tokens=4096",
        "http://127.0.0.1:8000/runs?by=someone@example.com",
        "sqlite:////home/someone/.forge/forge.db",
        "forge_http_requests",
        '{"input_tokens": "12", "tokens": "many"}',
    ],
)
def test_ordinary_text_is_not_changed(text: str):
    assert redact(text) == text


def test_value_of_a_secret_name_is_masked():
    given = {"password": "hunter2", "API_KEY": ["a"], "cookie": "", "token": None, "input_tokens": 12}
    assert redact_mapping(given) == {
        "password": MASK,
        "API_KEY": MASK,
        "cookie": "",
        "token": None,
        "input_tokens": 12,
    }


def test_prefixed_secret_names_are_masked():
    given = {"access_token": "a", "X-Api-Key": "b", "client_secret": "c", "tokens": "d", "max_tokens": "e"}
    shown = {"access_token": MASK, "X-Api-Key": MASK, "client_secret": MASK, "tokens": "d", "max_tokens": "e"}
    assert redact_mapping(given) == shown


def test_any_value_becomes_json():
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError

    endless: list[object] = []
    endless.append(endless)
    assert redact_value({"a": (1, 2.5, True), 3: float("nan"), "b": Broken(), "c": b"x"}) == {
        "a": [1, 2.5, True],
        "3": "nan",
        "b": "<Broken>",
        "c": "b'x'",
    }
    assert redact_value(endless) == [[[[[["[[...]]"]]]]]]
