import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import keyring
import keyring.backend
import keyring.backends.fail
import pytest

from forge.accounts.vault_key import vault_key_from_file, vault_key_from_keyring
from forge.errors import ConfigError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "forge" / "vault.key"


def test_first_start_creates_a_private_key_file(path: Path):
    key = vault_key_from_file(path)
    assert len(key.get_secret_value()) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]
    assert vault_key_from_file(path) == key
    assert key.get_secret_value().hex() not in repr(key)


def test_concurrent_first_starts_create_one_key(tmp_path: Path):
    for attempt in range(30):
        path = tmp_path / str(attempt) / "vault.key"
        together = Barrier(8)

        def start(path: Path = path, together: Barrier = together) -> bytes:
            together.wait()
            return vault_key_from_file(path).get_secret_value()

        with ThreadPoolExecutor(8) as pool:
            keys = [start.result() for start in [pool.submit(start) for _ in range(8)]]
        assert set(keys) == {vault_key_from_file(path).get_secret_value()}
        assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_vault_key_readable_by_others_is_rejected_with_a_fix(path: Path, mode: int):
    vault_key_from_file(path)
    path.chmod(mode)
    with pytest.raises(ConfigError) as refused:
        vault_key_from_file(path)
    assert refused.value.problems == [f"The vault key {path} is readable by other users (mode {mode:04o})."]
    assert refused.value.hint == f"Run: chmod 600 {path}"


@pytest.mark.parametrize("text", ["", "ab" * 31, "ab" * 33, "zz" * 32, "\x00\xff" * 32])
def test_key_of_wrong_length_is_rejected_without_showing_it(path: Path, text: str):
    path.parent.mkdir()
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="is not 32 bytes written as 64 hex digits") as refused:
        vault_key_from_file(path)
    assert not text or text not in str(refused.value)


def test_unreadable_vault_key_is_a_config_error(tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot be used: Is a directory"):
        vault_key_from_file(tmp_path)


class MemoryKeyring(keyring.backend.KeyringBackend):
    priority = 1  # pyright: ignore[reportAssignmentType]

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password


@pytest.fixture
def backend(request: pytest.FixtureRequest):
    before = keyring.get_keyring()
    keyring.set_keyring(request.param)
    yield request.param
    keyring.set_keyring(before)


@pytest.mark.parametrize("backend", [MemoryKeyring()], indirect=True)
def test_keyring_has_one_key_per_data_directory(backend: MemoryKeyring):
    key = vault_key_from_keyring("/home/ada/.forge")
    assert len(key.get_secret_value()) == 32
    assert vault_key_from_keyring("/home/ada/.forge") == key
    assert vault_key_from_keyring("/srv/forge") != key
    assert backend.entries["forge-vault", "/home/ada/.forge"] == key.get_secret_value().hex()


@pytest.mark.parametrize("backend", [keyring.backends.fail.Keyring()], indirect=True)
def test_missing_keyring_is_a_config_error_with_a_hint(backend: object):
    with pytest.raises(ConfigError) as refused:
        vault_key_from_keyring("/home/ada/.forge")
    assert refused.value.problems == ["The keyring of this system cannot be used: NoKeyringError."]
    assert refused.value.hint == "Install and unlock one, or keep the key in a file: FORGE_VAULT_KEY=file"
