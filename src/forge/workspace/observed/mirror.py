"""Create a temporary git directory that shares the data of a repository but not its configuration.

Objects and refs are read in place. The index is copied, so that git recognizes unchanged files by their times
and our changes stay private. The configuration is our own. Only values that cannot make git run a program are
copied from the original: line ends, file modes, ignored files and the object format.
"""

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from forge.workspace.git.git_runner import TIMEOUT_S, find_git
from forge.workspace.observed.errors import BareRepository, BrokenRepository, GitTooOld
from forge.workspace.observed.git_process import ObservedGit, explain_failure
from forge.workspace.observed.location import RepositoryLocation, read_small

LARGE_FILE_BYTES = 32 << 20
"""git treats files of this size as binary; they are hashed but not copied."""

_CONFIG = f"""\
[core]
	repositoryFormatVersion = 1
	bare = false
	protectHFS = false
	protectNTFS = false
	safecrlf = false
	quotePath = false
	logAllRefUpdates = false
	hooksPath = /dev/null
	fsmonitor = false
	untrackedCache = false
	splitIndex = false
	commitGraph = false
	compression = 0
	looseCompression = 0
	fsync = none
	bigFileThreshold = {LARGE_FILE_BYTES}
[pack]
	compression = 0
[gc]
	auto = 0
[maintenance]
	auto = false
[index]
	sparse = false
[protocol]
	allow = never
[credential]
	helper =
[submodule]
	recurse = false
[diff]
	renameLimit = 1000
	ignoreSubmodules = dirty
"""
_ATTRIBUTES = (
    b"\n* -filter -ident -working-tree-encoding !diff !merge !whitespace !export-ignore !export-subst\n"
)
_WORDS = {"core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.precomposeunicode"}
_PATHS = {"core.excludesfile", "core.attributesfile"}
_USERS = {"core.attributesfile"}
"""Copied from the user's configuration only: a repository could name a file that never ends."""
_TRUE = ("true", "yes", "on", "1")
_NEW = "new-objects"
_MAX_INDEX = 256 << 20
_MAX_SHARED = 8
_MAX_TEXT = 16 << 20

Config = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Mirror:
    git: ObservedGit
    head_text: str
    """Content of HEAD: a ref or an id."""
    is_shallow: bool
    is_sparse: bool
    """Sparse checkout: files may be missing in the work tree on purpose."""
    object_format: str

    @property
    def index(self) -> Path:
        return self.git.git_dir / "index"

    @property
    def writing(self) -> Mapping[str, str]:
        """Environment for commands that write objects: a separate object directory without alternates."""
        return {"GIT_OBJECT_DIRECTORY": str(self.git.git_dir / _NEW)}


def make_mirror(location: RepositoryLocation, folder: Path) -> Mirror:
    """Create the mirror in an empty directory."""
    git = ObservedGit(folder, location.root)
    head = _head_text(location)
    _lay_out(location, folder, head)
    repository_config = _read_own_config(location)
    _check_format(location, repository_config)
    object_format = repository_config.get("extensions.objectformat", "sha1")
    lines = [_CONFIG, "[extensions]\n", f"\tobjectFormat = {object_format}\n", "[core]\n"]
    trusted = {key: value for key, value in repository_config.items() if key not in _USERS}
    lines += _copied_settings({**_read_user_config(folder), **trusted}, location)
    (folder / "config").write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    shallow = read_small(location.common_dir / "shallow", _MAX_TEXT)
    if shallow:
        (folder / "shallow").write_bytes(shallow)
    return Mirror(
        git,
        head,
        bool(shallow),
        repository_config.get("core.sparsecheckout", "").lower() in _TRUE,
        object_format,
    )


def copy_index(source: Path, target: Path) -> None:
    """Copy an index with its timestamps: git re-reads entries that are as recent as the index."""
    if not source.exists():
        return
    times = source.stat()
    data = read_small(source, _MAX_INDEX) or b""
    target.write_bytes(data)
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))


def _lay_out(location: RepositoryLocation, folder: Path, head: str) -> None:
    (folder / "objects" / "info").mkdir(parents=True)
    (folder / _NEW).mkdir()
    (folder / "info").mkdir()
    (folder / "HEAD").write_text(f"{head}\n", encoding="utf-8", errors="surrogateescape")
    seen = (location.common_dir / "objects", folder / _NEW)
    (folder / "objects" / "info" / "alternates").write_bytes(b"".join(_quoted(each) + b"\n" for each in seen))
    (folder / "refs").symlink_to(location.common_dir / "refs")
    packed = location.common_dir / "packed-refs"
    if packed.is_file():
        (folder / "packed-refs").symlink_to(packed)
    elif os.path.lexists(packed):
        raise BrokenRepository("packed-refs of the repository is not a regular file.")
    attributes = read_small(location.common_dir / "info" / "attributes", _MAX_TEXT) or b""
    (folder / "info" / "attributes").write_bytes(attributes + _ATTRIBUTES)
    exclude = read_small(location.common_dir / "info" / "exclude", _MAX_TEXT) or b""
    (folder / "info" / "exclude").write_bytes(exclude + _exclude_ourselves(location.root, folder))
    copy_index(location.git_dir / "index", folder / "index")
    for shared in sorted(location.git_dir.glob("sharedindex.*"))[:_MAX_SHARED]:
        copy_index(shared, folder / shared.name)


