"""A throw-away git directory that sees what the real one has, and obeys none of it.

Objects and refs are looked at where they are; the index is copied, so that git knows unchanged files by their times and
what we do to it stays ours. The configuration is written here. Of the real one only values that cannot make git run
anything are taken over: how line ends and modes are kept, which files are ignored, how objects are named.
"""

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from forge.workspace.gitrunner import TIMEOUT_S, find_git
from forge.workspace.observed_errors import BareRepository, BrokenRepository, GitTooOld
from forge.workspace.observed_git import ObservedGit, explain_failure
from forge.workspace.observed_place import ObservedPlace, read_small

LARGE = 32 << 20
"""Bytes. git takes a file of this size for data and compares no lines of it; we do not keep a copy of one."""

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
	bigFileThreshold = {LARGE}
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
"""Only the user's own: a repository has its attributes in files of its own, and could name one that never ends."""
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
    """What HEAD says: a ref, or an id."""
    is_shallow: bool
    is_sparse: bool
    """Files may be left out of the work tree on purpose."""
    object_format: str

    @property
    def index(self) -> Path:
        return self.git.git_dir / "index"

    @property
    def writing(self) -> Mapping[str, str]:
        """For commands that write objects: a place of their own, from where they see no others."""
        return {"GIT_OBJECT_DIRECTORY": str(self.git.git_dir / _NEW)}


def make_mirror(place: ObservedPlace, folder: Path) -> Mirror:
    """In an empty folder of ours."""
    git = ObservedGit(folder, place.root)
    head = _head_text(place)
    _lay_out(place, folder, head)
    own = _read_own_config(place)
    _check_format(place, own)
    object_format = own.get("extensions.objectformat", "sha1")
    lines = [_CONFIG, "[extensions]\n", f"\tobjectFormat = {object_format}\n", "[core]\n"]
    trusted = {key: value for key, value in own.items() if key not in _USERS}
    lines += _taken_over({**_read_user_config(folder), **trusted}, place)
    (folder / "config").write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    shallow = read_small(place.common_dir / "shallow", _MAX_TEXT)
    if shallow:
        (folder / "shallow").write_bytes(shallow)
    return Mirror(
        git, head, bool(shallow), own.get("core.sparsecheckout", "").lower() in _TRUE, object_format
    )


def copy_index(source: Path, target: Path) -> None:
    """With its time: an entry as young as its index is one that git does not trust, and rightly."""
    if not source.exists():
        return
    times = source.stat()
    data = read_small(source, _MAX_INDEX) or b""
    target.write_bytes(data)
    os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))


def _lay_out(place: ObservedPlace, folder: Path, head: str) -> None:
    (folder / "objects" / "info").mkdir(parents=True)
    (folder / _NEW).mkdir()
    (folder / "info").mkdir()
    (folder / "HEAD").write_text(f"{head}\n", encoding="utf-8", errors="surrogateescape")
    seen = (place.common_dir / "objects", folder / _NEW)
    (folder / "objects" / "info" / "alternates").write_bytes(b"".join(_quoted(each) + b"\n" for each in seen))
    (folder / "refs").symlink_to(place.common_dir / "refs")
    packed = place.common_dir / "packed-refs"
    if packed.is_file():
        (folder / "packed-refs").symlink_to(packed)
    elif os.path.lexists(packed):
        raise BrokenRepository("packed-refs of the repository is not a regular file.")
    attributes = read_small(place.common_dir / "info" / "attributes", _MAX_TEXT) or b""
    (folder / "info" / "attributes").write_bytes(attributes + _ATTRIBUTES)
    exclude = read_small(place.common_dir / "info" / "exclude", _MAX_TEXT) or b""
    (folder / "info" / "exclude").write_bytes(exclude + _exclude_ourselves(place.root, folder))
    copy_index(place.git_dir / "index", folder / "index")
    for shared in sorted(place.git_dir.glob("sharedindex.*"))[:_MAX_SHARED]:
        copy_index(shared, folder / shared.name)


def _head_text(place: ObservedPlace) -> str:
    head = place.git_dir / "HEAD"
    if head.is_symlink():
        return f"ref: {os.readlink(head)}"  # noqa: PTH115  # as old versions of git wrote it
    text = os.fsdecode(read_small(head) or b"").strip()
    if not text or "\n" in text:
        raise BrokenRepository("HEAD of the repository says nothing.", hint="`git status` says more.")
    return text


