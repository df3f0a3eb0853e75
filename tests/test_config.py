"""Settings: all invalid values are reported at once, with hints."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.config import ClientSettings, Settings, load_settings, setting_name, unknown_names
from forge.errors import ConfigError


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import os

    for name in list(os.environ):
        if name.startswith(("FORGE_", "LLM_", "GITHUB_", "ANTHROPIC_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORGE_DATA_DIR", str(tmp_path / "data"))


def write_toml(tmp_path: Path, text: str) -> None:
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "forge.toml").write_text(text)


def test_settings_have_defaults():
    settings = load_settings()
    assert (settings.host, settings.port, settings.database_url) == ("127.0.0.1", 8000, None)


def test_option_precedes_environment_dotenv_and_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_toml(tmp_path, "port = 1\npause_threshold = 1\nhost = 'toml'\nlog_level = 'error'\n")
    (tmp_path / ".env").write_text("FORGE_PORT=2\nPAUSE_THRESHOLD=2\nFORGE_HOST=dotenv\n")
    monkeypatch.setenv("FORGE_PORT", "3")
    monkeypatch.setenv("PAUSE_THRESHOLD", "3")
    settings = load_settings(port=4)
    assert (settings.port, settings.pause_threshold, settings.host, settings.log_level) == (
        4,
        3,
        "dotenv",
        "error",
    )


@pytest.mark.parametrize("name", ["PAUSE_THRESHOLD", "FORGE_PAUSE_THRESHOLD"])
def test_names_work_with_and_without_prefix(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, "9")
    assert load_settings().pause_threshold == 9


def test_all_invalid_values_are_listed_with_example(monkeypatch: pytest.MonkeyPatch):
    for name, value in {
        "FORGE_PORT": "many",
        "PAUSE_THRESHOLD": "0",
        "FORGE_DATABASE_URL": "mysql://root:hunter2@db",
        "FORGE_LOG_LEVEL": "loud",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as error:
        load_settings()
    problems = error.value.problems
    assert [problem.split(":")[0] for problem in problems] == [
        "FORGE_PORT",
        "FORGE_DATABASE_URL",
        "FORGE_LOG_LEVEL",
        "PAUSE_THRESHOLD",
    ]
    assert "must start with postgresql://" in problems[1] and "example: FORGE_DATABASE_URL=" in problems[1]
    assert "hunter2" not in error.value.message


@pytest.mark.parametrize("amount", ["inf", "nan", "1e300", "-1"])
@pytest.mark.parametrize("name", ["FORGE_BUDGET_RUN_USD", "FORGE_BUDGET_DAY_USD", "FORGE_BUDGET_SERVER_USD"])
def test_invalid_budget_is_rejected(name: str, amount: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, amount)
    with pytest.raises(ConfigError, match=name):
        load_settings()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("prot = 1", "unknown setting 'prot'"),
        ("port = ", "Invalid value"),
        ("port = 'x'", "FORGE_PORT: Input should be a valid integer"),
    ],
)
def test_invalid_toml_file_is_named(tmp_path: Path, text: str, problem: str):
    write_toml(tmp_path, text)
    with pytest.raises(ConfigError, match=problem):
        load_settings()


def test_unknown_name_is_reported():
    assert list(unknown_names({"FORGE_PROT": "1", "FORGE_PORT": "1", "FORGE_URL": "x", "PATH": ""})) == [
        "FORGE_PROT"
    ]


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    monkeypatch.setenv("FORGE_DATABASE_URL", "postgresql://u:hunter2@db/forge")
    shown = repr(load_settings())
    assert "sk-ant-secret" not in shown and "hunter2" not in shown


def test_settings_are_immutable():
    with pytest.raises(ValueError, match="frozen"):
        load_settings().port = 1  # type: ignore[misc]


def test_invalid_settings_stop_the_start_with_exit_code_2(tmp_path: Path):
    environment = {"PATH": "/usr/bin", "FORGE_PORT": "many", "FORGE_LOG_LEVEL": "loud"}
    command = [sys.executable, "-m", "forge", "serve", "--data-dir", str(tmp_path / "fresh")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "FORGE_PORT" in done.stderr and "FORGE_LOG_LEVEL" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "fresh").exists()


def test_every_setting_is_described_and_documented():
    documented = (Path(__file__).parent.parent / "docs/reference/settings.md").read_text()
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert f"`{setting_name(name, field)}`" in documented, name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/srv/a:/srv/b", (Path("/srv/a"), Path("/srv/b"))),
        ('["/srv/a:b"]', (Path("/srv/a:b"),)),
        ("[]", ()),
        ("~/work", (Path.home() / "work",)),
    ],
)
def test_directories_are_a_path_list_or_json(
    text: str, expected: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FORGE_AUDIT_ROOTS", text)
    assert load_settings().audit_roots == expected


@pytest.mark.parametrize("text", ["srv/a", "[1", '["srv"]'])
def test_directories_must_be_absolute(text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FORGE_AUDIT_ROOTS", text)
    with pytest.raises(ConfigError, match="FORGE_AUDIT_ROOTS"):
        load_settings()


@pytest.mark.parametrize(
    "name", ["FORGE_AUDIT_ROOTS", "FORGE_SKILL_ROOTS", "FORGE_VAULT_KEY_FILE", "FORGE_DATA_DIR"]
)
def test_unexpandable_home_error_names_the_setting(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, "~nobody-at-all/x")
    with pytest.raises(ConfigError) as told:
        load_settings()
    assert told.value.message == f"{name}: cannot expand ~nobody-at-all/x: this user has no home directory."


@pytest.mark.parametrize("load", [load_settings, ClientSettings])
def test_invalid_dotenv_is_named(load: Callable[[], object], tmp_path: Path):
    (tmp_path / ".env").write_bytes(b"FORGE_PORT=80\xff\n")
    with pytest.raises(ConfigError) as told:
        load()
    assert told.value.message == f"{tmp_path / '.env'} is not UTF-8 text."