def _head_text(location: RepositoryLocation) -> str:
    head = location.git_dir / "HEAD"
    if head.is_symlink():
        return f"ref: {os.readlink(head)}"  # noqa: PTH115  # as old versions of git wrote it
    text = os.fsdecode(read_small(head) or b"").strip()
    if not text or "\n" in text:
        raise BrokenRepository(
            "HEAD of the repository is empty or invalid.", hint="Run `git status` for details."
        )
    return text


def _exclude_ourselves(root: Path, folder: Path) -> bytes:
    """Exclude our temporary directory if it lies inside the observed repository."""
    real = folder.resolve()
    return b"\n/" + os.fsencode(real.relative_to(root)) + b"/\n" if real.is_relative_to(root) else b""


def _read_own_config(location: RepositoryLocation) -> dict[str, str]:
    """Read the repository configuration without following includes."""
    config = _list_config("--file", str(location.common_dir / "config"), "--no-includes", location=location)
    if config.get("extensions.worktreeconfig", "").lower() in _TRUE:
        config |= _list_config(
            "--file", str(location.git_dir / "config.worktree"), "--no-includes", location=location
        )
    return config


def _list_config(*options: str, location: RepositoryLocation) -> dict[str, str]:
    if read_small(Path(options[1]), _MAX_TEXT) is None:
        return {}
    result = ObservedGit(location.git_dir, location.root).ask(
        "config", *options, "--null", "--list", env={"GIT_DIR": os.devnull}
    )
    if result.code != 0:
        raise explain_failure("config", result.code, result.stderr)
    return _parse_config(result.out)


def _read_user_config(folder: Path) -> dict[str, str]:
    """Read the configuration of the user who runs this process, located by their environment as for git."""
    command = [find_git(), f"--git-dir={folder}", "config", "--null", "--list", "--includes"]
    try:
        result = subprocess.run(  # noqa: S603
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        raise GitTooOld("git did not list its configuration.", hint="Try `git config --list`.") from None
    if result.returncode != 0:
        raise explain_failure("config", result.returncode, result.stderr.decode("utf-8", "replace").strip())
    config = _parse_config(result.stdout)
    usual = Path("~/.config/git/ignore")
    return {"core.excludesfile": str(usual)} | config


def _parse_config(out: bytes) -> dict[str, str]:
    """Parse `config --list --null`: the last value wins, a key without a value means true."""
    found: dict[str, str] = {}
    for item in out.split(b"\0"):
        key, has_value, value = os.fsdecode(item).partition("\n")
        found[key.lower()] = value if has_value else "true"
    return found


def _check_format(location: RepositoryLocation, repository_config: Config) -> None:
    if repository_config.get("core.bare", "").lower() in _TRUE and not location.is_linked:
        raise BareRepository(
            f"{str(location.root)[-200:]!r} is a bare repository.",
            hint="Pass one of its work trees, or a clone.",
            field="path",
        )
    if repository_config.get("core.repositoryformatversion", "0") not in ("0", "1"):
        raise GitTooOld("The repository format is newer than Forge supports.")
    if repository_config.get("extensions.refstorage", "files") != "files":
        raise GitTooOld(
            "The repository stores its refs in a format that Forge does not support.",
            hint="Convert them: git refs migrate --ref-format=files",
        )
    if repository_config.get("extensions.objectformat", "sha1") not in ("sha1", "sha256"):
        raise GitTooOld("The repository uses an object format that Forge does not support.")


def _copied_settings(config: Config, location: RepositoryLocation) -> Iterable[str]:
    yield f"\tignoreCase = {str(_ignores_case(location.root)).lower()}\n"
    for key in sorted(_WORDS & config.keys()):
        if config[key].isalnum():
            yield f"\t{key.removeprefix('core.')} = {config[key]}\n"
    for key in sorted(_PATHS & config.keys()):
        yield f"\t{key.removeprefix('core.')} = {_config_string(_expand(config[key], location))}\n"


def _ignores_case(root: Path) -> bool:
    """Probe the disk: trusting `core.ignoreCase` could hide a file whose name differs by case."""
    try:
        return (root / ".git").samefile(root / ".GIT")
    except OSError:
        return False


def _expand(path: str, location: RepositoryLocation) -> str:
    try:
        return os.devnull if not path else str(location.root / Path(path).expanduser())
    except RuntimeError:
        return os.devnull


def _config_string(text: str) -> str:
    return (
        '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
    )


def _quoted(path: Path) -> bytes:
    """Quote a path for the alternates file, only if required."""
    raw = os.fsencode(path)
    if b"\n" not in raw and not raw.startswith((b'"', b"#")):
        return raw
    return b'"' + raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
