"""Bot folders, and hostile content in them."""

import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from forge.bots.errors import FileChanged
from forge.bots.files.folders import BotFolders, Unreadable
from forge.bots.models import BotFile
from forge.errors import Conflict, Invalid, NotFound
from forge.kernel.hashing import hash_text

ID = "0197a1b2-0000-7000-8000-00000000000a"
CONTENTS: Mapping[BotFile, str] = {
    BotFile.SOUL: "soul 😀\r\n",
    BotFile.IDENTITY: "\ufeffidentity",
    BotFile.USER: "",
    BotFile.SKILLS: "skills\n",
}


@pytest.fixture
def folders(tmp_path: Path) -> BotFolders:
    return BotFolders(tmp_path / "data")


@pytest.fixture
def ada(folders: BotFolders) -> Path:
    folders.create("ada", CONTENTS)
    return folders.path("ada")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    secret = tmp_path / "outside" / "SOUL.md"
    secret.write_text("the secret that lies outside")
    return secret


def tree(root: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None for path in root.rglob("*")
    }


def read_all(folders: BotFolders, slug: str) -> dict[BotFile, str | None]:
    return {file: folders.read(slug, file) for file in BotFile}


def test_created_folder_contains_files(folders: BotFolders, ada: Path):
    assert read_all(folders, "ada") == CONTENTS
    assert ada == folders.root / "ada"
    assert sorted(path.name for path in ada.iterdir()) == ["IDENTITY.md", "SOUL.md", "USER.md", "skills.toml"]
    assert [path.name for path in folders.root.iterdir()] == ["ada"]


def test_folder_is_private(folders: BotFolders, ada: Path):
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (folders.root, ada, *ada.iterdir())}
    assert set(modes.values()) == {0o700, 0o600}
    assert modes[ada] == modes[folders.root] == 0o700


def test_save_keeps_file_mode(folders: BotFolders, ada: Path):
    (ada / "SOUL.md").chmod(0o640)
    folders.write("ada", BotFile.SOUL, "new", expect=hash_text("soul 😀\r\n"))
    assert stat.S_IMODE((ada / "SOUL.md").stat().st_mode) == 0o640


def test_missing_file_is_none(folders: BotFolders, ada: Path):
    (ada / "USER.md").unlink()
    assert folders.read("ada", BotFile.USER) is None
    assert folders.read("eve", BotFile.SOUL) is None


@pytest.mark.parametrize("kind", ["folder", "empty folder", "file", "link", "broken link"])
def test_existing_folder_is_not_overwritten(folders: BotFolders, ada: Path, secret: Path, kind: str):
    eve = folders.path("eve")
    match kind:
        case "folder":
            eve.mkdir()
            (eve / "SOUL.md").write_text("mine")
        case "empty folder":
            eve.mkdir()
        case "file":
            eve.write_text("mine")
        case _:
            eve.symlink_to(secret.parent if kind == "link" else "nowhere")
    before = tree(folders.root)
    with pytest.raises(Conflict):
        folders.create("eve", CONTENTS)
    assert tree(folders.root) == before
    assert secret.read_text() == "the secret that lies outside"


def test_unusable_text_leaves_no_folder(folders: BotFolders, ada: Path):
    before = tree(folders.root)
    for text in ("a\x00b", "\ud800", "x" * 200_001):
        with pytest.raises(Unreadable):
            folders.create("eve", {**CONTENTS, BotFile.SKILLS: text})
        with pytest.raises(Unreadable):
            folders.write("ada", BotFile.SOUL, text, expect=hash_text("soul 😀\r\n"))
    assert tree(folders.root) == before


SLUGS = [
    "",
    ".",
    "..",
    "../ada",
    "ada/../eve",
    "/etc",
    ".trash",
    ".new-1",
    "Ada",
    "a b",
    "a--b",
    "-a",
    "a\n",
    "ä",
    "a" * 65,
    "a\x00",
]


@pytest.mark.parametrize("slug", SLUGS)
def test_invalid_slug_is_rejected_as_folder(folders: BotFolders, ada: Path, slug: str):
    before = tree(folders.root.parent.parent)
    for attempt in (
        lambda: folders.path(slug),
        lambda: folders.create(slug, CONTENTS),
        lambda: folders.read(slug, BotFile.SOUL),
        lambda: folders.write(slug, BotFile.SOUL, "x", expect=None),
        lambda: folders.set_aside(slug, BotFile.SOUL),
        lambda: folders.move_to_trash(slug, ID),
        lambda: folders.restore_from_trash(ID, slug),
    ):
        with pytest.raises(Invalid, match="slug"):
            attempt()
    assert tree(folders.root.parent.parent) == before


@pytest.mark.parametrize("bot_id", ["", "..", "../ada", "a/b", "a.2", "a\x00", "x" * 65])
def test_invalid_id_is_rejected_in_trash(folders: BotFolders, ada: Path, bot_id: str):
    for attempt in (
        lambda: folders.move_to_trash("ada", bot_id),
        lambda: folders.restore_from_trash(bot_id, "eve"),
        lambda: folders.delete_from_trash(bot_id),
    ):
        with pytest.raises(Invalid, match="id of a bot"):
            attempt()
    assert read_all(folders, "ada") == CONTENTS


