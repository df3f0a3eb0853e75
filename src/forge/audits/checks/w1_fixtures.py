"""Examples for W1. Tokens are made of their shapes when they are needed: this file holds none."""

from forge.audits.check import Fixture
from forge.audits.memory import snapshot_of
from forge.audits.secrets.shapes import sample_of
from forge.audits.snapshot import Snapshot

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
        "a secret of nobody in particular",
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
        "a glob that is none",
        lambda: snapshot_of({"forge.json": '{"audit": {"ignore": ["[z-a]"]}}'}),
        "ERROR",
        ("bad-config",),
    ),
)
