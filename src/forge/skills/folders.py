"""The folders of skills on disk: `<root>/<name>/SKILL.md`, and whatever else belongs to a skill.

People put folders there too, so nothing in it is believed. A skill is written under another name and gets its own when
it is whole. Who reads or writes holds a lock on the folder of all skills: no reader meets half of a change, and what a
killed writer has left is put right by whoever comes next.
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
from forge.kernel.removing import clear_away
from forge.skills.contents import (
    MAX_BYTES,
    MAX_FILE_BYTES,
    MAX_SKILL_BYTES,
    Snapshot,
    check_files,
    check_texts,
    encoded,
    hash_of,
    manifest_text,
    text_of,
)
from forge.skills.models import MAX_SKILL_NAME, SKILL_MD, SkillFiles, is_skill_name
from forge.skills.snapshots import Snapshots, paths, read_all
from forge.workspace.entries import EntryKind
from forge.workspace.errors import NoSuchPath, explain
from forge.workspace.files import Files

_NEW, _OLD, _GONE = ".new-", ".old-", ".gone-"


@dataclass(frozen=True)
class Kept:
    """What became of a skill that was to be written."""

    path: Path
    is_new: bool
    """There was none of this name in the library."""
    is_changed: bool
    """False when it was there already, just so."""


@dataclass(frozen=True)
class Seen:
    text: str
    """Of SKILL.md, as it is."""
    files: list[str]
    """All others, sorted."""


class SkillFolders:
    """All methods block."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._snapshots = Snapshots()

    def path(self, name: str) -> Path:
        return self.root / checked_name(name)

    def names(self) -> list[str]:
        """Of all folders that are named like a skill, sorted."""
        with self._reading() as files:
            found = files.list() if files else []
            return [
                entry.name for entry in found if entry.kind is EntryKind.DIR and is_skill_name(entry.name)
            ]

    def has(self, name: str) -> bool:
        """Anything of this name."""
        with self._reading():
            return is_skill_name(name) and os.path.lexists(self.root / name)

    def look(self, names: Iterable[str]) -> dict[str, Seen | ForgeError | None]:
        """Each of these, or why it cannot be read; None when there is nothing of the name."""
        with self._reading() as files:
            return {name: self._look(files, name) for name in names}

    def read(self, name: str) -> SkillFiles:
        """All of its files that are text. Raises NotFound, Invalid or TooLarge."""
        checked_name(name)
        with self._reading() as files:
            if files is None:
                raise missing(name)
            _manifest_text(files, name)
            return SkillFiles(name=name, files=_texts(files, name))

    def snapshot(self, name: str) -> Snapshot:
        """All of its files, whether they make a skill or not. Raises NotFound or TooLarge."""
        checked_name(name)
        with self._reading() as files:
            if files is None or not os.path.lexists(self.root / name):
                raise missing(name)
            _check_directory(files, name)
            return self._snapshots.take(files, name)

    def write(self, skill: SkillFiles, *, replace: bool) -> Kept:
        """All of it or nothing. Files of a replaced one that are no text stay."""
        check_texts(skill.name, skill.files)
        path = self.path(skill.name)
        with self._writing() as (root, files):
            if is_new := not os.path.lexists(path):
                self._put(skill.name, encoded(skill.files), root)
            else:
                _check_directory(files, skill.name)
                if _texts(files, skill.name) == skill.files:
                    return Kept(path, is_new=False, is_changed=False)
                if not replace:
                    raise taken(skill.name)
                self._put(skill.name, encoded(skill.files) | _no_texts(files, skill.name), root)
        return Kept(path, is_new=is_new, is_changed=True)

    def put(self, name: str, data: Mapping[str, bytes], *, replace: bool) -> Kept:
        """All of it or nothing. Of a replaced one nothing stays."""
        path = self.path(name)
        check_files(name, data)
        with self._writing() as (root, files):
            is_new = not os.path.lexists(path)
            if not is_new:
                _check_directory(files, name)
                if _holds(files, name, data):
                    return Kept(path, is_new=False, is_changed=False)
                if not replace:
                    raise taken(name)
            self._put(name, data, root)
        return Kept(path, is_new=is_new, is_changed=True)

    def save(self, name: str, texts: Mapping[str, str], base_hash: str) -> Kept:
        """Text files as they are to be, made from the folder of this hash. Files that are no text stay."""
        path = self.path(name)
        check_texts(name, texts)
        with self._writing() as (root, files):
            if not os.path.lexists(path):
                raise missing(name)
            _check_directory(files, name)
            old = read_all(files, name)
            check_base(name, old, base_hash)
            new = encoded(texts) | {each: data for each, data in old.items() if text_of(data) is None}
            if new == old:
                return Kept(path, is_new=False, is_changed=False)
            check_files(name, new)
            self._put(name, new, root)
        return Kept(path, is_new=False, is_changed=True)

    def remove(self, name: str) -> None:
        checked_name(name)
        with self._writing() as (root, _):
            try:
                gone = _set_aside(name, root)
            except FileNotFoundError as error:
                raise missing(name) from error
            os.fsync(root)
            _remove(gone, root)

    def _look(self, files: Files | None, name: str) -> Seen | ForgeError | None:
        try:
            if not os.path.lexists(self.path(name)) or files is None:
                return None
            text = _manifest_text(files, name)
            return Seen(text, [path for path in paths(files, name) if path != SKILL_MD])
        except ForgeError as error:
            return error

    def _put(self, name: str, data: Mapping[str, bytes], root: int) -> None:
        """These files and no others; what could be executed still can be."""
        try:
            self._exchange(name, data, root)
        except BaseException:
            _put_right(root)
            raise

    def _exchange(self, name: str, data: Mapping[str, bytes], root: int) -> None:
        new = _NEW + name
        os.mkdir(new, 0o700, dir_fd=root)
        _fill(self.root / new, data)
        if _exists(name, root):
            self._keep_modes(name, new, data)
            os.rename(name, _OLD + name, src_dir_fd=root, dst_dir_fd=root)
        try:
            os.rename(new, name, src_dir_fd=root, dst_dir_fd=root)
        except OSError as error:
            if os.path.lexists(self.root / name):
                raise taken(name) from error
            raise
        os.fsync(root)
        _put_right(root)

    def _keep_modes(self, old: str, new: str, data: Iterable[str]) -> None:
        for path in data:
            with suppress(FileNotFoundError, NotADirectoryError):
                status = (self.root / old / path).lstat()
                if stat.S_ISREG(status.st_mode) and status.st_mode & 0o111:
                    (self.root / new / path).chmod(status.st_mode & 0o777)

    @contextmanager
    def _reading(self) -> Generator[Files | None]:
        """None when there is no library yet."""
        if not self.root.exists():
            yield None
            return
        with self._locked(fcntl.LOCK_SH) as root:
            if next(_leftovers(root), None):
                fcntl.flock(root, fcntl.LOCK_EX)
                _put_right(root)
            with Files(self.root) as files:
                yield files

    @contextmanager
    def _writing(self) -> Generator[tuple[int, Files]]:
        with _explained(self.root):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked(fcntl.LOCK_EX) as root:
            _put_right(root)
            with Files(self.root, private=True) as files:
                yield root, files

    @contextmanager
    def _locked(self, how: int) -> Generator[int]:
        with _explained(self.root):
            root = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(root, how)
                yield root
            finally:
                os.close(root)


