"""Read forge.json, and find the folder of contracts and evidence."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forge.kernel.validation import first_problem
from forge.workspace.filesystem.pattern import Glob

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
"""Files that Forge writes. They may change without a claim, as their content is signed."""


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
    """The `audit` settings in forge.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    first_party: list[str] = []
    """Import names that are the project's own although no file defines them, such as generated code."""
    import_names: dict[str, str] = {}
    """Maps import names to packages, such as `{"cv2": "opencv-python"}`."""
    ignore: list[str] = []
    """Globs of files that A4, A9, W1 and W3 skip, such as vendored and generated code."""
    most_changed_lines: int | None = Field(default=None, gt=0)
    """A2 fails when a change is larger."""
    spec: str | None = None
    """The OpenAPI document for W3, if there is no `physics.yaml`."""


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
    """Whether forge.json exists."""
    problem: str | None
    """Why forge.json cannot be read. Checks that depend on it are an ERROR then."""

    def ignores(self, path: str) -> bool:
        """Return whether `audit.ignore` matches this file."""
        return any(glob.matches(path) for glob in self._ignored)

    @cached_property
    def _ignored(self) -> tuple[Glob, ...]:
        return tuple(map(Glob, self.config.audit.ignore))


def read_project(data: bytes | None) -> Project:
    """Parse forge.json; `data` is None if the file does not exist."""
    if data is None:
        return Project(ForgeJson(), is_configured=False, problem=None)
    try:
        config = ForgeJson.model_validate_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Project(ForgeJson(), is_configured=True, problem=f"{CONFIG} is not UTF-8")
    except ValidationError as error:
        return Project(ForgeJson(), is_configured=True, problem=_explain(error))
    if (bad := next((glob for glob in config.audit.ignore if not _is_glob(glob)), None)) is not None:
        problem = f"{CONFIG}: audit.ignore: {bad[:_MAX_SHOWN]!r} is not a valid glob"
        return Project(ForgeJson(), is_configured=True, problem=problem)
    return Project(config, is_configured=True, problem=None)


def _explain(error: ValidationError) -> str:
    misfit = first_problem(error)
    where = ".".join(str(part)[:_MAX_SHOWN] for part in misfit.path)
    if misfit.kind == "extra_forbidden":
        return (
            f"{CONFIG}: unknown key {where!r}; the keys of audit are {', '.join(AuditSettings.model_fields)}"
        )
    return f"{CONFIG}: {where + ': ' if where else ''}{misfit.message}"


def _is_glob(text: str) -> bool:
    """Return whether a glob is valid. An unclosed bracket, which globs usually take literally, is rejected as a typo."""
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
    """The folder of contracts and evidence: `Forge`, or the project root if it contains `Contracts/`."""

    folder: str
    """Relative to the project; empty for the project root."""
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
    """Find the governance folder from the file paths."""

    def has(folder: str) -> bool:
        return any(path.startswith(f"{folder}/") for path in paths)

    if has("Forge/Contracts"):
        return Governance("Forge", exists=True)
    if has("Contracts"):
        return Governance("", exists=True)
    return Governance("Forge", exists=has("Forge"))
