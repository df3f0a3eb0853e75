"""W1: report credentials in added lines. It only warns, as only a person can tell whether a credential is real."""

from collections.abc import Sequence

from forge.audits.check import Check, Examination, Fixture, Found, config_error, skip
from forge.audits.display_text import escape_path, format_count, join_names
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity
from forge.audits.secrets.leaks import Leak, find_leaks
from forge.audits.secrets.shapes import sample_of
from forge.audits.snapshot import AddedLine, Change, Snapshot
from forge.workspace.observed.mirror import LARGE_FILE_BYTES

_DOCS = """\
Searches every line added since the base for credentials:

- **tokens with a known format**: of code hosts, registries, clouds, model providers, payment services, chat
  and mail services; private keys in PEM armor; some 200 kinds, listed in `docs/reference/secrets.md`
- **values identified by the vendor's name**: `datadog_api_key: 0f3a…`
- **places that hold secrets**: passwords in URLs, `Authorization` headers, JSON web tokens, `curl -u`
- **anything else that is named like a secret and looks generated**: a password, key or token with a random value. Words,
  templates (`${TOKEN}`), hashes and placeholders do not count.

In documents, tests and examples only the first two count; in lock files and minified code only the first.

Every finding is a warning. It never contains the secret: the line is shown with the secret masked.

Exceptions: `forge: allow-secret` in a comment on the line (`gitleaks:allow`, `pragma: allowlist secret` and
`trufflehog:ignore` work as well); `audit.ignore` in `forge.json` for whole files; `forge audit baseline` for current
findings. Binary files, and files of 32 MB and more, are not searched; the detail names them.
"""


MAX_LEAKS = 1000
"""Findings per audit; more would not help anyone."""

MAX_NAMED = 5
_UNIT = "added lines"
_FIX = (
    "Revoke this credential and create a new one: it stays in the history even after the line is deleted. "
    "Keep the new one out of the project (`forge secrets set NAME`, or an environment variable), and remove the old one "
    "from the history before pushing. If it is not a real secret, mark the line with `forge: allow-secret`."
)


def examine(snapshot: Snapshot) -> Examination:
    if (broken := config_error(snapshot, _UNIT)) is not None:
        return broken
    lines = _lines(snapshot)
    unread = _unread(snapshot)
    if not lines:
        return skip(f"{_nothing(snapshot)}{unread}", _UNIT)
    leaks = find_leaks(lines, MAX_LEAKS)
    found = [_found(leak) for leak in leaks.first]
    detail = _detail(found, leaks.left, len(lines)) + unread
    return Examination(tuple(found), len(lines), _UNIT, detail)


def _lines(snapshot: Snapshot) -> Sequence[AddedLine]:
    paths = {line.path for line in snapshot.added_lines}
    ignored = set(filter(snapshot.project.ignores, paths))
    if not ignored:
        return snapshot.added_lines
    return [line for line in snapshot.added_lines if line.path not in ignored]


def _nothing(snapshot: Snapshot) -> str:
    return "audit.ignore excludes every added line" if snapshot.added_lines else "no line was added"


def _unread(snapshot: Snapshot) -> str:
    """Describe changed files that were not searched because git compares no lines of them."""
    why = {
        change.path: reason
        for change in snapshot.changes
        if (reason := _reason(snapshot, change)) and not snapshot.project.ignores(change.path)
    }
    if not why:
        return ""
    names = [f"{escape_path(path)[:200]} ({why[path]})" for path in sorted(why)]
    return f"; not searched: {join_names(names, MAX_NAMED)}"


def _reason(snapshot: Snapshot, change: Change) -> str | None:
    entry = snapshot.tree.entries.get(change.path)
    if entry is None or not entry.kind.is_file:
        return None
    if entry.size >= LARGE_FILE_BYTES and (change.is_binary or change.added):
        return "too large"
    return "binary" if change.is_binary else None


def _found(leak: Leak) -> Found:
    certain = " Its checksum is valid, so it is a real token." if leak.is_certain else ""
    return Found(
        rule=leak.rule,
        severity=Severity.WARN,
        message=f"The line adds a secret: {leak.kind}.{certain}",
        fix=_FIX,
        path=leak.path,
        line=leak.line,
        subject=f"{leak.rule} {leak.name}",
        excerpt=leak.excerpt,
    )


def _detail(found: Sequence[Found], left: int, examined: int) -> str:
    if not found:
        return f"no secret in {format_count(examined, _UNIT)}"
    first, count = found[0], len(found) + left
    more = f", of which {len(found):,} are shown" if left else ""
    where = f"{first.rule} in {first.path}:{first.line}"
    return f"{format_count(count, 'secrets')} in {format_count(examined, _UNIT)}{more}; the first: {where}"


_HARMLESS = """\
- task-list, Flask-Login, risk-free
client.login(username="ada", password="secret")
https://example.com/callback?token=abc&next=/
api_key = os.environ["API_KEY"]
password: ${DATABASE_PASSWORD}
token = "your-token-here"
integrity = "sha512-…"
"""


def _adds(path: str, shape: str) -> Snapshot:
    return snapshot_of({path: f"first line\n{sample_of(shape, 1)}\n"}, base={path: "first line\n"})


def _harmless() -> Snapshot:
    return snapshot_of({"notes.txt": _HARMLESS})


def _removed() -> Snapshot:
    token = sample_of("gh<p|o>_<a36>", 1)
    return snapshot_of({"config.py": "a = 1\n"}, base={"config.py": f"a = 1\ntoken = '{token}'\n"})


FIXTURES = (
    Fixture("words that only look like secrets", _harmless, "PASS"),
    Fixture("a secret was taken out", _removed, "SKIP"),
    Fixture(
        "a line that is allowed",
        lambda: _adds("config.py", 'TOKEN = "gh<p|o>_<a36>"  # forge: allow-secret'),
        "PASS",
    ),
    Fixture(
        "a token known by its shape", lambda: _adds("a.py", 'T = "gh<p|o>_<a36>"'), "WARN", ("github-token",)
    ),
    Fixture(
        "a key known by its owner's name",
        lambda: _adds("values.yaml", "datadog_api_key: <h32>"),
        "WARN",
        ("datadog-credential",),
    ),
    Fixture(
        "a password in a URL",
        lambda: _adds(".env", "DATABASE_URL=postgresql://app:<a20>@db.internal:5432/app"),
        "WARN",
        ("url-password",),
    ),
    Fixture(
        "a generic secret",
        lambda: _adds("settings.py", 'SECRET_KEY = "<a50>"'),
        "WARN",
        ("generic-secret",),
    ),
    Fixture(
        "a private key",
        lambda: _adds("id", "-----BEGIN RSA PRIVATE KEY-----\n<b64>\n<b64>"),
        "WARN",
        ("private-key",),
    ),
    Fixture(
        "an invalid glob",
        lambda: snapshot_of({"forge.json": '{"audit": {"ignore": ["[z-a]"]}}'}),
        "ERROR",
        ("bad-config",),
    ),
)


CHECK = Check(
    code="W1",
    name="Secrets in diff",
    why="Anyone who can read the repository can use a credential in it, now or later; deleting the line does not revoke it.",
    docs=_DOCS,
    examine=examine,
    fixtures=FIXTURES,
    is_blocking=False,
)
