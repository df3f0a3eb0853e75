"""W1 reports where a secret was added, and never reveals it."""

import pytest

from forge.audits.check import Fixture
from forge.audits.checks import w1_secrets
from forge.audits.checks.w1_secrets import CHECK, MAX_LEAKS
from forge.audits.engine.check_runner import verdict_of
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity, Verdict
from forge.audits.secrets.leaks import checksum
from forge.audits.secrets.shapes import sample_of

BODY = sample_of("<a30>", 1)
TOKEN = f"ghp_{BODY}{checksum(BODY.encode()).decode()}"


def verdict(files: dict[str, str | bytes], base: dict[str, str | bytes] | None = None) -> Verdict:
    return verdict_of(CHECK, CHECK.examine(snapshot_of(files, base=base)))


@pytest.mark.parametrize("fixture", CHECK.fixtures, ids=lambda fixture: fixture.name)
def test_its_own_examples_are_judged_as_they_say(fixture: Fixture) -> None:
    examination = CHECK.examine(fixture.snapshot())
    assert (verdict_of(CHECK, examination), tuple(sorted(found.rule for found in examination.found))) == (
        fixture.expect,
        fixture.rules,
    )


def test_a_task_list_passes_and_a_real_token_does_not() -> None:
    assert verdict({"a.md": "a task-list\n"}) is Verdict.PASS
    assert verdict({"a.md": f"{TOKEN}\n"}) is Verdict.WARN


@pytest.mark.parametrize(
    "line",
    [
        "Flask-Login and Flask-SQLAlchemy",
        'httpx.BasicAuth(username="user", password="pass")',
        "client = Client(auth=('user', password='secret'))",
        "See https://example.com/reset-password?token=abc for more",
        "-----BEGIN CERTIFICATE-----",
    ],
)
def test_what_used_to_be_a_false_alarm_passes(line: str) -> None:
    assert verdict({"code.py": line, "docs/page.md": line}) is Verdict.PASS


def test_a_finding_tells_everything_but_the_secret() -> None:
    snapshot = snapshot_of(
        {"config.py": f'a = 1\nTOKEN = "{TOKEN}"  # deploy\n'}, base={"config.py": "a = 1\n"}
    )
    examination = CHECK.examine(snapshot)
    (found,) = examination.found
    assert (found.rule, found.severity, found.path, found.line) == (
        "github-token",
        Severity.WARN,
        "config.py",
        2,
    )
    assert found.message == (
        "The line adds a secret: GitHub token. Its checksum is valid, so it is a real token."
    )
    assert found.excerpt == 'TOKEN = "ghp_…"  # deploy'
    assert examination.detail == "1 secret in 1 added line; the first: github-token in config.py:2"
    assert BODY[:6] not in repr(examination)


def test_another_secret_of_the_line_is_not_shown_either() -> None:
    other = sample_of("<a40>", 5)
    snapshot = snapshot_of({"tests/test_a.py": f'connect("{TOKEN}", password="{other}")\n'})
    examination = CHECK.examine(snapshot)
    assert [found.excerpt for found in examination.found] == [f'connect("ghp_…", password="{other[:4]}…")']


def test_a_key_on_one_line_is_not_shown() -> None:
    key = sample_of("-----BEGIN PRIVATE KEY-----\\n<b64>\\n<b64>\\n<b30>\\n-----END PRIVATE KEY-----", 1)
    (found,) = CHECK.examine(snapshot_of({"a.json": f'{{"key": "{key}"}}'})).found
    assert found.excerpt == '{"key": "-----BEGIN PRIVATE KEY-----…"}'


def test_the_same_secret_is_the_same_subject_wherever_it_moves() -> None:
    first = CHECK.examine(snapshot_of({"a.py": f"T = '{TOKEN}'\n"})).found[0]
    moved = CHECK.examine(snapshot_of({"a.py": f"\n\nOTHER = '{TOKEN}'\n"})).found[0]
    other = CHECK.examine(snapshot_of({"a.py": sample_of("T = 'ghp_<a36>'", 2)})).found[0]
    assert first.subject == moved.subject
    assert first.subject != other.subject


@pytest.mark.parametrize(
    "comment",
    [
        "forge: allow-secret",
        "forge:allow-secret",
        "gitleaks:allow",
        "pragma: allowlist secret",
        "trufflehog:ignore",
    ],
)
def test_a_comment_on_the_line_allows_it(comment: str) -> None:
    assert verdict({"a.py": f"T = '{TOKEN}'  # {comment}\n"}) is Verdict.PASS
    assert verdict({"a.py": f"# {comment}\nT = '{TOKEN}'\n"}) is Verdict.WARN