def _exclude_ourselves(root: Path, folder: Path) -> bytes:
    """Whoever audits the very folder that temporary files are made in does not mean ours."""
    real = folder.resolve()
    return b"\n/" + os.fsencode(real.relative_to(root)) + b"/\n" if real.is_relative_to(root) else b""


def _read_own_config(place: ObservedPlace) -> dict[str, str]:
    """Of the repository; what it would include is not followed."""
    config = _list_config("--file", str(place.common_dir / "config"), "--no-includes", place=place)
    if config.get("extensions.worktreeconfig", "").lower() in _TRUE:
        config |= _list_config("--file", str(place.git_dir / "config.worktree"), "--no-includes", place=place)
    return config


def _list_config(*options: str, place: ObservedPlace) -> dict[str, str]:
    if read_small(Path(options[1]), _MAX_TEXT) is None:
        return {}
    said = ObservedGit(place.git_dir, place.root).ask(
        "config", *options, "--null", "--list", env={"GIT_DIR": os.devnull}
    )
    if said.code != 0:
        raise explain_failure("config", said.code, said.complaint)
    return _parse_config(said.out)


def _read_user_config(folder: Path) -> dict[str, str]:
    """Of whoever runs us: their environment decides where it is, as it does for their git."""
    command = [find_git(), f"--git-dir={folder}", "config", "--null", "--list", "--includes"]
    try:
        said = subprocess.run(  # noqa: S603
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        raise GitTooOld("git does not tell its configuration.", hint="Try `git config --list`.") from None
    if said.returncode != 0:
        raise explain_failure("config", said.returncode, said.stderr.decode("utf-8", "replace").strip())
    config = _parse_config(said.stdout)
    usual = Path("~/.config/git/ignore")
    return {"core.excludesfile": str(usual)} | config


def _parse_config(out: bytes) -> dict[str, str]:
    """The last word counts; a key alone means true."""
    found: dict[str, str] = {}
    for item in out.split(b"\0"):
        key, has_value, value = os.fsdecode(item).partition("\n")
        found[key.lower()] = value if has_value else "true"
    return found


def _check_format(place: ObservedPlace, own: Config) -> None:
    if own.get("core.bare", "").lower() in _TRUE and not place.is_linked:
        raise BareRepository(
            f"{str(place.root)[-200:]!r} is a repository without files.",
            hint="Name one of its work trees, or a clone.",
            field="path",
        )
    if own.get("core.repositoryformatversion", "0") not in ("0", "1"):
        raise GitTooOld("The repository has a newer format than Forge knows.")
    if own.get("extensions.refstorage", "files") != "files":
        raise GitTooOld(
            "The repository keeps its refs in a format that Forge does not read yet.",
            hint="`git refs migrate --ref-format=files` changes that.",
        )
    if own.get("extensions.objectformat", "sha1") not in ("sha1", "sha256"):
        raise GitTooOld("The repository names its objects in a way that Forge does not know.")


def _taken_over(config: Config, place: ObservedPlace) -> Iterable[str]:
    yield f"\tignoreCase = {str(_ignores_case(place.root)).lower()}\n"
    for key in sorted(_WORDS & config.keys()):
        if config[key].isalnum():
            yield f"\t{key.removeprefix('core.')} = {config[key]}\n"
    for key in sorted(_PATHS & config.keys()):
        yield f"\t{key.removeprefix('core.')} = {_config_string(_expand(config[key], place))}\n"


def _ignores_case(root: Path) -> bool:
    """Asked of the disk: a repository that only claims so would hide a file whose name differs by case."""
    try:
        return (root / ".git").samefile(root / ".GIT")
    except OSError:
        return False


def _expand(path: str, place: ObservedPlace) -> str:
    try:
        return os.devnull if not path else str(place.root / Path(path).expanduser())
    except RuntimeError:
        return os.devnull


def _config_string(text: str) -> str:
    return (
        '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
    )


def _quoted(path: Path) -> bytes:
    """As the list of alternates wants it: in quotes only where it must be."""
    raw = os.fsencode(path)
    if b"\n" not in raw and not raw.startswith((b'"', b"#")):
        return raw
    return b'"' + raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
