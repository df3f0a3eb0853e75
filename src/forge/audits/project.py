"""What a project says about itself: `forge.json`, and where its contracts and evidence are."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forge.kernel.misfit import first_misfit
from forge.workspace.pattern import Glob

CONFIG = "forge.json"
_MAX_SHOWN = 200
EVIDENCE_FILES = (
    "audit_ledger.md",
    "audit_ledger.jsonl",
    "audit_ledger.head.json",
    "test_runs_latest.md",
    "test_runs.md",
    "test_runs.jsonl",
    "diff_log.md",
    "diff_log.json",
)
"""Written by Forge, and free to change: what is in them is proven by signatures, not by being claimed."""


Language = Literal["python", "typescript", "javascript", "go"]


class Backend(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    language: Language | None = None
    entry_module: str | None = None
    test_framework: str | None = None
    test_dir: str | None = None
    dependency_file: str | None = None
    venv_path: str | None = None


class Frontend(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    enabled: bool = False
    dir: str = "web"
    build_cmd: str | None = None
    test_cmd: str | None = None


class AuditSettings(BaseModel):
    """What a project may say about its own audits."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    first_party: list[str] = []
    """Import names that are the project's own although no file shows it (generated code)."""
    import_names: dict[str, str] = {}
    """Which package an import comes from, where nobody could guess: `{"cv2": "opencv-python"}`."""
    ignore: list[str] = []
    """Globs of files that A4, A9, W1 and W3 leave alone: vendored and generated code."""
    most_changed_lines: int | None = Field(default=None, gt=0)
    """A2 fails when a change is larger."""
    spec: str | None = None
    """The OpenAPI document W3 compares with, if there is no `physics.yaml`."""


class ForgeJson(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    project_name: str | None = None
    backend: Backend = Backend()
    frontend: Frontend = Frontend()
    audit: AuditSettings = AuditSettings()


@dataclass(frozen=True)
class Project:
    config: ForgeJson
    is_configured: bool
    """There is a forge.json."""
    problem: str | None
    """Why it cannot be read. Checks that depend on it are ERROR then, never PASS."""

    def ignores(self, path: str) -> bool:
        """Whether `audit.ignore` leaves this file alone."""
        return any(glob.matches(path) for glob in self._ignored)

    @cached_property
    def _ignored(self) -> tuple[Glob, ...]:
        return tuple(map(Glob, self.config.audit.ignore))


def read_project(data: bytes | None) -> Project:
    """From the content of forge.json; None when there is none."""
    if data is None:
        return Project(ForgeJson(), is_configured=False, problem=None)
    try:
        config = ForgeJson.model_validate_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Project(ForgeJson(), is_configured=True, problem=f"{CONFIG} is not UTF-8")
    except ValidationError as error:
        return Project(ForgeJson(), is_configured=True, problem=_explain(error))
    if (bad := next((glob for glob in config.audit.ignore if not _is_glob(glob)), None)) is not None:
        problem = f"{CONFIG}: audit.ignore: {bad[:_MAX_SHOWN]!r} is no glob"
        return Project(ForgeJson(), is_configured=True, problem=problem)
    return Project(config, is_configured=True, problem=None)


def _explain(error: ValidationError) -> str:
    misfit = first_misfit(error)
    where = ".".join(str(part)[:_MAX_SHOWN] for part in misfit.path)
    if misfit.kind == "extra_forbidden":
        return f"{CONFIG}: {where!r} is no key; audit knows {', '.join(AuditSettings.model_fields)}"
    return f"{CONFIG}: {where + ': ' if where else ''}{misfit.message}"


def _is_glob(text: str) -> bool:
    """A bracket that nothing closes stands for itself elsewhere; here somebody meant more by it."""
    try:
        Glob(text)
    except ValueError:
        return False
    rest = text
    while (start := rest.find("[")) >= 0:
        end = rest.find("]", start + 2)
        if end < 0:
            return False
        rest = rest[end + 1 :]
    return bool(text.strip("/ "))


@dataclass(frozen=True, slots=True)
class Governance:
    """The folder of contracts and evidence: `Forge`, or the project itself where `Contracts/` lies at its top."""

    folder: str
    """Relative to the project; empty for the project itself."""
    exists: bool

    def path(self, *names: str) -> str:
        return "/".join((*((self.folder,) if self.folder else ()), *names))

    @property
    def boundaries(self) -> str:
        return self.path("Contracts", "boundaries.json")

    @property
    def physics(self) -> str:
        return self.path("Contracts", "physics.yaml")

    @property
    def evidence(self) -> str:
        return self.path("evidence")

    def is_evidence(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return folder == self.evidence and name in EVIDENCE_FILES


def find_governance(paths: set[str]) -> Governance:
    """From the paths of the project's files (folders are not asked for: git has none)."""

    def has(folder: str) -> bool:
        return any(path.startswith(f"{folder}/") for path in paths)

    if has("Forge/Contracts"):
        return Governance("Forge", exists=True)
    if has("Contracts"):
        return Governance("", exists=True)
    return Governance("Forge", exists=has("Forge"))
