"""The folders of bots on disk: the only door to the four files.

A folder belongs to people as much as to Forge, so nothing in it is believed: a link, a pipe or a file of ten
megabytes is refused by name, and nothing is written unless the file is still what the writer has seen.
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
from forge.bots.files.parsed import in_file
from forge.bots.models import MAX_SLUG, SLUG_PATTERN, BotFile, FileProblem
from forge.bots.versions.models import MAX_CONTENT
from forge.documents.text import unusable_text
from forge.errors import Conflict, Invalid, NotFound
from forge.workspace.errors import Changed, NoSuchPath, NotAFile, PathRefused
from forge.workspace.files import Files
from forge.workspace.quota import Quota

MAX_BYTES = 4 * MAX_CONTENT
"""No text with as many characters as a file may have takes more."""
ABANDONED_S = 3600.0
"""So old, what was to become a folder is what a killed process has left."""

_TRASH = ".trash"
_NEW = ".new-"
_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Unreadable(Invalid):
    """What has the name of a file of a bot is not a text that can be used."""

    def __init__(self, problem: FileProblem) -> None:
        super().__init__(problem.message, hint=problem.hint, field=problem.file.file_name)
        self.problem = problem


class Folders:
    """All methods block."""

    def __init__(self, data_dir: Path) -> None:
        self.root = data_dir / "bots"
        self._opening = Lock()
        self._open: tuple[tuple[int, int], Files] | None = None

    def path(self, slug: str) -> Path:
        return self.root / _checked(slug)

    def create(self, slug: str, contents: Mapping[BotFile, str]) -> None:
        """All of it or nothing: it is made under another name, and gets its own when it is complete."""
        _checked(slug)
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
        """None when it is not there. Raises Unreadable."""
        try:
            found = self._files().read(_place(slug, file), limit=MAX_BYTES, follow=False)
        except NoSuchPath:
            return None
        except (NotAFile, PathRefused) as error:
            raise _unreadable(file, error.message, error.hint or "Put a text file in its place.") from error
        if found.hash is None:
            raise _too_long(file)
        try:
            text = found.data.decode()
        except UnicodeDecodeError as error:
            line = found.data.count(b"\n", 0, error.start) + 1
            raise _unreadable(file, "This is not UTF-8.", "Save the file as UTF-8.", line) from error
        return _usable(file, text)

    def write(self, slug: str, file: BotFile, text: str, *, expect: str | None) -> None:
        """`expect`: the hash of what is on disk, None when nothing is. Raises FileChanged."""
        try:
            self._files().write(_place(slug, file), _encoded(file, text), expect=expect or "")
        except Changed as error:
            hint = "Look at it again, then decide."
            raise FileChanged(f"{file.file_name} is not the file that was edited.", hint=hint) from error
        except (NotAFile, PathRefused) as error:
            raise _unreadable(file, error.message, error.hint or "Put a text file in its place.") from error

    def set_aside(self, slug: str, file: BotFile) -> None:
        """Whatever has the name of this file gets another one beside it."""
        aside = f"{file.file_name}.{secrets.token_hex(4)}.aside"
        with (
            self._directory() as root,
            suppress(FileNotFoundError),
            _opened(_checked(slug), root) as folder,
        ):
            os.rename(file.file_name, aside, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)

    def to_trash(self, slug: str, bot_id: str) -> None:
        """Nothing happens when there is no folder."""
        _checked(slug)
        with self._directory() as root, _trash(root) as trash:
            names = _in_trash(trash, _checked_id(bot_id))
            with suppress(FileNotFoundError):
                _move(slug, _after(names, bot_id), source=root, target=trash)

    def from_trash(self, bot_id: str, slug: str) -> None:
        """What was thrown away last."""
        _checked(slug)
        with self._directory() as root, _trash(root) as trash:
            names = _in_trash(trash, _checked_id(bot_id))
            if not names:
                raise NotFound("The files of this bot are gone.")
            _move(names[-1], slug, source=trash, target=root)

    def discard(self, bot_id: str) -> None:
        """For good."""
        with self._directory() as root, _trash(root) as trash:
            for name in _in_trash(trash, _checked_id(bot_id)):
                _remove(name, trash)

    def _files(self) -> Files:
        """Kept open; opened anew when somebody has put another directory in the place of all folders."""
        with self._opening:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = self.root.stat()
            now = (status.st_dev, status.st_ino)
            if self._open is None or self._open[0] != now:
                self._open = now, Files(self.root, quota=Quota(file_bytes=MAX_BYTES), private=True)
            return self._open[1]

    @contextmanager
    def _directory(self) -> Generator[int]:
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _checked(slug: str) -> str:
    if len(slug) > MAX_SLUG or not re.fullmatch(SLUG_PATTERN.strip("^$"), slug):
        raise Invalid(f"{slug[:MAX_SLUG]!r} is not the slug of a bot.", field="slug")
    return slug


def _checked_id(bot_id: str) -> str:
    if not _ID.fullmatch(bot_id):
        raise Invalid(f"{bot_id[:MAX_SLUG]!r} is not the id of a bot.")
    return bot_id


def _place(slug: str, file: BotFile) -> str:
    return f"{_checked(slug)}/{file.file_name}"


def _encoded(file: BotFile, text: str) -> bytes:
    return _usable(file, text).encode()


def _usable(file: BotFile, text: str) -> str:
    if len(text) > MAX_CONTENT:
        raise _too_long(file)
    if problem := unusable_text(text):
        raise Unreadable(in_file(file, problem))
    return text


def _too_long(file: BotFile) -> Unreadable:
    return _unreadable(file, f"The file is longer than {MAX_CONTENT:,} characters.", "Make it shorter.")


def _unreadable(file: BotFile, message: str, hint: str, line: int | None = None) -> Unreadable:
    return Unreadable(FileProblem(file=file, line=line, message=message, hint=hint))


@contextmanager
def _opened(name: str, directory: int) -> Generator[int]:
    """A directory, never a link to one."""
    try:
        descriptor = os.open(name, _DIRECTORY, dir_fd=directory)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Conflict(
            f"{name!r} in the folder of all bots is no directory.", hint="Move it away."
        ) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _trash(root: int) -> Generator[int]:
    with suppress(FileExistsError):
        os.mkdir(_TRASH, 0o700, dir_fd=root)
    with _opened(_TRASH, root) as trash:
        yield trash


def _in_trash(trash: int, bot_id: str) -> list[str]:
    """What was thrown away under this id, the latest last: `id`, `id.2`, `id.3`."""
    with os.scandir(trash) as found:
        numbers = {item.name: _number(item.name, bot_id) for item in found}
    return sorted((name for name, number in numbers.items() if number), key=lambda name: numbers[name])


def _number(name: str, bot_id: str) -> int:
    """0 when it is not one of this id."""
    rest = name.removeprefix(bot_id)
    if name == bot_id:
        return 1
    return int(rest[1:]) if rest != name and re.fullmatch(r"\.[1-9][0-9]{0,8}", rest) else 0


def _after(names: list[str], bot_id: str) -> str:
    return f"{bot_id}.{_number(names[-1], bot_id) + 1}" if names else bot_id


def _move(name: str, to: str, *, source: int, target: int) -> None:
    taken = Conflict(f"There is a {to!r} already.", hint="Move it away, then try again.")
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
    """A directory with all that is in it; of a link only the link."""
    with suppress(FileNotFoundError):
        try:
            os.unlink(name, dir_fd=directory)
        except (IsADirectoryError, PermissionError):  # macOS says the latter
            shutil.rmtree(name, dir_fd=directory)


def _remove_abandoned(root: int) -> None:
    with os.scandir(root) as found:
        names = [item.name for item in found if item.name.startswith(_NEW)]
    for name in names:
        with suppress(FileNotFoundError):
            if time.time() - os.stat(name, dir_fd=root, follow_symlinks=False).st_mtime > ABANDONED_S:
                _remove(name, root)
