"""Where the server is, and the key for it: named by the environment, running on this machine, or logged in to."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel

from forge.config import ClientSettings
from forge.errors import ConfigError, Unauthenticated, Unavailable
from forge.terminal.private_file import read_private, write_private

SERVER_FILE = "server.json"
"""Written by a running server, for commands of the same user on the same machine."""
CREDENTIALS_FILE = "credentials.json"
"""Written by `forge login`: the key for each address."""

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
class Place:
    url: str
    key: str = field(repr=False)
    source: Source

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.url)


def find_place(settings: ClientSettings) -> Place:
    if settings.url:
        return _named(settings, checked_url(settings.url))
    if local := read_private(settings.data_dir / SERVER_FILE, ServerFile):
        return Place(local.url, local.key, Source.SERVER_FILE)
    return _only_login(settings.data_dir)


def _named(settings: ClientSettings, url: str) -> Place:
    saved = saved_keys(settings.data_dir)
    key = settings.api_key.get_secret_value() if settings.api_key else saved.get(url)
    if key is None:
        raise Unauthenticated(f"There is no key for {url}.", hint=f"Log in: forge login {url}")
    return Place(url, key, Source.ENVIRONMENT)


def _only_login(data_dir: Path) -> Place:
    saved = saved_keys(data_dir)
    if not saved:
        raise no_server()
    if len(saved) > 1:
        raise Unavailable(
            "No Forge is running here, and you are logged in to several.",
            hint=f"Choose one: export FORGE_URL={' or '.join(sorted(saved))}",
        )
    ((url, key),) = saved.items()
    return Place(url, key, Source.LOGIN)


def no_server() -> Unavailable:
    return Unavailable(
        "No Forge is running here.", hint="Start it: forge serve. Use one elsewhere: forge login URL"
    )


def saved_keys(data_dir: Path) -> dict[str, str]:
    return read_private(data_dir / CREDENTIALS_FILE, dict[str, str]) or {}


def save_keys(data_dir: Path, keys: dict[str, str]) -> None:
    write_private(data_dir / CREDENTIALS_FILE, keys)


def checked_url(given: str) -> str:
    """An address in the one form it is saved and compared in."""
    try:
        parts = urlsplit(given.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError([f"{given!r} is not an address: {error}"]) from error
    if parts.scheme not in {"http", "https"} or not host:
        raise ConfigError(
            [f"{given!r} is not an address of Forge."], hint="It looks like https://forge.example.com"
        )
    if parts.username or parts.query or parts.fragment:
        raise ConfigError(["An address has no user, query or fragment."], hint=f"Use {parts.scheme}://{host}")
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in _LOOPBACK
