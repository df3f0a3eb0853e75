"""Settings: read once at the start, checked as a whole, immutable afterwards.

A value comes from the first of: command-line option, environment, `.env` in the working directory,
`forge.toml` in the data directory, default. Nothing else in Forge reads the environment.
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
from forge.kernel.misfit import Misfit, misfits

DEFAULT_DATA_DIR = Path("~/.forge")
DOT_ENV = Path(".env")


def _seed(name: str, default: Any, example: str, **rules: Any) -> Any:
    """A setting that is also known by the bare name the product documents use."""
    return Field(
        default,
        validation_alias=AliasChoices(name.lower(), f"FORGE_{name}", name),
        json_schema_extra={"example": example},
        **rules,
    )


def _own(default: Any, example: str, **rules: Any) -> Any:
    return Field(default, json_schema_extra={"example": example}, **rules)


_MONEY = {"ge": 0, "le": 1_000_000, "allow_inf_nan": False}
"""As much as the database holds."""


class _FromDotEnv(BaseSettings):
    """Says which file it was when `.env` is no text, or not ours to read."""

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except UnicodeDecodeError as error:
            raise ConfigError([f"{DOT_ENV.absolute()}: this is not text in UTF-8."]) from error
        except PermissionError as error:
            raise ConfigError([f"{DOT_ENV.absolute()} cannot be read: {error.strerror}"]) from error


class Settings(_FromDotEnv):
    """Every setting, with its default, its rule and an example (shown when a value is refused)."""

    model_config = SettingsConfigDict(
        env_prefix="FORGE_",
        env_file=DOT_ENV,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
        env_ignore_empty=True,
        hide_input_in_errors=True,
    )

    host: str = _own("127.0.0.1", "127.0.0.1", description="Address the server listens on.")
    port: int = _own(8000, "8000", ge=0, le=65535, description="Port; 0 takes a free one.")
    data_dir: Path = _own(
        DEFAULT_DATA_DIR, "~/.forge", description="Where Forge keeps everything it has to remember."
    )
    database_url: SecretStr | None = _own(
        None,
        "postgresql://forge:password@db/forge",
        description="PostgreSQL to use instead of SQLite in the data directory.",
    )
    public_url: str | None = _own(
        None, "https://forge.example.com", description="Address people use when a proxy stands in front."
    )
    log_level: Literal["debug", "info", "warning", "error"] = _own(
        "info", "info", description="How much goes to the terminal; the log file always has info."
    )
    max_body_bytes: int = _own(
        1_048_576, "1048576", ge=1024, description="Largest request body that is accepted."
    )
    rate_limit_per_minute: int = _own(
        1200,
        "1200",
        ge=1,
        description="Requests per minute for one session or key; a twentieth may be refused for one address.",
    )
    session_days: int = _own(30, "30", ge=1, le=365, description="A web session ends after this long unused.")
    run_retention_days: int = _own(
        90, "90", ge=0, description="Finished runs are deleted after this long; 0 keeps them."
    )
    vault_key: Literal["file", "keyring"] = _own(
        "file", "file", description="Where the key of the secrets vault lives."
    )
    vault_key_file: Path | None = _own(
        None,
        "/etc/forge/vault.key",
        description="Vault key file; needed when several machines share a database.",
    )
    sandbox_required: Literal["isolated", "partial", "none"] = _own(
        "isolated",
        "partial",
        description="Commands are refused where they cannot be locked in this well; macOS offers partial at best.",
    )
    audit_roots: Annotated[tuple[Path, ...] | None, NoDecode] = _own(
        None,
        "/srv/projects:/home/me/work",
        description="Folders whose projects may be audited through the API and the web; [] allows none. Without it, "
        "the folder Forge was started in, unless that holds a home.",
    )
    skill_roots: Annotated[tuple[Path, ...], NoDecode] = _own(
        (),
        "/srv/skills",
        description="Folders of the server's machine that skills may be installed from through the API; none without it. "
        "The command line sends its own folders, wherever they are.",
    )
    http_allow: Annotated[tuple[str, ...], NoDecode] = _own(
        (),
        "127.0.0.1:8080,10.1.0.0/16",
        description="Hosts, addresses and networks of your own that skills and workflows may reach; without it, public "
        "ones alone.",
    )
    otel_endpoint: str | None = Field(
        None,
        validation_alias=AliasChoices("otel_endpoint", "FORGE_OTEL_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        description="Send OpenTelemetry traces here (OTLP over HTTP).",
        json_schema_extra={"example": "http://127.0.0.1:4318"},
    )

    anthropic_api_key: SecretStr | None = _seed(
        "ANTHROPIC_API_KEY", None, "sk-ant-…", description="Key for Anthropic's models."
    )
    llm_builder_model: str = _seed(
        "LLM_BUILDER_MODEL",
        "claude-opus-4-6",
        "claude-opus-4-6",
        min_length=1,
        description="Model that writes code.",
    )
    llm_planner_model: str = _seed(
        "LLM_PLANNER_MODEL",
        "claude-sonnet-4-5",
        "claude-sonnet-4-5",
        min_length=1,
        description="Model that plans and recovers.",
    )
    llm_questionnaire_model: str = _seed(
        "LLM_QUESTIONNAIRE_MODEL",
        "claude-sonnet-4-5",
        "claude-sonnet-4-5",
        min_length=1,
        description="Model that asks the interview questions.",
    )
    budget_run_usd: float = _own(
        10.0, "10", **_MONEY, description="What the models of one run may cost before it asks you."
    )
    budget_day_usd: float = _own(
        50.0, "50", **_MONEY, description="What an account may spend on models in a day."
    )
    budget_server_usd: float = _own(
        200.0, "200", **_MONEY, description="What all accounts together may spend on models in a day."
    )
    pause_threshold: int = _seed(
        "PAUSE_THRESHOLD",
        3,
        "3",
        ge=1,
        description="For builds, which do not exist yet: failed audits of one phase before one asks you.",
    )
    build_pause_timeout_minutes: int = _seed(
        "BUILD_PAUSE_TIMEOUT_MINUTES",
        30,
        "30",
        ge=1,
        description="For builds, which do not exist yet: how long a question of one stays open.",
    )
    github_client_id: str | None = _seed(
        "GITHUB_CLIENT_ID",
        None,
        "Iv1.0123456789abcdef",
        description="Not used yet: OAuth app for signing in with GitHub.",
    )
    github_client_secret: SecretStr | None = _seed(
        "GITHUB_CLIENT_SECRET", None, "…", description="Not used yet: secret of that OAuth app."
    )
    github_webhook_secret: SecretStr | None = _seed(
        "GITHUB_WEBHOOK_SECRET", None, "…", description="Not used yet: signs what GitHub sends on a push."
    )

    @field_validator("data_dir", "vault_key_file")
    @classmethod
    def _expand_home(cls, value: Path | None, of: ValidationInfo) -> Path | None:
        return value and _at_home(value, of.field_name).absolute()

    @field_validator("audit_roots", "skill_roots", mode="before")
    @classmethod
    def _split_paths(cls, value: Any) -> Any:
        """`a:b` as in PATH, or a JSON list for names with a colon."""
        if not isinstance(value, str):
            return value
        return json.loads(value) if value.lstrip().startswith("[") else value.split(os.pathsep)

    @field_validator("audit_roots", "skill_roots")
    @classmethod
    def _are_whole_paths(cls, value: tuple[Path, ...] | None, of: ValidationInfo) -> tuple[Path, ...] | None:
        expanded = value and tuple(_at_home(path, of.field_name) for path in value)
        if expanded and not all(path.is_absolute() for path in expanded):
            raise ValueError("must be whole paths, from / or ~ on")
        return expanded

    @field_validator("http_allow", mode="before")
    @classmethod
    def _split_places(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return tuple(stripped for entry in value.split(",") if (stripped := entry.strip()))

    @field_validator("database_url")
    @classmethod
    def _is_postgresql(cls, value: SecretStr | None) -> SecretStr | None:
        if value and not value.get_secret_value().startswith(("postgresql://", "postgres://")):
            raise ValueError("must start with postgresql:// (leave it out to use SQLite)")
        return value

    @field_validator("public_url", "otel_endpoint")
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
                given["data_dir"]
                for source in (init_settings, env_settings, dotenv_settings)
                if "data_dir" in (given := source())
            ),
            DEFAULT_DATA_DIR,
        )
        toml = InitSettingsSource(
            settings_cls, _read_toml(_at_home(Path(data_dir), "data_dir") / "forge.toml")
        )
        return init_settings, env_settings, dotenv_settings, toml


class ClientSettings(_FromDotEnv):
    """What a command needs to find the server: an address, or the data directory on this machine."""

    model_config = SettingsConfigDict(
        env_prefix="FORGE_", env_file=DOT_ENV, extra="ignore", frozen=True, env_ignore_empty=True
    )

    url: str | None = None
    api_key: SecretStr | None = None
    data_dir: Path = DEFAULT_DATA_DIR

    @field_validator("data_dir")
    @classmethod
    def _expand_home(cls, value: Path) -> Path:
        return _at_home(value, "data_dir").absolute()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """`.env` says where the data is, as for the server; a file that may come with any checkout never says whom
        to send a key to."""
        found = {name: value for name, value in dotenv_settings().items() if name == "data_dir"}
        return init_settings, env_settings, InitSettingsSource(settings_cls, found)


def load_settings(**options: Any) -> Settings:
    """Read all settings; every bad value is reported in one `ConfigError`."""
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        problems = [_explain(misfit) for misfit in misfits(error)]
    raise ConfigError(problems, hint="Settings are described in docs/reference/settings.md.")


def environment() -> Mapping[str, str]:
    """A copy of the process environment, for the few who look names up in it or hand it on."""
    return dict(os.environ)


def setting_name(name: str, field: FieldInfo) -> str:
    """The environment variable a person sets: the documented bare name where there is one."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return str(alias.choices[-1])
    return f"FORGE_{name.upper()}"


