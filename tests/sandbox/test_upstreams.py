"""Upstream registries as configured for pip and npm."""

import shutil
from pathlib import Path

import pytest

from forge.sandbox.registry_gateway.upstreams import Upstream, read_upstreams


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


def test_variables_override_files_and_credentials_are_removed(home: Path, monkeypatch: pytest.MonkeyPatch):
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


def test_netrc_credentials_are_used(home: Path, monkeypatch: pytest.MonkeyPatch):
    (home / ".netrc").write_text("machine index.example login me password hush\n")
    (home / ".netrc").chmod(0o600)
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    assert read_upstreams().pip[0].authorization == "Basic bWU6aHVzaA=="


def test_pip_default_index_is_used_without_configuration():
    assert read_upstreams().pip[0].url.startswith("https://")


@pytest.mark.skipif(not shutil.which("npm"), reason="needs npm")
def test_npm_registry_and_token_are_read(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_TOKEN", "hush")
    (home / ".npmrc").write_text(
        "registry=https://npm.example/all/\n//other.example/:_authToken=no\n"
        "//npm.example/all/:_authToken=${SOME_TOKEN}\n"
    )
    assert read_upstreams().npm == Upstream("https://npm.example/all", "Bearer hush")
