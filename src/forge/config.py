"""Settings: read and validated once at startup, immutable afterwards.

A value comes from the first of: command-line option, environment, `.env` in the working directory,
`forge.toml` in the data directory, default. No other module reads the environment.
"""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from forge.errors import ConfigError
from forge.kernel.validation import ValidationProblem, validation_problems

DEFAULT_DATA_DIR = Path("~/.forge")
DOT_ENV = Path(".env")


def _setting_without_prefix(name: str, default: Any, example: str, **rules: Any) -> Any:
    """Declare a setting that is also known without the prefix FORGE_."""
    return Field(
        default,
        validation_alias=AliasChoices(name.lower(), f"FORGE_{name}", name),
        json_schema_extra={"example": example},
        **rules,
    )


def _setting(default: Any, example: str, **rules: Any) -> Any:
    return Field(default, json_schema_extra={"example": example}, **rules)


_MONEY = {"ge": 0, "le": 1_000_000, "allow_inf_nan": False}
"""The maximum fits the columns of the database."""


class _FromDotEnv(BaseSettings):
    """Settings that are also read from `.env`. Errors in reading that file name its path."""

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except UnicodeDecodeError as error:
            raise ConfigError([f"{DOT_ENV.absolute()} is not UTF-8 text."]) from error
        except PermissionError as error:
            raise ConfigError([f"{DOT_ENV.absolute()} cannot be read: {error.strerror}"]) from error