def test_save_of_changed_file_is_rejected(folders: BotFolders, ada: Path):
    (ada / "SOUL.md").write_text("edited by hand")
    for expect in (hash_text("soul 😀\r\n"), hash_text(""), None):
        with pytest.raises(FileChanged):
            folders.write("ada", BotFile.SOUL, "mine", expect=expect)
    assert (ada / "SOUL.md").read_text() == "edited by hand"
    folders.write("ada", BotFile.SOUL, "mine", expect=hash_text("edited by hand"))
    assert (ada / "SOUL.md").read_text() == "mine"


def test_missing_file_is_written_only_if_expected(folders: BotFolders, ada: Path):
    (ada / "SOUL.md").unlink()
    with pytest.raises(FileChanged):
        folders.write("ada", BotFile.SOUL, "mine", expect=hash_text("soul 😀\r\n"))
    folders.write("ada", BotFile.SOUL, "mine", expect=None)
    assert folders.read("ada", BotFile.SOUL) == "mine"


def test_concurrent_edit_survives_save(folders: BotFolders, ada: Path, monkeypatch: pytest.MonkeyPatch):
    sync = os.fsync

    def edit_meanwhile(descriptor: int) -> None:
        (ada / "SOUL.md").write_text("edited by hand")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", edit_meanwhile)
    with pytest.raises(FileChanged):
        folders.write("ada", BotFile.SOUL, "mine", expect=hash_text("soul 😀\r\n"))
    assert sorted(path.name for path in ada.iterdir()) == ["IDENTITY.md", "SOUL.md", "USER.md", "skills.toml"]
    assert (ada / "SOUL.md").read_text() == "edited by hand"


def put(kind: str, place: Path, secret: Path) -> None:
    match kind:
        case "link out":
            place.symlink_to(secret)
        case "link to another bot":
            place.symlink_to("../eve/SOUL.md")
        case "broken link":
            place.symlink_to("nowhere")
        case "link to itself":
            place.symlink_to(place.name)
        case "directory":
            place.mkdir()
        case "pipe":
            os.mkfifo(place)
        case "device":
            place.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    "kind",
    ["link out", "link to another bot", "broken link", "link to itself", "directory", "pipe", "device"],
)
def test_non_file_is_rejected_and_can_be_set_aside(folders: BotFolders, ada: Path, secret: Path, kind: str):
    folders.create("eve", CONTENTS)
    place = ada / "SOUL.md"
    place.unlink()
    put(kind, place, secret)
    with pytest.raises(Unreadable) as caught:
        folders.read("ada", BotFile.SOUL)
    assert caught.value.problem.file is BotFile.SOUL and caught.value.hint
    for expect in (None, hash_text("the secret that lies outside"), hash_text("soul 😀\r\n")):
        with pytest.raises((Unreadable, FileChanged)):
            folders.write("ada", BotFile.SOUL, "mine", expect=expect)
    folders.set_aside("ada", BotFile.SOUL)
    folders.write("ada", BotFile.SOUL, "mine", expect=None)
    assert folders.read("ada", BotFile.SOUL) == "mine"
    assert [path.name.endswith(".aside") for path in ada.glob("SOUL.md?*")] == [True]
    assert secret.read_text() == "the secret that lies outside"
    assert read_all(folders, "eve") == CONTENTS


@pytest.mark.parametrize("target", ["outside", "eve"])
def test_symlinked_folder_is_rejected(folders: BotFolders, secret: Path, target: str):
    folders.create("eve", CONTENTS)
    folders.path("ada").symlink_to(secret.parent if target == "outside" else "eve")
    with pytest.raises(Unreadable):
        folders.read("ada", BotFile.SOUL)
    with pytest.raises(Unreadable):
        folders.write("ada", BotFile.USER, "x", expect=None)
    with pytest.raises(Conflict):
        folders.set_aside("ada", BotFile.SOUL)
    folders.move_to_trash("ada", ID)
    folders.delete_from_trash(ID)
    assert secret.read_text() == "the secret that lies outside"
    assert read_all(folders, "eve") == CONTENTS


def test_symlinked_trash_is_rejected(folders: BotFolders, ada: Path, secret: Path):
    (folders.root / ".trash").symlink_to(secret.parent)
    with pytest.raises(Conflict):
        folders.move_to_trash("ada", ID)
    with pytest.raises(Conflict):
        folders.delete_from_trash(ID)
    assert read_all(folders, "ada") == CONTENTS
    assert list(tree(secret.parent)) == ["SOUL.md"]


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"x" * 10_000_000, "longer than", None),
        (b"x" * 200_001, "longer than", None),
        (b"ok\nb\xffd", "not valid UTF-8", 2),
        (b"\xff\xfeS\x00", "not valid UTF-8", 1),
        (b"ok\n\x00", "NUL", 2),
    ],
)
def test_binary_file_is_reported_and_kept(
    folders: BotFolders, ada: Path, data: bytes, message: str, line: int | None
):
    (ada / "SOUL.md").write_bytes(data)
    with pytest.raises(Unreadable, match=message) as caught:
        folders.read("ada", BotFile.SOUL)
    assert caught.value.problem.line == line
    with pytest.raises(FileChanged):
        folders.write("ada", BotFile.SOUL, "mine", expect=hash_text("soul 😀\r\n"))
    assert (ada / "SOUL.md").read_bytes() == data


