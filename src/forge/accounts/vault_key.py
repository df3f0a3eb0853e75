"""The key of the vault: in a file only its owner can read, or in the keyring of the operating system."""

import os
import secrets
import stat
from pathlib import Path

from pydantic import SecretBytes

from forge.config import Settings
from forge.errors import ConfigError

KEY_BYTES = 32
_SERVICE = "forge-vault"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def open_vault_key(settings: Settings) -> SecretBytes:
    """Where the settings say; it is made when there is none."""
    if settings.vault_key == "keyring":
        return vault_key_from_keyring(str(settings.data_dir))
    return vault_key_from_file(_key_file(settings))


def find_vault_key(settings: Settings) -> SecretBytes | None:
    """None when there is none yet."""
    if settings.vault_key == "keyring":
        found = _ask_keyring(str(settings.data_dir))
        return _parse(found, f"keyring entry {_SERVICE}/{settings.data_dir}") if found else None
    path = _key_file(settings)
    return vault_key_from_file(path) if path.exists() else None


def vault_key_from_file(path: Path) -> SecretBytes:
    """The key in this file; it is made when the file does not exist."""
    try:
        if not path.exists():
            _create(path)
        return _parse(_read(path), str(path))
    except OSError as error:
        raise ConfigError([f"The vault key {path} cannot be used: {error.strerror}."]) from error


def vault_key_from_keyring(name: str) -> SecretBytes:
    """The key under this name (one for each data directory); it is made when there is none."""
    found = _ask_keyring(name, when_missing=secrets.token_hex(KEY_BYTES))
    return _parse(found or "", f"keyring entry {_SERVICE}/{name}")


def _ask_keyring(name: str, *, when_missing: str | None = None) -> str | None:
    import keyring  # looks for backends, and is needed only by who asks for it
    from keyring.errors import KeyringError

    try:
        if when_missing and keyring.get_password(_SERVICE, name) is None:
            keyring.set_password(_SERVICE, name, when_missing)
        return keyring.get_password(_SERVICE, name)  # read again: another process may have been quicker
    except (KeyringError, RuntimeError) as error:
        raise ConfigError(
            [f"The keyring of this system cannot be used: {type(error).__name__}."],
            hint="Install and unlock one, or keep the key in a file: FORGE_VAULT_KEY=file",
        ) from error


def _key_file(settings: Settings) -> Path:
    return settings.vault_key_file or settings.data_dir / "vault.key"


def _create(path: Path) -> None:
    """Whole or not at all: written aside, then linked, which fails if another process was first."""
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
        if mode & _OTHERS:
            raise ConfigError(
                [f"The vault key {path} can be read by others (mode {mode:04o})."],
                hint=f"Close it: chmod 600 {path}",
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
            hint="Put back the key the secrets were saved with; without it they have to be set again.",
        )
    return SecretBytes(key)
