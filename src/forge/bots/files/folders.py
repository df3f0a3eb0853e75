"""Read and write the folders of bots on disk. All access to the four files goes through this module.

People edit these folders too, so their contents are not trusted: links, pipes and oversized files are rejected, and a
file is written only if it still has the content the writer has seen.
"""

import os
import re
import secrets
import shutil
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from forge.bots.errors import FileChanged
from forge.bots.files.parsed import to_file_problem
from forge.bots.models import MAX_CONTENT, MAX_SLUG, SLUG_PATTERN, BotFile, FileProblem
from forge.documents.problems import find_unusable_text
from forge.errors import Conflict, Invalid, NotFound
from forge.workspace.filesystem.errors import Changed, NoSuchPath, NotAFile, PathRefused
from forge.workspace.filesystem.files import Files
from forge.workspace.filesystem.quota import Quota

MAX_BYTES = 4 * MAX_CONTENT
"""UTF-8 uses at most four bytes per character."""
MAX_TEMPORARY_AGE_S = 3600.0
"""Older temporary folders were left by a killed process and are removed."""

_TRASH = ".trash"
_NEW = ".new-"
_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Unreadable(Invalid):
    """A file of a bot exists but is not a usable text file."""

    def __init__(self, problem: FileProblem) -> None:
        super().__init__(problem.message, hint=problem.hint, field=problem.file.file_name)
        self.problem = problem


class BotFolders:
    """Blocking access to the folders of all bots."""

    def __init__(self, data_dir: Path) -> None:
        self.root = data_dir / "bots"
        self._opening = Lock()
        self._open: tuple[tuple[int, int], Files] | None = None

    def path(self, slug: str) -> Path:
        return self.root / _check_slug(slug)

    def create(self, slug: str, contents: Mapping[BotFile, str]) -> None:
        """Create a folder atomically: it is written under a temporary name and renamed when complete."""
        _check_slug(slug)
        temporary = f"{_NEW}{secrets.token_hex(8)}"
        with self._directory() as root:
            _remove_abandoned(root)
            try:
                for file, text in contents.items():
                    self._files().write(f"{temporary}/{file.file_name}", _encoded(file, text), expect="")
                _move(temporary, slug, source=root, target=root)
            except BaseException:
                _remove(temporary, root)
                raise

    def read(self, slug: str, file: BotFile) -> str | None:
        """Return the text of a file; None if it does not exist. Raises Unreadable."""
        try:
            found = self._files().read(_file_path(slug, file), limit=MAX_BYTES, follow=False)
        except NoSuchPath:
            return None
        except (NotAFile, PathRefused) as error:
            raise _unreadable(file, error.message, error.hint or "Replace it with a text file.") from error
        if found.hash is None:
            raise _too_long(file)
        try:
            text = found.data.decode()
        except UnicodeDecodeError as error:
            line = found.data.count(b"\n", 0, error.start) + 1
            raise _unreadable(
                file, "The file is not valid UTF-8.", "Save the file as UTF-8.", line
            ) from error
        return _check_text(file, text)

    def write(self, slug: str, file: BotFile, text: str, *, expect: str | None) -> None:
        """Write a file if its hash is still `expect` (None: it must not exist). Raises FileChanged."""
        try:
            self._files().write(_file_path(slug, file), _encoded(file, text), expect=expect or "")
        except Changed as error:
            hint = "Read the file again and retry."
            raise FileChanged(f"{file.file_name} changed since it was read.", hint=hint) from error
        except (NotAFile, PathRefused) as error:
            raise _unreadable(file, error.message, error.hint or "Replace it with a text file.") from error

    def set_aside(self, slug: str, file: BotFile) -> None:
        """Rename the file, directory or link at this path, so that a new file can be written."""
        aside = f"{file.file_name}.{secrets.token_hex(4)}.aside"
        with (
            self._directory() as root,
            suppress(FileNotFoundError),
            _open_directory(_check_slug(slug), root) as folder,
        ):
            os.rename(file.file_name, aside, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)

    def move_to_trash(self, slug: str, bot_id: str) -> None:
        """Move a folder to the trash; does nothing if it does not exist."""
        _check_slug(slug)
        with self._directory() as root, _trash(root) as trash:
            names = _in_trash(trash, _check_id(bot_id))
            with suppress(FileNotFoundError):
                _move(slug, _next_trash_name(names, bot_id), source=root, target=trash)

    def restore_from_trash(self, bot_id: str, slug: str) -> None:
        """Restore the folder that was moved to the trash last."""
        _check_slug(slug)
        with self._directory() as root, _trash(root) as trash:
            names = _in_trash(trash, _check_id(bot_id))
            if not names:
                raise NotFound("The files of this bot are missing from the trash.")
            _move(names[-1], slug, source=trash, target=root)

    def delete_from_trash(self, bot_id: str) -> None:
        """Delete the folders of a bot in the trash permanently."""
        with self._directory() as root, _trash(root) as trash:
            for name in _in_trash(trash, _check_id(bot_id)):
                _remove(name, trash)

    def _files(self) -> Files:
        """Return the open root directory; reopen it if it was replaced by another directory."""
        with self._opening:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = self.root.stat()
            identity = (status.st_dev, status.st_ino)
            if self._open is None or self._open[0] != identity:
                self._open = identity, Files(self.root, quota=Quota(file_bytes=MAX_BYTES), private=True)
            return self._open[1]

    @contextmanager
    def _directory(self) -> Generator[int]:
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _check_slug(slug: str) -> str:
    if len(slug) > MAX_SLUG or not re.fullmatch(SLUG_PATTERN.strip("^$"), slug):
        raise Invalid(f"{slug[:MAX_SLUG]!r} is not the slug of a bot.", field="slug")
    return slug