def checked_name(name: str) -> str:
    if not is_skill_name(name):
        raise Invalid(
            f"{name[:MAX_SKILL_NAME]!r} is not the name of a skill.",
            hint="Use lower-case letters, digits and single hyphens, such as release-notes.",
            field="name",
        )
    return name


def missing(name: str) -> NotFound:
    return NotFound(f"There is no skill called {name} in the library.", hint="List them: forge skill list")


def taken(name: str) -> Conflict:
    return Conflict(
        f"There is a skill called {name} already.",
        hint="Choose another name, or change the one that is there.",
        field="name",
    )


def check_base(name: str, files: Mapping[str, bytes], base_hash: str) -> None:
    """Whether these are what somebody has looked at."""
    found = hash_of(files)
    if found != base_hash:
        raise Conflict(
            f"The skill {name} has been changed meanwhile.",
            hint="Load it again, then make the change once more.",
            detail={"folder_hash": found},
        )


def _check_directory(files: Files, name: str) -> None:
    if files.stat(name).kind is not EntryKind.DIR:
        raise Conflict(f"{name!r} in the library is no folder.", hint="Move it away.")


def _manifest_text(files: Files, name: str) -> str:
    try:
        content = files.read(f"{name}/{SKILL_MD}", limit=MAX_SKILL_BYTES + 1)
    except NoSuchPath as error:
        raise missing(name) from error
    return manifest_text(content.data)


def _texts(files: Files, name: str) -> dict[str, str]:
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


def _no_texts(files: Files, name: str) -> dict[str, bytes]:
    return {path: data for path, data in read_all(files, name).items() if text_of(data) is None}


def _holds(files: Files, name: str, data: Mapping[str, bytes]) -> bool:
    """A folder that cannot be read as a skill is another."""
    try:
        return read_all(files, name) == data
    except TooLarge:
        return False


def _fill(folder: Path, data: Mapping[str, bytes]) -> None:
    """A folder nobody else knows yet, with files whose paths are checked. All of it is on disk afterwards."""
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


def _put_right(root: int) -> None:
    """Nobody else is writing: what is there under another name was left by somebody who was killed, or is done with.
    A skill whose successor did not get its name comes back."""
    for name in list(_leftovers(root)):
        own = name.removeprefix(_OLD)
        if own != name and not _exists(own, root):
            os.rename(name, own, src_dir_fd=root, dst_dir_fd=root)
            os.fsync(root)
        else:
            _remove(name if name.startswith(_GONE) else _set_aside(name, root), root)


def _set_aside(name: str, root: int) -> str:
    """Under a name that nobody needs again, should it stay there."""
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
    """A directory with all that is in it; of a link only the link. No reader looks at it any more, so one that cannot
    be removed is in nobody's way."""
    mode = _mode(name, root)
    if mode is not None and stat.S_ISDIR(mode):
        clear_away(Path(name), f"what is left of a skill ({name})", above=root)
    elif mode is not None:
        os.unlink(name, dir_fd=root)


@contextmanager
def _explained(root: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise explain(error, root.name) from error