class Settings(_FromDotEnv):
    """All settings with default, validation and an example (shown when a value is rejected)."""

    model_config = SettingsConfigDict(
        env_prefix="FORGE_",
        env_file=DOT_ENV,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
        env_ignore_empty=True,
        hide_input_in_errors=True,
    )

    host: str = _setting("127.0.0.1", "127.0.0.1", description="Address the server listens on.")
    port: int = _setting(
        8000, "8000", ge=0, le=65535, description="Port to listen on; 0 selects a free port."
    )
    data_dir: Path = _setting(DEFAULT_DATA_DIR, "~/.forge", description="Directory for all of Forge's data.")
    database_url: SecretStr | None = _setting(
        None,
        "postgresql://forge:password@db/forge",
        description="URL of a PostgreSQL database. Default: SQLite in the data directory.",
    )
    public_url: str | None = _setting(
        None, "https://forge.example.com", description="Public URL, if Forge runs behind a proxy."
    )
    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        "info",
        "info",
        description="Log level of the terminal output. The log file always has level info.",
    )
    max_body_bytes: int = _setting(
        1_048_576, "1048576", ge=1024, description="Maximum size of a request body."
    )
    rate_limit_per_minute: int = _setting(
        1200,
        "1200",
        ge=1,
        description="Requests per minute per session or key. Failed sign-ins are limited to 1/20 of this per address.",
    )
    session_days: int = _setting(
        30, "30", ge=1, le=365, description="A web session expires after this many days without use."
    )
    run_retention_days: int = _setting(
        90, "90", ge=0, description="Finished runs are deleted after this many days; 0 keeps them."
    )
    vault_key: Literal["file", "keyring"] = _setting(
        "file", "file", description="Where the key of the secrets vault is stored."
    )
    vault_key_file: Path | None = _setting(
        None,
        "/etc/forge/vault.key",
        description="Path of the vault key; required when several machines share a database.",
    )
    sandbox_required: Literal["isolated", "partial", "none"] = _setting(
        "isolated",
        "partial",
        description="Minimum isolation of commands; without it they are rejected. macOS supports at most partial.",
    )
    audit_roots: Annotated[tuple[Path, ...] | None, NoDecode] = _setting(
        None,
        "/srv/projects:/home/me/work",
        description="Directories that may be audited through the API and the web app, and watched by workflows; [] allows "
        "none. Default: the directory Forge was started in, unless it contains a home directory.",
    )
    skill_roots: Annotated[tuple[Path, ...], NoDecode] = _setting(
        (),
        "/srv/skills",
        description="Directories on the server from which skills may be installed through the API. Default: none. "
        "The command line can upload any directory.",
    )
    http_allow: Annotated[tuple[str, ...], NoDecode] = _setting(
        (),
        "127.0.0.1:8080,10.1.0.0/16",
        description="Private hosts, addresses and networks that skills and workflows may reach. Default: public addresses "
        "only.",
    )
    otel_endpoint: str | None = Field(
        None,
        validation_alias=AliasChoices("otel_endpoint", "FORGE_OTEL_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        description="Endpoint for OpenTelemetry traces (OTLP over HTTP).",
        json_schema_extra={"example": "http://127.0.0.1:4318"},
    )

    anthropic_api_key: SecretStr | None = _setting_without_prefix(
        "ANTHROPIC_API_KEY", None, "sk-ant-…", description="Key for Anthropic's models."
    )
    llm_builder_model: str = _setting_without_prefix(
        "LLM_BUILDER_MODEL",
        "claude-opus-4-6",
        "claude-opus-4-6",
        min_length=1,
        description="Model that writes code.",
    )
    llm_planner_model: str = _setting_without_prefix(
        "LLM_PLANNER_MODEL",
        "claude-sonnet-4-5",
        "claude-sonnet-4-5",
        min_length=1,
        description="Model for planning and recovery.",
    )
    llm_questionnaire_model: str = _setting_without_prefix(
        "LLM_QUESTIONNAIRE_MODEL",
        "claude-sonnet-4-5",
        "claude-sonnet-4-5",
        min_length=1,
        description="Model that asks the interview questions.",
    )
    budget_run_usd: float = _setting(
        10.0,
        "10",
        **_MONEY,
        description="Model budget of one run, in dollars. A run that exceeds it asks you before it continues.",
    )
    budget_day_usd: float = _setting(
        50.0, "50", **_MONEY, description="Model budget per account and day, in dollars."
    )
    budget_server_usd: float = _setting(
        200.0, "200", **_MONEY, description="Model budget of all accounts together per day, in dollars."
    )
    pause_threshold: int = _setting_without_prefix(
        "PAUSE_THRESHOLD",
        3,
        "3",
        ge=1,
        description="Not used yet (builds): failed audits of a phase before it asks you.",
    )
    build_pause_timeout_minutes: int = _setting_without_prefix(
        "BUILD_PAUSE_TIMEOUT_MINUTES",
        30,
        "30",
        ge=1,
        description="Not used yet (builds): how long a question of a build stays open.",
    )
    github_client_id: str | None = _setting_without_prefix(
        "GITHUB_CLIENT_ID",
        None,
        "Iv1.0123456789abcdef",
        description="Client id of the OAuth app with which users sign in with GitHub.",
    )
    github_client_secret: SecretStr | None = _setting_without_prefix(
        "GITHUB_CLIENT_SECRET", None, "…", description="Client secret of that OAuth app."
    )
    github_webhook_secret: SecretStr | None = _setting_without_prefix(
        "GITHUB_WEBHOOK_SECRET", None, "…", description="Not used yet: secret of GitHub's webhooks."
    )

    github_url: str = _setting(
        "https://github.com",
        "https://github.example.com",
        description="GitHub, or the URL of a GitHub Enterprise server.",
    )
    jwt_secret: SecretStr | None = _setting_without_prefix(
        "JWT_SECRET",
        None,
        "…",
        min_length=32,
        description="Key that signs the bearer tokens of sign-ins over the API. Default: derived from the vault key.",
    )

    @field_validator("data_dir", "vault_key_file")
    @classmethod
    def _expand_home(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        return value and _expand_user(value, info.field_name).absolute()

    @field_validator("audit_roots", "skill_roots", mode="before")
    @classmethod
    def _split_paths(cls, value: Any) -> Any:
        """Split `a:b` like PATH, or parse a JSON list for paths with a colon."""
        if not isinstance(value, str):
            return value
        return json.loads(value) if value.lstrip().startswith("[") else value.split(os.pathsep)

    @field_validator("audit_roots", "skill_roots")
    @classmethod
    def _check_absolute(cls, value: tuple[Path, ...] | None, info: ValidationInfo) -> tuple[Path, ...] | None:
        expanded = value and tuple(_expand_user(path, info.field_name) for path in value)
        if expanded and not all(path.is_absolute() for path in expanded):
            raise ValueError("must be absolute paths, starting with / or ~")
        return expanded

    @field_validator("http_allow", mode="before")
    @classmethod
    def _split_hosts(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return tuple(stripped for entry in value.split(",") if (stripped := entry.strip()))

    @field_validator("database_url")
    @classmethod
    def _is_postgresql(cls, value: SecretStr | None) -> SecretStr | None:
        if value and not value.get_secret_value().startswith(("postgresql://", "postgres://")):
            raise ValueError("must start with postgresql:// (leave it out to use SQLite)")
        return value

    @field_validator("public_url", "otel_endpoint", "github_url")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return value and value.rstrip("/")

    @property
    def store_url(self) -> str:
        if self.database_url is None:
            return f"sqlite:///{self.data_dir / 'forge.db'}"
        return self.database_url.get_secret_value().replace("postgres://", "postgresql://", 1)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        data_dir = next(
            (
                values["data_dir"]
                for source in (init_settings, env_settings, dotenv_settings)
                if "data_dir" in (values := source())
            ),
            DEFAULT_DATA_DIR,
        )
        toml = InitSettingsSource(
            settings_cls, _read_toml(_expand_user(Path(data_dir), "data_dir") / "forge.toml")
        )
        return init_settings, env_settings, dotenv_settings, toml


class ClientSettings(_FromDotEnv):
    """Settings with which commands find the server: a URL, or the data directory on this machine."""

    model_config = SettingsConfigDict(
        env_prefix="FORGE_", env_file=DOT_ENV, extra="ignore", frozen=True, env_ignore_empty=True
    )

    url: str | None = None
    api_key: SecretStr | None = None
    data_dir: Path = DEFAULT_DATA_DIR

    @field_validator("data_dir")
    @classmethod
    def _expand_home(cls, value: Path) -> Path:
        return _expand_user(value, "data_dir").absolute()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take only `data_dir` from `.env`: that file can come with any checkout and must not redirect API keys."""
        found = {name: value for name, value in dotenv_settings().items() if name == "data_dir"}
        return init_settings, env_settings, InitSettingsSource(settings_cls, found)


def load_settings(**options: Any) -> Settings:
    """Read all settings. Raise one `ConfigError` that lists every invalid value."""
    values = {name: value for name, value in options.items() if value is not None}
    try:
        return Settings(**values)
    except ValidationError as error:
        problems = [_explain(problem) for problem in validation_problems(error)]
    raise ConfigError(problems, hint="Settings are described in docs/reference/settings.md.")


def environment() -> Mapping[str, str]:
    """Return a copy of the process environment."""
    return dict(os.environ)


def setting_name(name: str, field: FieldInfo) -> str:
    """Return the environment variable of a setting: the name without prefix if there is one."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return str(alias.choices[-1])
    return f"FORGE_{name.upper()}"


def unknown_names(env: Mapping[str, str]) -> Iterator[str]:
    """Yield FORGE_* variables that are not settings, which are probably typos."""
    known = {f"FORGE_{name.upper()}" for name in ClientSettings.model_fields}
    for name, field in Settings.model_fields.items():
        known |= {f"FORGE_{name.upper()}", setting_name(name, field)}
    return (name for name in sorted(env) if name.startswith("FORGE_") and name not in known)


def _expand_user(path: Path, setting: str | None) -> Path:
    """Expand `~` in the path of a setting."""
    name = f"FORGE_{setting}".upper()
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ConfigError(
            [f"{name}: cannot expand {path}: this user has no home directory."],
            hint=f"Set HOME, or use an absolute path for {name}.",
        ) from error


def _explain(problem: ValidationProblem) -> str:
    key = str(problem.path[0]) if problem.path else "settings"
    for name, field in Settings.model_fields.items():
        shown = setting_name(name, field)
        if key.upper() in {name.upper(), shown, f"FORGE_{name.upper()}"}:
            return f"{shown}: {problem.message} (example: {shown}={_example(field)})"
    return f"{key}: {problem.message}"


def _example(field: FieldInfo) -> str:
    extra: Any = field.json_schema_extra
    return str(extra["example"])


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except NotADirectoryError as error:
        raise ConfigError([f"FORGE_DATA_DIR: {path.parent} is not a directory."]) from error
    except OSError as error:
        raise ConfigError([f"{path} cannot be read: {error.strerror}"]) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError([f"{path}: {error}"]) from error
    if unknown := sorted(set(values) - set(Settings.model_fields)):
        raise ConfigError([f"{path}: unknown setting {name!r}" for name in unknown])
    return values