def _check_id(bot_id: str) -> str:
    if not _ID.fullmatch(bot_id):
        raise Invalid(f"{bot_id[:MAX_SLUG]!r} is not the id of a bot.")
    return bot_id


def _file_path(slug: str, file: BotFile) -> str:
    return f"{_check_slug(slug)}/{file.file_name}"


def _encoded(file: BotFile, text: str) -> bytes:
    return _check_text(file, text).encode()


def _check_text(file: BotFile, text: str) -> str:
    if len(text) > MAX_CONTENT:
        raise _too_long(file)
    if problem := find_unusable_text(text):
        raise Unreadable(to_file_problem(file, problem))
    return text


def _too_long(file: BotFile) -> Unreadable:
    return _unreadable(file, f"The file is longer than {MAX_CONTENT:,} characters.", "Make it shorter.")


def _unreadable(file: BotFile, message: str, hint: str, line: int | None = None) -> Unreadable:
    return Unreadable(FileProblem(file=file, line=line, message=message, hint=hint))


@contextmanager
def _open_directory(name: str, directory: int) -> Generator[int]:
    """Open a directory without following links."""
    try:
        descriptor = os.open(name, _DIRECTORY, dir_fd=directory)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Conflict(
            f"{name!r} in the bots directory is not a directory.", hint="Move it elsewhere."
        ) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _trash(root: int) -> Generator[int]:
    with suppress(FileExistsError):
        os.mkdir(_TRASH, 0o700, dir_fd=root)
    with _open_directory(_TRASH, root) as trash:
        yield trash


def _in_trash(trash: int, bot_id: str) -> list[str]:
    """Return the names in the trash for an id, latest last: `id`, `id.2`, `id.3`."""
    with os.scandir(trash) as found:
        numbers = {item.name: _trash_number(item.name, bot_id) for item in found}
    return sorted((name for name, number in numbers.items() if number), key=lambda name: numbers[name])


def _trash_number(name: str, bot_id: str) -> int:
    """Return the number in a trash name; 0 if the name belongs to another id."""
    rest = name.removeprefix(bot_id)
    if name == bot_id:
        return 1
    return int(rest[1:]) if rest != name and re.fullmatch(r"\.[1-9][0-9]{0,8}", rest) else 0


def _next_trash_name(names: list[str], bot_id: str) -> str:
    return f"{bot_id}.{_trash_number(names[-1], bot_id) + 1}" if names else bot_id


def _move(name: str, to: str, *, source: int, target: int) -> None:
    taken = Conflict(f"{to!r} already exists.", hint="Move it elsewhere, then try again.")
    if _exists(to, target):
        raise taken
    try:
        os.rename(name, to, src_dir_fd=source, dst_dir_fd=target)
    except FileNotFoundError:
        raise
    except OSError as error:
        if _exists(to, target):
            raise taken from error
        raise
    os.fsync(target)
    os.fsync(source)


def _exists(name: str, directory: int) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _remove(name: str, directory: int) -> None:
    """Remove a directory with its contents, or a link but not its target."""
    with suppress(FileNotFoundError):
        try:
            os.unlink(name, dir_fd=directory)
        except (IsADirectoryError, PermissionError):  # macOS raises PermissionError
            shutil.rmtree(name, dir_fd=directory)


def _remove_abandoned(root: int) -> None:
    with os.scandir(root) as found:
        names = [item.name for item in found if item.name.startswith(_NEW)]
    for name in names:
        with suppress(FileNotFoundError):
            if time.time() - os.stat(name, dir_fd=root, follow_symlinks=False).st_mtime > MAX_TEMPORARY_AGE_S:
                _remove(name, root)
