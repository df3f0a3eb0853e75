"""Addresses of repositories: which are taken, and what of them goes to git. Nothing in one can be an option or a
command."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from forge.errors import Invalid
from forge.skills.sources import GitSource
from forge.workspace.errors import PathRefused
from forge.workspace.paths import parse

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\]")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_SHORT = re.compile(r"(?P<user>[^@:/]+)@(?P<host>[^@:/]+):(?P<path>[^:].*)")
_PAGE = re.compile(r"(?P<url>https://[^/]+/[^/]+/[^/]+?)(/-)?/tree/(?P<ref>[^/]+)(/(?P<path>.*?))?/?")
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+@#-]{0,199}")
_HINT = "Give one such as https://example.com/skills.git, git@example.com:skills.git or ssh://git@example.com/skills."


@dataclass(frozen=True)
class Remote:
    scheme: Literal["https", "ssh", "file"]
    host: str
    """In lower case, without brackets; empty for a folder of this machine."""
    port: int
    path: str
    user: str = ""

    @property
    def address(self) -> str:
        """As git is given it."""
        if self.scheme == "file":
            return f"file://{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        user = f"{self.user}@" if self.user else ""
        return f"{self.scheme}://{user}{host}:{self.port}{self.path}"

    @property
    def folder(self) -> Path:
        return Path(self.path)


def plain_source(source: GitSource) -> GitSource:
    """What a person copies from a browser is the page of a folder: its repository, branch and path are meant."""
    page = _PAGE.fullmatch(source.url)
    if page is None or source.ref or source.path:
        return source.model_copy(update={"path": checked_path(source.path), "url": source.url.strip()})
    path = checked_path(unquote(page["path"] or ""))
    return GitSource(url=page["url"], ref=unquote(page["ref"]), path=path)


def read_remote(text: str) -> Remote:
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
        return Remote("file", "", 0, unquote(parts.path))
    if parts.scheme == "ssh":
        return _ssh(text, parts.username or "git", _host_in(parts.netloc), port or 22, parts.path)
    if parts.scheme == "https":
        return _https(text, parts.netloc, port or 443, parts.path)
    raise _unusable(text)


def checked_ref(ref: str | None) -> str:
    """As it may stand on the left of a refspec."""
    if ref is None:
        return "HEAD"
    if not _REF.fullmatch(ref) or ".." in ref or ref.endswith((".lock", "/", ".")) or "//" in ref:
        raise Invalid(f"{ref[:100]!r} is no branch, tag or commit.", field="ref")
    return ref


def checked_path(path: str) -> str:
    """Of a folder in a repository; empty for all of it."""
    if path.strip("/") in ("", "."):
        return ""
    try:
        return "/".join(parse(path.strip("/")))
    except PathRefused as error:
        raise Invalid(
            error.message, hint="Give the path of a folder in the repository.", field="path"
        ) from error


def _https(text: str, netloc: str, port: int, path: str) -> Remote:
    if "@" in netloc:
        raise Invalid(
            "A name or a password in an address is kept with the skill, and is not taken.",
            hint="Use ssh with a key of the server, or unpack a zip of the repository.",
            field="url",
        )
    host = _host_in(netloc)
    if not _HOST.fullmatch(host) or not path.strip("/"):
        raise _unusable(text)
    return Remote("https", host.strip("[]").lower(), port, path)


def _ssh(text: str, user: str, host: str, port: int, path: str) -> Remote:
    if not (_USER.fullmatch(user) and _HOST.fullmatch(host) and path.strip("/")):
        raise _unusable(text)
    return Remote("ssh", host.strip("[]").lower(), port, path, user)


def _host_in(netloc: str) -> str:
    place = netloc.rpartition("@")[2]
    return re.sub(r":[0-9]*$", "", place)


def _unusable(text: str) -> Invalid:
    return Invalid(f"{text[:200]!r} is no address of a repository.", hint=_HINT, field="url")
