"""Read the package registries that pip and npm on this machine are configured to use.

The programs print their configuration, so that their files, variables and defaults apply. Credentials are not passed
into the sandbox.
"""

import base64
import json
import netrc
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from forge.config import environment

COMMAND_TIMEOUT_S = 60
SECTIONS = ("global", "install", ":env:")
"""Sections in the order of pip: later ones win."""

ASK_PIP = """
import json, sys
try:
    import pip
except ImportError:
    import ensurepip, glob
    sys.path[:0] = glob.glob(ensurepip.__path__[0] + "/_bundled/pip-*.whl")
from pip._internal.configuration import Configuration
from pip._internal.models.index import PyPI
found = Configuration(isolated=False)
found.load()
flat = {}
for name, value in found.items():
    flat.update(value if isinstance(value, dict) else {name: value})
print(json.dumps({"default": PyPI.simple_url, "found": flat}))
"""


@dataclass(frozen=True)
class Upstream:
    """A registry: its URL without a trailing slash, and its credentials."""

    url: str
    authorization: str | None = field(default=None, repr=False)

    def headers_for(self, url: str) -> dict[str, str]:
        """Return credentials only for URLs at the registry itself."""
        mine, other = urlsplit(self.url), urlsplit(url)
        same = (mine.scheme, mine.netloc) == (other.scheme, other.netloc)
        return {"Authorization": self.authorization} if self.authorization and same else {}


@dataclass(frozen=True)
class Upstreams:
    pip: tuple[Upstream, ...]
    """The index URL, then extra index URLs."""
    npm: Upstream | None
    certificates: str | None = None


def read_upstreams() -> Upstreams:
    """Ask pip and npm for their registries, which takes a second. A missing program has none."""
    env = environment()
    pip = _ask_pip(env)
    urls = [pip.get("index-url", ""), *pip.get("extra-index-url", "").split()]
    indexes = tuple(_signed_in(url) for url in urls if _is_http(url))
    return Upstreams(indexes, _ask_npm(env), pip.get("cert") or None)


def _ask_pip(env: Mapping[str, str]) -> dict[str, str]:
    answer = _output_of([sys.executable, "-c", ASK_PIP], env)
    if not answer:
        return {}
    found_config = json.loads(answer)
    values = {"index-url": str(found_config["default"])}
    for section in SECTIONS:
        for name, value in found_config["found"].items():
            where, _, key = str(name).rpartition(".")
            if where == section:
                values[key] = str(value)
    return values


def _ask_npm(env: Mapping[str, str]) -> Upstream | None:
    npm = shutil.which("npm", path=env.get("PATH"))
    url = _output_of([npm, "config", "get", "registry"], env).strip() if npm else ""
    if not _is_http(url):
        return None
    upstream = _signed_in(url)
    return (
        upstream if upstream.authorization else Upstream(upstream.url, _npm_authorization(upstream.url, env))
    )


def _npm_authorization(url: str, env: Mapping[str, str]) -> str | None:
    """Read the token from the npm configuration file (`//host/path/:_authToken=…`): npm does not print it."""
    prefix = re.escape(url.partition(":")[2].rstrip("/"))
    file = Path(env.get("npm_config_userconfig") or Path.home() / ".npmrc")
    with suppress(OSError):
        for line in file.read_text().splitlines():
            found = re.fullmatch(rf"\s*{prefix}/?:(_authToken|_auth)\s*=\s*\"?([^\"]+?)\"?\s*", line)
            if found:
                value = re.sub(r"\$\{(\w+)\}", lambda name: env.get(name[1], ""), found[2])
                return f"{'Bearer' if found[1] == '_authToken' else 'Basic'} {value}"
    return None


def _signed_in(url: str) -> Upstream:
    """Find credentials in the URL or in `.netrc`."""
    parts = urlsplit(url.rstrip("/"))
    host = parts.netloc.rpartition("@")[2]
    bare = urlunsplit((parts.scheme, host, parts.path, "", ""))
    if parts.username is not None:
        return Upstream(bare, _basic(unquote(parts.username), unquote(parts.password or "")))
    with suppress(OSError, netrc.NetrcParseError):
        known = netrc.netrc().hosts.get(parts.hostname or "")
        if known:
            return Upstream(bare, _basic(known[0], known[2]))
    return Upstream(bare)


def _basic(name: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"


def _is_http(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _output_of(argv: list[str], env: Mapping[str, str]) -> str:
    """Return the output of a program, or an empty string if it fails."""
    try:
        done = subprocess.run(  # noqa: S603  # pip and npm themselves, with fixed arguments
            argv,
            env=dict(env),
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            cwd="/",
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout
