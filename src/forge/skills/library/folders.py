"""Read and write the folders of skills on disk: `<root>/<name>/SKILL.md` and other files.

People put folders there too, so their contents are not trusted. A skill is written under a temporary name and renamed when
it is complete. Readers and writers lock the root folder: no reader sees half of a change, and the next access cleans up
after a writer that was killed.
"""

import fcntl
import os
import secrets
import stat
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from forge.errors import Conflict, ForgeError, Invalid, NotFound, TooLarge
from forge.kernel.tree_removal import try_remove_tree
from forge.skills.format.contents import (
    MAX_BYTES,
    MAX_FILE_BYTES,
    MAX_SKILL_BYTES,
    Snapshot,
    check_files,
    check_texts,
    encode_texts,
    hash_files,
    manifest_text,
    text_of,
)
from forge.skills.library.snapshots import SnapshotCache, paths, read_all
from forge.skills.models import MAX_SKILL_NAME, SKILL_MD, SkillFiles, is_skill_name
from forge.workspace.filesystem.entries import EntryKind
from forge.workspace.filesystem.errors import NoSuchPath, explain
from forge.workspace.filesystem.files import Files

_NEW, _OLD, _GONE = ".new-", ".old-", ".gone-"


@dataclass(frozen=True)
class WriteResult:
    """The result of writing a skill."""

    path: Path
    is_new: bool
    """The library had no skill of this name."""
    is_changed: bool
    """False if the same skill was already there."""


@dataclass(frozen=True)
class ManifestFile:
    text: str
    """Content of SKILL.md."""
    files: list[str]
    """Paths of the other files, sorted."""


