"""Locate the server and its key: from the environment, from a server on this machine, or from `forge login`."""

import contextlib
import json
import os
import stat
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import click
from pydantic import BaseModel, TypeAdapter, ValidationError

from forge.config import ClientSettings
from forge.errors import ConfigError, Denied, Unauthenticated, Unavailable

T = TypeVar("T")


def read_private(path: Path, shape: type[T]) -> T | None:
    """Read a file that contains a key; None if it does not exist. Warn if other users can read it."""
    try:
        mode, content = path.stat().st_mode, path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Denied(
            f"{path} cannot be read: {error.strerror}",
            hint="Run this as the user who started Forge, or set FORGE_DATA_DIR to a directory of your own.",
        ) from error
    if stat.S_IMODE(mode) & 0o077:
        click.echo(
            f"warning: {path} contains a key and other users can read it. Run: chmod 600 {path}", err=True
        )
    try:
        return TypeAdapter(shape).validate_json(content)
    except ValidationError as error:
        raise ConfigError(
            [f"{path} is not a valid file of Forge."], hint="Delete it and try again."
        ) from error


def write_private(path: Path, content: object) -> None:
    """Write a file atomically, readable only by this user."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(content, file, indent=2)
        draft.replace(path)
    except OSError as error:
        raise ConfigError([f"FORGE_DATA_DIR: {path} cannot be written: {error.strerror}"]) from error


SERVER_FILE = "server.json"
"""Written by a running server, for commands of the same user on the same machine."""
CREDENTIALS_FILE = "credentials.json"
"""Written by `forge login`: a key for each address."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Source(StrEnum):
    ENVIRONMENT = "FORGE_URL"
    SERVER_FILE = "this machine"
    LOGIN = "forge login"


class ServerFile(BaseModel):
    url: str
    key: str
    pid: int


@dataclass(frozen=True)
class Location:
    url: str
    key: str = field(repr=False)
    source: Source

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.url)


def find_location(settings: ClientSettings) -> Location:
    if settings.url:
        return _named(settings, checked_url(settings.url))
    if local := read_private(settings.data_dir / SERVER_FILE, ServerFile):
        return Location(local.url, local.key, Source.SERVER_FILE)
    return _only_login(settings.data_dir)


def _named(settings: ClientSettings, url: str) -> Location:
    if settings.api_key:
        return Location(url, settings.api_key.get_secret_value(), Source.ENVIRONMENT)
    key = saved_keys(settings.data_dir).get(url) or _local_key(settings.data_dir, url)
    if key is None:
        raise Unauthenticated(f"No API key is saved for {url}.", hint=f"Log in: forge login {url}")
    return Location(url, key, Source.ENVIRONMENT)


def _local_key(data_dir: Path, url: str) -> str | None:
    """Return the key of the server on this machine if `url` is its address, under any name of the loopback."""
    local = read_private(data_dir / SERVER_FILE, ServerFile)
    if local is None:
        return None
    own, named = urlsplit(local.url), urlsplit(url)
    is_same = is_loopback(url) and is_loopback(local.url)
    is_same = is_same and (own.scheme, own.port, own.path) == (named.scheme, named.port, named.path)
    return local.key if is_same or url == local.url else None


def _only_login(data_dir: Path) -> Location:
    saved = saved_keys(data_dir)
    if not saved:
        raise no_server()
    if len(saved) > 1:
        raise Unavailable(
            "No Forge server is running here, and you are logged in to several servers.",
            hint=f"Choose one: export FORGE_URL={' or '.join(sorted(saved))}",
        )
    ((url, key),) = saved.items()
    return Location(url, key, Source.LOGIN)


def no_server() -> Unavailable:
    return Unavailable(
        "No Forge server is running here.",
        hint="Start one: forge serve. Or log in to a remote server: forge login URL",
    )


def saved_keys(data_dir: Path) -> dict[str, str]:
    return read_private(data_dir / CREDENTIALS_FILE, dict[str, str]) or {}


def save_keys(data_dir: Path, keys: dict[str, str]) -> None:
    write_private(data_dir / CREDENTIALS_FILE, keys)


def checked_url(url: str) -> str:
    """Return the normalized URL, in which addresses are saved and compared."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError([f"{url!r} is not a valid URL: {error}"]) from error
    if parts.scheme not in {"http", "https"} or not host:
        raise ConfigError(
            [f"{url!r} is not the URL of a Forge server."], hint="Use a URL such as https://forge.example.com"
        )
    if parts.username or parts.query or parts.fragment:
        raise ConfigError(
            ["The URL must not contain a user name, query or fragment."], hint=f"Use {parts.scheme}://{host}"
        )
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in _LOOPBACK
