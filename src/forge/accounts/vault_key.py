"""The vault key: in a private file, or in the keyring of the operating system."""

import os
import secrets
import stat
from pathlib import Path

from pydantic import SecretBytes

from forge.config import Settings
from forge.errors import ConfigError

KEY_BYTES = 32
_SERVICE = "forge-vault"
_GROUP_AND_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def open_vault_key(settings: Settings) -> SecretBytes:
    """Return the key from where the settings say; create it if there is none."""
    if settings.vault_key == "keyring":
        return vault_key_from_keyring(str(settings.data_dir))
    return vault_key_from_file(_key_file(settings))


def find_vault_key(settings: Settings) -> SecretBytes | None:
    """Return the key, or None if there is none yet."""
    if settings.vault_key == "keyring":
        found = _read_keyring(str(settings.data_dir))
        return _parse(found, f"keyring entry {_SERVICE}/{settings.data_dir}") if found else None
    path = _key_file(settings)
    return vault_key_from_file(path) if path.exists() else None


def vault_key_from_file(path: Path) -> SecretBytes:
    """Return the key in this file; create it if the file does not exist."""
    try:
        if not path.exists():
            _create(path)
        return _parse(_read(path), str(path))
    except OSError as error:
        raise ConfigError([f"The vault key {path} cannot be used: {error.strerror}."]) from error


def vault_key_from_keyring(name: str) -> SecretBytes:
    """Return the key under this name (one per data directory); create it if there is none."""
    found = _read_keyring(name, when_missing=secrets.token_hex(KEY_BYTES))
    return _parse(found or "", f"keyring entry {_SERVICE}/{name}")


def _read_keyring(name: str, *, when_missing: str | None = None) -> str | None:
    import keyring  # lazy: it searches for backends, and few installations use it
    from keyring.errors import KeyringError

    try:
        if when_missing and keyring.get_password(_SERVICE, name) is None:
            keyring.set_password(_SERVICE, name, when_missing)
        return keyring.get_password(_SERVICE, name)  # read again: another process may have been first
    except (KeyringError, RuntimeError) as error:
        raise ConfigError(
            [f"The keyring of this system cannot be used: {type(error).__name__}."],
            hint="Install and unlock one, or keep the key in a file: FORGE_VAULT_KEY=file",
        ) from error


def _key_file(settings: Settings) -> Path:
    return settings.vault_key_file or settings.data_dir / "vault.key"


def _create(path: Path) -> None:
    """Create the key file atomically: write a draft, then link it, which fails if another process was first."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(KEY_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            return
    finally:
        draft.unlink()


def _read(path: Path) -> str:
    with path.open("rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & _GROUP_AND_OTHERS:
            raise ConfigError(
                [f"The vault key {path} is readable by other users (mode {mode:04o})."],
                hint=f"Run: chmod 600 {path}",
            )
        return file.read(1024).decode("ascii", "replace")


def _parse(text: str, where: str) -> SecretBytes:
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigError(
            [f"The vault key ({where}) is not {KEY_BYTES} bytes written as {KEY_BYTES * 2} hex digits."],
            hint="Restore the key the secrets were encrypted with. Without it they must be set again.",
        )
    return SecretBytes(key)