class SkillFolders:
    """All methods block; call them in a thread."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._snapshots = SnapshotCache()

    def path(self, name: str) -> Path:
        return self.root / checked_name(name)

    def names(self) -> list[str]:
        """Return the folders whose names are skill names, sorted."""
        with self._reading() as files:
            found = files.list() if files else []
            return [
                entry.name for entry in found if entry.kind is EntryKind.DIR and is_skill_name(entry.name)
            ]

    def has(self, name: str) -> bool:
        """Return whether anything with this name exists."""
        with self._reading():
            return is_skill_name(name) and os.path.lexists(self.root / name)

    def read_manifests(self, names: Iterable[str]) -> dict[str, ManifestFile | ForgeError | None]:
        """Return each skill, or the error that keeps it from being read; None if it does not exist."""
        with self._reading() as files:
            return {name: self._read_manifest(files, name) for name in names}

    def read(self, name: str) -> SkillFiles:
        """Return its text files. Raises NotFound, Invalid or TooLarge."""
        checked_name(name)
        with self._reading() as files:
            if files is None:
                raise not_found(name)
            _manifest_text(files, name)
            return SkillFiles(name=name, files=_text_files(files, name))

    def snapshot(self, name: str) -> Snapshot:
        """Return all of its files, even if they are not a valid skill. Raises NotFound or TooLarge."""
        checked_name(name)
        with self._reading() as files:
            if files is None or not os.path.lexists(self.root / name):
                raise not_found(name)
            _check_directory(files, name)
            return self._snapshots.take(files, name)

    def write(self, skill: SkillFiles, *, replace: bool) -> WriteResult:
        """Write the text files atomically. Binary files of a replaced skill are kept."""
        check_texts(skill.name, skill.files)
        path = self.path(skill.name)
        with self._writing() as (root, files):
            if is_new := not os.path.lexists(path):
                self._put(skill.name, encode_texts(skill.files), root)
            else:
                _check_directory(files, skill.name)
                if _text_files(files, skill.name) == skill.files:
                    return WriteResult(path, is_new=False, is_changed=False)
                if not replace:
                    raise name_taken(skill.name)
                self._put(skill.name, encode_texts(skill.files) | _binary_files(files, skill.name), root)
        return WriteResult(path, is_new=is_new, is_changed=True)

    def put(self, name: str, data: Mapping[str, bytes], *, replace: bool) -> WriteResult:
        """Write all files atomically. No file of a replaced skill is kept."""
        path = self.path(name)
        check_files(name, data)
        with self._writing() as (root, files):
            is_new = not os.path.lexists(path)
            if not is_new:
                _check_directory(files, name)
                if _has_same_files(files, name, data):
                    return WriteResult(path, is_new=False, is_changed=False)
                if not replace:
                    raise name_taken(name)
            self._put(name, data, root)
        return WriteResult(path, is_new=is_new, is_changed=True)

    def save(self, name: str, texts: Mapping[str, str], base_hash: str) -> WriteResult:
        """Replace the text files of the folder with this hash. Binary files are kept."""
        path = self.path(name)
        check_texts(name, texts)
        with self._writing() as (root, files):
            if not os.path.lexists(path):
                raise not_found(name)
            _check_directory(files, name)
            old = read_all(files, name)
            check_unchanged(name, old, base_hash)
            new = encode_texts(texts) | {each: data for each, data in old.items() if text_of(data) is None}
            if new == old:
                return WriteResult(path, is_new=False, is_changed=False)
            check_files(name, new)
            self._put(name, new, root)
        return WriteResult(path, is_new=False, is_changed=True)

    def remove(self, name: str) -> None:
        checked_name(name)
        with self._writing() as (root, _):
            try:
                gone = _move_away(name, root)
            except FileNotFoundError as error:
                raise not_found(name) from error
            os.fsync(root)
            _remove(gone, root)

    def _read_manifest(self, files: Files | None, name: str) -> ManifestFile | ForgeError | None:
        try:
            if not os.path.lexists(self.path(name)) or files is None:
                return None
            text = _manifest_text(files, name)
            return ManifestFile(text, [path for path in paths(files, name) if path != SKILL_MD])
        except ForgeError as error:
            return error

    def _put(self, name: str, data: Mapping[str, bytes], root: int) -> None:
        """Replace the folder with exactly these files; executable files stay executable."""
        try:
            self._replace(name, data, root)
        except BaseException:
            _clean_up(root)
            raise

    def _replace(self, name: str, data: Mapping[str, bytes], root: int) -> None:
        new = _NEW + name
        os.mkdir(new, 0o700, dir_fd=root)
        _fill(self.root / new, data)
        if _exists(name, root):
            self._copy_modes(name, new, data)
            os.rename(name, _OLD + name, src_dir_fd=root, dst_dir_fd=root)
        try:
            os.rename(new, name, src_dir_fd=root, dst_dir_fd=root)
        except OSError as error:
            if os.path.lexists(self.root / name):
                raise name_taken(name) from error
            raise
        os.fsync(root)
        _clean_up(root)

    def _copy_modes(self, old: str, new: str, data: Iterable[str]) -> None:
        for path in data:
            with suppress(FileNotFoundError, NotADirectoryError):
                status = (self.root / old / path).lstat()
                if stat.S_ISREG(status.st_mode) and status.st_mode & 0o111:
                    (self.root / new / path).chmod(status.st_mode & 0o777)

    @contextmanager
    def _reading(self) -> Generator[Files | None]:
        """Yield None if there is no library yet."""
        if not self.root.exists():
            yield None
            return
        with self._locked(fcntl.LOCK_SH) as root:
            if next(_leftovers(root), None):
                fcntl.flock(root, fcntl.LOCK_EX)
                _clean_up(root)
            with Files(self.root) as files:
                yield files

    @contextmanager
    def _writing(self) -> Generator[tuple[int, Files]]:
        with _translate_errors(self.root):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked(fcntl.LOCK_EX) as root:
            _clean_up(root)
            with Files(self.root, private=True) as files:
                yield root, files

    @contextmanager
    def _locked(self, how: int) -> Generator[int]:
        with _translate_errors(self.root):
            root = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(root, how)
                yield root
            finally:
                os.close(root)


def checked_name(name: str) -> str:
    if not is_skill_name(name):
        raise Invalid(
            f"{name[:MAX_SKILL_NAME]!r} is not a valid skill name.",
            hint="Use lower-case letters, digits and single hyphens, such as release-notes.",
            field="name",
        )
    return name


def not_found(name: str) -> NotFound:
    return NotFound(f"There is no skill called {name} in the library.", hint="List them: forge skill list")


def name_taken(name: str) -> Conflict:
    return Conflict(
        f"There is a skill called {name} already.",
        hint="Choose another name, or change the one that is there.",
        field="name",
    )


def check_unchanged(name: str, files: Mapping[str, bytes], base_hash: str) -> None:
    """Raise Conflict unless the files have this hash."""
    found = hash_files(files)
    if found != base_hash:
        raise Conflict(
            f"The skill {name} changed since you loaded it.",
            hint="Load it again and repeat the change.",
            detail={"folder_hash": found},
        )


def _check_directory(files: Files, name: str) -> None:
    if files.stat(name).kind is not EntryKind.DIR:
        raise Conflict(f"{name!r} in the library is not a folder.", hint="Move it elsewhere.")


def _manifest_text(files: Files, name: str) -> str:
    try:
        content = files.read(f"{name}/{SKILL_MD}", limit=MAX_SKILL_BYTES + 1)
    except NoSuchPath as error:
        raise not_found(name) from error
    return manifest_text(content.data)


def _text_files(files: Files, name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    total = 0
    for path in paths(files, name):
        content = files.read(f"{name}/{path}", limit=MAX_FILE_BYTES, follow=False)
        text = text_of(content.data) if content.hash else None
        if text is not None:
            found[path] = text
            total += content.size
        if total > MAX_BYTES:
            raise TooLarge(f"The skill {name} has more than {MAX_BYTES // 1_000_000} MB of text.")
    return found


def _binary_files(files: Files, name: str) -> dict[str, bytes]:
    return {path: data for path, data in read_all(files, name).items() if text_of(data) is None}


def _has_same_files(files: Files, name: str, data: Mapping[str, bytes]) -> bool:
    """Compare the folder with the data; one that is too large to read differs."""
    try:
        return read_all(files, name) == data
    except TooLarge:
        return False


def _fill(folder: Path, data: Mapping[str, bytes]) -> None:
    """Write the files into a folder that no reader knows yet, and sync them. Their paths are checked before."""
    for path, content in data.items():
        file = folder / path
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as target:
            target.write(content)
            target.flush()
            os.fsync(descriptor)
    for inner in {
        folder,
        *(parent for path in data for parent in (folder / path).parents if folder in parent.parents),
    }:
        _sync(inner)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _leftovers(root: int) -> Iterator[str]:
    with os.scandir(root) as found:
        yield from (item.name for item in found if item.name.startswith((_NEW, _OLD, _GONE)))


def _clean_up(root: int) -> None:
    """Remove what a killed writer left, and restore a skill whose replacement was not renamed. Needs the write lock."""
    for name in list(_leftovers(root)):
        own = name.removeprefix(_OLD)
        if own != name and not _exists(own, root):
            os.rename(name, own, src_dir_fd=root, dst_dir_fd=root)
            os.fsync(root)
        else:
            _remove(name if name.startswith(_GONE) else _move_away(name, root), root)


def _move_away(name: str, root: int) -> str:
    """Rename to a unique name, so that a failed removal blocks no skill name."""
    gone = _GONE + secrets.token_hex(8)
    os.rename(name, gone, src_dir_fd=root, dst_dir_fd=root)
    return gone


def _exists(name: str, root: int) -> bool:
    return _mode(name, root) is not None


def _mode(name: str, root: int) -> int | None:
    try:
        return os.stat(name, dir_fd=root, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


def _remove(name: str, root: int) -> None:
    """Remove a directory with its contents, or a link itself. Readers ignore it, so a failed removal does no harm."""
    mode = _mode(name, root)
    if mode is not None and stat.S_ISDIR(mode):
        try_remove_tree(Path(name), f"what is left of a skill ({name})", above=root)
    elif mode is not None:
        os.unlink(name, dir_fd=root)


@contextmanager
def _translate_errors(root: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise explain(error, root.name) from error
