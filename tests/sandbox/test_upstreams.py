"""Where packages come from is what pip and npm say, on this machine and now."""

import shutil
from pathlib import Path

import pytest

from forge.sandbox.upstreams import Upstream, read_upstreams


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without any configuration."""
    for name in (
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "PIP_CONFIG_FILE",
        "PIP_CERT",
        "npm_config_registry",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    monkeypatch.setenv("npm_config_userconfig", str(tmp_path / ".npmrc"))
    return tmp_path


def test_variables_win_over_files_and_name_and_password_are_taken_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    (home / ".config/pip").mkdir(parents=True)
    (home / ".config/pip/pip.conf").write_text(
        "[global]\nindex-url = https://file.example/simple\nextra-index-url = https://more.example/x file:///here\n"
    )
    monkeypatch.setenv("PIP_INDEX_URL", "https://me:p%40ss@index.example/simple/")
    monkeypatch.setenv("PIP_CERT", "/somewhere.pem")
    found = read_upstreams()
    assert found.pip == (
        Upstream("https://index.example/simple", "Basic bWU6cEBzcw=="),
        Upstream("https://more.example/x"),
    )
    assert found.certificates == "/somewhere.pem"


def test_netrc_signs_in(home: Path, monkeypatch: pytest.MonkeyPatch):
    (home / ".netrc").write_text("machine index.example login me password hush\n")
    (home / ".netrc").chmod(0o600)
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    assert read_upstreams().pip[0].authorization == "Basic bWU6aHVzaA=="


def test_without_configuration_pip_knows_its_own_index():
    assert read_upstreams().pip[0].url.startswith("https://")


@pytest.mark.skipif(not shutil.which("npm"), reason="needs npm")
def test_npm_says_its_registry_and_its_file_the_token(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_TOKEN", "hush")
    (home / ".npmrc").write_text(
        "registry=https://npm.example/all/\n//other.example/:_authToken=no\n"
        "//npm.example/all/:_authToken=${SOME_TOKEN}\n"
    )
    assert read_upstreams().npm == Upstream("https://npm.example/all", "Bearer hush")