def test_files_that_the_project_ignores_are_left_alone() -> None:
    files: dict[str, str | bytes] = {
        "forge.json": '{"audit": {"ignore": ["vendor/**"]}}',
        "vendor/a.py": f"T = '{TOKEN}'\n",
    }
    assert verdict(files) is Verdict.PASS
    assert verdict(files | {"b.py": f"T = '{TOKEN}'\n"}) is Verdict.WARN


def test_a_glob_that_cannot_be_read_is_an_error() -> None:
    files: dict[str, str | bytes] = {
        "forge.json": '{"audit": {"ignore": ["a{b"]}}',
        "a.py": f"T = '{TOKEN}'\n",
    }
    examination = CHECK.examine(snapshot_of(files))
    assert [(found.rule, found.path, found.message) for found in examination.found] == [
        ("bad-config", "forge.json", "forge.json: audit.ignore: 'a{b' is not a valid glob.")
    ]
    assert (verdict_of(CHECK, examination), examination.detail) == (Verdict.ERROR, "")


def test_lines_that_were_there_before_are_not_looked_at() -> None:
    before: dict[str, str | bytes] = {"a.py": f"T = '{TOKEN}'\n"}
    assert verdict({"a.py": f"T = '{TOKEN}'\nx = 1\n"}, before) is Verdict.PASS


def test_where_nothing_was_added_nothing_is_claimed() -> None:
    examination = CHECK.examine(snapshot_of({"a.bin": b"\0\1", "b.bin": b"\0\2"}, base={}))
    assert (verdict_of(CHECK, examination), examination.skipped) == (
        Verdict.SKIP,
        "no line was added; not searched: a.bin (binary), b.bin (binary)",
    )


def test_files_that_are_not_searched_are_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(w1_secrets, "LARGE_FILE_BYTES", 1000)
    files: dict[str, str | bytes] = {f"{number}.bin": b"\0" for number in range(4)}
    files |= {"a.sql": b"\0" * 1000, "own.bin": b"\0", "x\ny.bin": b"\0", "a.py": "a = 1\n"}
    files |= {"forge.json": '{"audit": {"ignore": ["own.*"]}}'}
    examination = CHECK.examine(
        snapshot_of(files, base={"gone.bin": b"\0\0", "forge.json": files["forge.json"]})
    )
    assert examination.detail == (
        "no secret in 1 added line; not searched: 0.bin (binary), 1.bin (binary), 2.bin (binary), 3.bin (binary), "
        "a.sql (too large) and 1 more"
    )


def test_a_thousand_secrets_are_enough() -> None:
    lines = "".join(sample_of("T = 'ghp_<a36>'\n", seed) for seed in range(MAX_LEAKS + 5))
    examination = CHECK.examine(snapshot_of({"a.py": lines}))
    assert len(examination.found) == MAX_LEAKS
    assert examination.detail == (
        "1,005 secrets in 1,005 added lines, of which 1,000 are shown; the first: github-token in a.py:1"
    )


def test_odd_names_and_bytes_are_no_obstacle() -> None:
    name = b"na\xefve\n.py".decode("utf-8", "surrogateescape")
    assert verdict({name: b"\xff\xfe '" + TOKEN.encode() + b"'\n"}) is Verdict.WARN


def test_lines_that_are_all_ignored_are_not_called_none() -> None:
    snapshot = snapshot_of({"forge.json": '{"audit": {"ignore": ["**"]}}', "a.py": f"{TOKEN}\n"})
    assert CHECK.examine(snapshot).skipped == "audit.ignore excludes every added line"


def test_a_line_with_very_many_secrets_is_looked_through_once() -> None:
    count = 1500
    tokens = [sample_of("ghp_<a36>", seed) for seed in range(count)]
    examination = CHECK.examine(snapshot_of({"tokens.py": " ".join(tokens)}))
    assert len(examination.found) == MAX_LEAKS
    assert len({found.subject for found in examination.found}) == MAX_LEAKS
    assert {found.excerpt for found in examination.found} == {examination.found[0].excerpt}
    assert str(examination.found[0].excerpt).startswith("ghp_… ghp_… ghp_…")
    assert examination.detail.startswith("1,500 secrets in 1 added line, of which 1,000 are shown;")