def test_text_of_maximum_length_is_read(folders: BotFolders, ada: Path):
    text = "😀" * 200_000
    folders.write("ada", BotFile.USER, text, expect=hash_text(""))
    assert folders.read("ada", BotFile.USER) == text


def test_folder_is_restored_from_trash(folders: BotFolders, ada: Path):
    (ada / "notes.txt").write_text("mine")
    before = tree(ada)
    folders.move_to_trash("ada", ID)
    assert not ada.exists() and tree(folders.root / ".trash" / ID) == before
    assert stat.S_IMODE((folders.root / ".trash").stat().st_mode) == 0o700
    folders.restore_from_trash(ID, "ada")
    assert tree(ada) == before


def test_restore_does_not_overwrite_folder(folders: BotFolders, ada: Path):
    folders.move_to_trash("ada", ID)
    folders.create("ada", {**CONTENTS, BotFile.SOUL: "another"})
    with pytest.raises(Conflict):
        folders.restore_from_trash(ID, "ada")
    assert folders.read("ada", BotFile.SOUL) == "another"


def test_trash_keeps_several_folders_of_an_id(folders: BotFolders, ada: Path):
    for number in range(11):
        folders.move_to_trash("ada", ID)
        folders.create("ada", {**CONTENTS, BotFile.SOUL: str(number)})
    folders.move_to_trash("ada", ID)
    folders.restore_from_trash(ID, "ada")
    assert folders.read("ada", BotFile.SOUL) == "10"
    folders.delete_from_trash(ID)
    assert tree(folders.root / ".trash") == {}


def test_moving_missing_folder_to_trash_succeeds(folders: BotFolders, ada: Path):
    folders.move_to_trash("ada", ID)
    folders.move_to_trash("ada", ID)
    folders.delete_from_trash(ID)
    folders.delete_from_trash(ID)
    with pytest.raises(NotFound):
        folders.restore_from_trash(ID, "ada")
    folders.set_aside("ada", BotFile.SOUL)


def test_delete_from_trash_keeps_other_bots(folders: BotFolders, ada: Path):
    folders.create("eve", CONTENTS)
    folders.move_to_trash("ada", "a")
    folders.move_to_trash("eve", "ab")
    folders.delete_from_trash("a")
    assert [path.name for path in (folders.root / ".trash").iterdir()] == ["ab"]


def test_replaced_root_is_reopened(folders: BotFolders, ada: Path):
    aside = folders.root.with_name("aside")
    folders.root.rename(aside)
    assert folders.read("ada", BotFile.SOUL) is None
    folders.root.rmdir()
    aside.rename(folders.root)
    assert read_all(folders, "ada") == CONTENTS


KILLED = """
import os, signal, sys
from pathlib import Path
from forge.bots.files.folders import BotFolders
from forge.bots.models import BotFile

left = int(sys.argv[2])

def killing(function):
    def wrapper(*args, **kwargs):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    return wrapper

folders = BotFolders(Path(sys.argv[1]))
for name in ("open", "mkdir", "rename", "fsync", "write"):
    setattr(os, name, killing(getattr(os, name)))
folders.create("ada", {file: file.value for file in BotFile})
"""


def test_killed_creation_leaves_no_partial_folder(tmp_path: Path):
    """Kill the process before its first, second, third … file operation, until it succeeds."""
    whole = {file: file.value for file in BotFile}
    exists: list[bool] = []
    for calls in range(0, 100, 3):
        folders = BotFolders(tmp_path / str(calls))
        process = subprocess.run(
            [sys.executable, "-c", KILLED, str(tmp_path / str(calls)), str(calls)], check=False
        )
        exists.append(folders.path("ada").exists())
        if exists[-1]:
            assert read_all(folders, "ada") == whole
        else:
            assert process.returncode == -9
            folders.create("ada", whole)
        if process.returncode == 0:
            break
    assert exists[0] is False and exists[-1] is True and len(exists) > 5


def test_abandoned_temporary_folder_is_removed(folders: BotFolders, ada: Path):
    for name, age_s in ((".new-old", 7200), (".new-young", 0)):
        (folders.root / name).mkdir()
        (folders.root / name / "SOUL.md").write_text("half")
        past = (folders.root / name).stat().st_mtime - age_s
        os.utime(folders.root / name, (past, past))
    folders.create("eve", CONTENTS)
    assert sorted(path.name for path in folders.root.iterdir()) == [".new-young", "ada", "eve"]
