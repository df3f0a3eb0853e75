import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from forge.config import ClientSettings
from forge.errors import ConfigError, Denied, Unauthenticated, Unavailable
from forge.terminal.location import Location, Source, checked_url, find_location, save_keys, saved_keys

HERE = {"url": "http://127.0.0.1:8000", "key": "forge_local", "pid": 1}
THERE = "https://forge.example.com"


@pytest.fixture
def settings(tmp_path: Path) -> ClientSettings:
    return ClientSettings(data_dir=tmp_path)


@pytest.fixture
def server_file(tmp_path: Path) -> Path:
    path = tmp_path / "server.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(HERE))
    return path


def test_a_server_on_this_machine_needs_no_login(settings: ClientSettings, server_file: Path):
    assert find_location(settings) == Location("http://127.0.0.1:8000", "forge_local", Source.SERVER_FILE)


def test_the_environment_goes_before_the_server_on_this_machine(server_file: Path):
    settings = ClientSettings(url=f"{THERE}/", api_key=SecretStr("forge_env"), data_dir=server_file.parent)
    assert find_location(settings) == Location(THERE, "forge_env", Source.ENVIRONMENT)


def test_an_address_in_the_environment_uses_the_key_of_its_login(tmp_path: Path):
    save_keys(tmp_path, {THERE: "forge_saved"})
    settings = ClientSettings(url=THERE, data_dir=tmp_path)
    assert find_location(settings) == Location(THERE, "forge_saved", Source.ENVIRONMENT)


def test_an_address_without_a_key_says_how_to_log_in(tmp_path: Path):
    with pytest.raises(Unauthenticated) as refused:
        find_location(ClientSettings(url=THERE, data_dir=tmp_path))
    assert refused.value.hint == f"Log in: forge login {THERE}"


def test_a_key_in_the_environment_is_not_sent_to_an_address_from_a_file(server_file: Path):
    settings = ClientSettings(api_key=SecretStr("forge_env"), data_dir=server_file.parent)
    assert find_location(settings).key == "forge_local"


def test_the_only_login_is_used_where_no_server_runs(settings: ClientSettings, tmp_path: Path):
    save_keys(tmp_path, {THERE: "forge_saved"})
    assert find_location(settings) == Location(THERE, "forge_saved", Source.LOGIN)


def test_several_logins_have_to_be_chosen_from(settings: ClientSettings, tmp_path: Path):
    save_keys(tmp_path, {THERE: "a", "https://b.example.com": "b"})
    with pytest.raises(Unavailable, match="several"):
        find_location(settings)


def test_nothing_to_connect_to_says_how_to_start(settings: ClientSettings):
    with pytest.raises(Unavailable, match="No Forge is running here") as refused:
        find_location(settings)
    assert "forge serve" in (refused.value.hint or "")
    assert refused.value.exit_code == 3


def test_saved_keys_are_for_this_user_alone(tmp_path: Path):
    save_keys(tmp_path / "new", {THERE: "forge_saved"})
    path = tmp_path / "new" / "credentials.json"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [file.name for file in path.parent.iterdir()] == ["credentials.json"]


def test_a_key_that_others_can_read_is_warned_about(
    settings: ClientSettings, server_file: Path, capsys: pytest.CaptureFixture[str]
):
    server_file.chmod(0o644)
    find_location(settings)
    assert f"chmod 600 {server_file}" in capsys.readouterr().err


def test_a_key_file_of_this_user_alone_is_not_warned_about(
    settings: ClientSettings, server_file: Path, capsys: pytest.CaptureFixture[str]
):
    find_location(settings)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"url": 1, "key": "k", "pid": 1}', "\x00"])
def test_a_file_that_forge_did_not_write_is_named(settings: ClientSettings, server_file: Path, content: str):
    server_file.write_text(content)
    with pytest.raises(ConfigError, match=r"server\.json"):
        find_location(settings)


def test_a_file_that_cannot_be_read_is_named(settings: ClientSettings, tmp_path: Path):
    (tmp_path / "server.json").mkdir()
    with pytest.raises(Denied, match=r"server\.json"):
        find_location(settings)


def test_credentials_that_forge_did_not_write_are_not_lost(tmp_path: Path):
    (tmp_path / "credentials.json").write_text("something else")
    with pytest.raises(ConfigError):
        saved_keys(tmp_path)


@pytest.mark.parametrize(
    ("given", "checked"),
    [
        ("https://forge.example.com/", THERE),
        ("https://Forge.Example.com", THERE),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000/", "http://[::1]:8000"),
        ("https://example.com/forge/", "https://example.com/forge"),
    ],
)
def test_an_address_is_kept_in_one_form(given: str, checked: str):
    assert checked_url(given) == checked


@pytest.mark.parametrize(
    "given",
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
def test_what_is_no_address_is_refused(given: str):
    with pytest.raises(ConfigError):
        checked_url(given)


def test_dot_env_says_where_the_data_is_but_not_whom_to_send_a_key_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / ".env").write_text(
        f"FORGE_DATA_DIR={tmp_path}/data\nFORGE_URL=https://evil.example\nFORGE_API_KEY=x\n"
    )
    monkeypatch.chdir(tmp_path)
    for name in ("FORGE_DATA_DIR", "FORGE_URL", "FORGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert ClientSettings() == ClientSettings(data_dir=tmp_path / "data", url=None, api_key=None)


def test_the_key_of_a_place_is_not_shown_by_accident():
    assert "forge_secret" not in repr(Location(THERE, "forge_secret", Source.LOGIN))
