import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from forge.config import ClientSettings
from forge.errors import ConfigError, Denied, Unauthenticated, Unavailable
from forge.terminal.location import Location, Source, checked_url, find_location, save_keys, saved_keys

LOCAL_SERVER = {"url": "http://127.0.0.1:8000", "key": "forge_local", "pid": 1}
REMOTE_URL = "https://forge.example.com"


@pytest.fixture
def settings(tmp_path: Path) -> ClientSettings:
    return ClientSettings(data_dir=tmp_path)


@pytest.fixture
def server_file(tmp_path: Path) -> Path:
    path = tmp_path / "server.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(LOCAL_SERVER))
    return path


def test_local_server_needs_no_login(settings: ClientSettings, server_file: Path):
    assert find_location(settings) == Location("http://127.0.0.1:8000", "forge_local", Source.SERVER_FILE)


def test_environment_precedes_the_local_server(server_file: Path):
    settings = ClientSettings(
        url=f"{REMOTE_URL}/", api_key=SecretStr("forge_env"), data_dir=server_file.parent
    )
    assert find_location(settings) == Location(REMOTE_URL, "forge_env", Source.ENVIRONMENT)


def test_url_in_the_environment_uses_its_saved_key(tmp_path: Path):
    save_keys(tmp_path, {REMOTE_URL: "forge_saved"})
    settings = ClientSettings(url=REMOTE_URL, data_dir=tmp_path)
    assert find_location(settings) == Location(REMOTE_URL, "forge_saved", Source.ENVIRONMENT)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/", "http://localhost:8000", "http://[::1]:8000"])
def test_url_of_the_local_server_uses_its_key(server_file: Path, url: str):
    assert find_location(ClientSettings(url=url, data_dir=server_file.parent)).key == "forge_local"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8001", "https://127.0.0.1:8000", "http://forge.example.com:8000"]
)
def test_key_of_the_local_server_is_not_sent_elsewhere(server_file: Path, url: str):
    with pytest.raises(Unauthenticated):
        find_location(ClientSettings(url=url, data_dir=server_file.parent))


def test_url_without_a_key_hints_at_login(tmp_path: Path):
    with pytest.raises(Unauthenticated) as error:
        find_location(ClientSettings(url=REMOTE_URL, data_dir=tmp_path))
    assert error.value.hint == f"Log in: forge login {REMOTE_URL}"


def test_key_in_the_environment_is_not_sent_to_a_url_from_a_file(server_file: Path):
    settings = ClientSettings(api_key=SecretStr("forge_env"), data_dir=server_file.parent)
    assert find_location(settings).key == "forge_local"


def test_only_login_is_used_without_a_local_server(settings: ClientSettings, tmp_path: Path):
    save_keys(tmp_path, {REMOTE_URL: "forge_saved"})
    assert find_location(settings) == Location(REMOTE_URL, "forge_saved", Source.LOGIN)


def test_several_logins_are_ambiguous(settings: ClientSettings, tmp_path: Path):
    save_keys(tmp_path, {REMOTE_URL: "a", "https://b.example.com": "b"})
    with pytest.raises(Unavailable, match="several"):
        find_location(settings)


def test_missing_server_hints_at_serve(settings: ClientSettings):
    with pytest.raises(Unavailable, match="No Forge server is running here") as error:
        find_location(settings)
    assert "forge serve" in (error.value.hint or "")
    assert error.value.exit_code == 3


def test_saved_keys_are_private(tmp_path: Path):
    save_keys(tmp_path / "new", {REMOTE_URL: "forge_saved"})
    path = tmp_path / "new" / "credentials.json"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [file.name for file in path.parent.iterdir()] == ["credentials.json"]


def test_readable_key_file_causes_a_warning(
    settings: ClientSettings, server_file: Path, capsys: pytest.CaptureFixture[str]
):
    server_file.chmod(0o644)
    find_location(settings)
    assert f"chmod 600 {server_file}" in capsys.readouterr().err


def test_private_key_file_causes_no_warning(
    settings: ClientSettings, server_file: Path, capsys: pytest.CaptureFixture[str]
):
    find_location(settings)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"url": 1, "key": "k", "pid": 1}', "\x00"])
def test_invalid_server_file_is_named(settings: ClientSettings, server_file: Path, content: str):
    server_file.write_text(content)
    with pytest.raises(ConfigError, match=r"server\.json"):
        find_location(settings)


def test_unreadable_server_file_is_named(settings: ClientSettings, tmp_path: Path):
    (tmp_path / "server.json").mkdir()
    with pytest.raises(Denied, match=r"server\.json"):
        find_location(settings)


def test_invalid_credentials_file_is_rejected(tmp_path: Path):
    (tmp_path / "credentials.json").write_text("something else")
    with pytest.raises(ConfigError):
        saved_keys(tmp_path)


@pytest.mark.parametrize(
    ("url", "normalized"),
    [
        ("https://forge.example.com/", REMOTE_URL),
        ("https://Forge.Example.com", REMOTE_URL),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000/", "http://[::1]:8000"),
        ("https://example.com/forge/", "https://example.com/forge"),
    ],
)
def test_url_is_normalized(url: str, normalized: str):
    assert checked_url(url) == normalized


@pytest.mark.parametrize(
    "url",
    [
        "forge.example.com",
        "ftp://x",
        "https://",
        "https://a:b@x",
        "https://x/?a=1",
        "https://x#y",
        "https://x:99999",
    ],
)
def test_invalid_url_is_rejected(url: str):
    with pytest.raises(ConfigError):
        checked_url(url)


def test_dotenv_sets_the_data_directory_but_not_url_or_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / ".env").write_text(
        f"FORGE_DATA_DIR={tmp_path}/data\nFORGE_URL=https://evil.example\nFORGE_API_KEY=x\n"
    )
    monkeypatch.chdir(tmp_path)
    for name in ("FORGE_DATA_DIR", "FORGE_URL", "FORGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert ClientSettings() == ClientSettings(data_dir=tmp_path / "data", url=None, api_key=None)


def test_repr_of_a_location_hides_the_key():
    assert "forge_secret" not in repr(Location(REMOTE_URL, "forge_secret", Source.LOGIN))
