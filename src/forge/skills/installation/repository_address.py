"""Parse addresses of git repositories into the parts passed to git. No part can be taken for an option or a command."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from forge.errors import Invalid
from forge.skills.models import GitSource
from forge.workspace.filesystem.errors import PathRefused
from forge.workspace.filesystem.paths import parse

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\]")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_SHORT = re.compile(r"(?P<user>[^@:/]+)@(?P<host>[^@:/]+):(?P<path>[^:].*)")
_PAGE = re.compile(r"(?P<url>https://[^/]+/[^/]+/[^/]+?)(/-)?/tree/(?P<ref>[^/]+)(/(?P<path>.*?))?/?")
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+@#-]{0,199}")
_HINT = "Use an address such as https://example.com/skills.git, git@example.com:skills.git or ssh://git@example.com/skills."


@dataclass(frozen=True)
class RepositoryAddress:
    scheme: Literal["https", "ssh", "file"]
    host: str
    """In lower case, without brackets; empty for a local folder."""
    port: int
    path: str
    user: str = ""

    @property
    def address(self) -> str:
        """The address to pass to git."""
        if self.scheme == "file":
            return f"file://{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        user = f"{self.user}@" if self.user else ""
        return f"{self.scheme}://{user}{host}:{self.port}{self.path}"

    @property
    def folder(self) -> Path:
        return Path(self.path)


def normalize_source(source: GitSource) -> GitSource:
    """Translate a browser URL of a folder into its repository, branch and path."""
    page = _PAGE.fullmatch(source.url)
    if page is None or source.ref or source.path:
        return source.model_copy(update={"path": checked_path(source.path), "url": source.url.strip()})
    path = checked_path(unquote(page["path"] or ""))
    return GitSource(url=page["url"], ref=unquote(page["ref"]), path=path)


def parse_address(text: str) -> RepositoryAddress:
    if not text.isprintable() or any(character.isspace() for character in text) or "\\" in text:
        raise _unusable(text)
    if "://" not in text and (short := _SHORT.fullmatch(text)):
        return _ssh(text, short["user"], short["host"], 22, f"/{short['path'].lstrip('/')}")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _unusable(text) from error
    if parts.query or parts.fragment:
        raise _unusable(text)
    if parts.scheme == "file" and not parts.netloc:
        return RepositoryAddress("file", "", 0, unquote(parts.path))
    if parts.scheme == "ssh":
        return _ssh(text, parts.username or "git", _host_in(parts.netloc), port or 22, parts.path)
    if parts.scheme == "https":
        return _https(text, parts.netloc, port or 443, parts.path)
    raise _unusable(text)


def checked_ref(ref: str | None) -> str:
    """Return the ref for the left side of a refspec; HEAD for None."""
    if ref is None:
        return "HEAD"
    if not _REF.fullmatch(ref) or ".." in ref or ref.endswith((".lock", "/", ".")) or "//" in ref:
        raise Invalid(f"{ref[:100]!r} is not a valid branch, tag or commit.", field="ref")
    return ref


def checked_path(path: str) -> str:
    """Return the normalized path of a folder in a repository; empty for the root."""
    if path.strip("/") in ("", "."):
        return ""
    try:
        return "/".join(parse(path.strip("/")))
    except PathRefused as error:
        raise Invalid(
            error.message, hint="Use the path of a folder in the repository.", field="path"
        ) from error


def _https(text: str, netloc: str, port: int, path: str) -> RepositoryAddress:
    if "@" in netloc:
        raise Invalid(
            "The address must not contain a user name or password: it is stored with the skill.",
            hint="Use ssh with a key of the server, or a zip of the repository.",
            field="url",
        )
    host = _host_in(netloc)
    if not _HOST.fullmatch(host) or not path.strip("/"):
        raise _unusable(text)
    return RepositoryAddress("https", host.strip("[]").lower(), port, path)


def _ssh(text: str, user: str, host: str, port: int, path: str) -> RepositoryAddress:
    if not (_USER.fullmatch(user) and _HOST.fullmatch(host) and path.strip("/")):
        raise _unusable(text)
    return RepositoryAddress("ssh", host.strip("[]").lower(), port, path, user)


def _host_in(netloc: str) -> str:
    place = netloc.rpartition("@")[2]
    return re.sub(r":[0-9]*$", "", place)


def _unusable(text: str) -> Invalid:
    return Invalid(f"{text[:200]!r} is not a valid repository address.", hint=_HINT, field="url")