def unknown_names(env: Mapping[str, str]) -> Iterator[str]:
    """Variables that look like ours but are not: most likely a typing mistake."""
    known = {f"FORGE_{name.upper()}" for name in ClientSettings.model_fields}
    for name, field in Settings.model_fields.items():
        known |= {f"FORGE_{name.upper()}", setting_name(name, field)}
    return (name for name in sorted(env) if name.startswith("FORGE_") and name not in known)


def _at_home(path: Path, of: str | None) -> Path:
    """`of` is the setting that names it."""
    name = f"FORGE_{of}".upper()
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ConfigError(
            [f"{name}: {path} means nothing for a user without a home."],
            hint=f"Set HOME, or write the whole path in {name}.",
        ) from error


def _explain(misfit: Misfit) -> str:
    given = str(misfit.path[0]) if misfit.path else "settings"
    for name, field in Settings.model_fields.items():
        shown = setting_name(name, field)
        if given.upper() in {name.upper(), shown, f"FORGE_{name.upper()}"}:
            return f"{shown}: {misfit.message} (example: {shown}={_example(field)})"
    return f"{given}: {misfit.message}"


def _example(field: FieldInfo) -> str:
    extra: Any = field.json_schema_extra
    return str(extra["example"])


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except NotADirectoryError as error:
        raise ConfigError([f"FORGE_DATA_DIR: {path.parent} is not a folder."]) from error
    except OSError as error:
        raise ConfigError([f"{path} cannot be read: {error.strerror}"]) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError([f"{path}: {error}"]) from error
    if unknown := sorted(set(values) - set(Settings.model_fields)):
        raise ConfigError([f"{path}: there is no setting called {name!r}" for name in unknown])
    return values
