"""The folders of bots, and what people and worse may put into them."""

import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from forge.bots.errors import FileChanged
from forge.bots.folder import Folders, Unreadable
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
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path / "data")


@pytest.fixture
def ada(folders: Folders) -> Path:
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


def everything(folders: Folders, slug: str) -> dict[BotFile, str | None]:
    return {file: folders.read(slug, file) for file in BotFile}


def test_a_folder_has_what_was_put_into_it(folders: Folders, ada: Path):
    assert everything(folders, "ada") == CONTENTS
    assert ada == folders.root / "ada"
    assert sorted(path.name for path in ada.iterdir()) == ["IDENTITY.md", "SOUL.md", "USER.md", "skills.toml"]
    assert [path.name for path in folders.root.iterdir()] == ["ada"]


def test_nobody_else_can_look_into_it(folders: Folders, ada: Path):
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (folders.root, ada, *ada.iterdir())}
    assert set(modes.values()) == {0o700, 0o600}
    assert modes[ada] == modes[folders.root] == 0o700


def test_a_save_keeps_the_mode_a_person_gave(folders: Folders, ada: Path):
    (ada / "SOUL.md").chmod(0o640)
    folders.write("ada", BotFile.SOUL, "new", expect=hash_text("soul 😀\r\n"))
    assert stat.S_IMODE((ada / "SOUL.md").stat().st_mode) == 0o640


def test_what_is_not_there_is_none(folders: Folders, ada: Path):
    (ada / "USER.md").unlink()
    assert folders.read("ada", BotFile.USER) is None
    assert folders.read("eve", BotFile.SOUL) is None


@pytest.mark.parametrize("what", ["folder", "empty folder", "file", "link", "broken link"])
def test_a_folder_is_made_over_nothing_that_exists(folders: Folders, ada: Path, secret: Path, what: str):
    eve = folders.path("eve")
    match what:
        case "folder":
            eve.mkdir()
            (eve / "SOUL.md").write_text("mine")
        case "empty folder":
            eve.mkdir()
        case "file":
            eve.write_text("mine")
        case _:
            eve.symlink_to(secret.parent if what == "link" else "nowhere")
    before = tree(folders.root)
    with pytest.raises(Conflict):
        folders.create("eve", CONTENTS)
    assert tree(folders.root) == before
    assert secret.read_text() == "the secret that lies outside"


def test_a_text_that_cannot_be_kept_leaves_no_folder(folders: Folders, ada: Path):
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
def test_only_a_slug_names_a_folder(folders: Folders, ada: Path, slug: str):
    before = tree(folders.root.parent.parent)
    for attempt in (
        lambda: folders.path(slug),
        lambda: folders.create(slug, CONTENTS),
        lambda: folders.read(slug, BotFile.SOUL),
        lambda: folders.write(slug, BotFile.SOUL, "x", expect=None),
        lambda: folders.set_aside(slug, BotFile.SOUL),
        lambda: folders.to_trash(slug, ID),
        lambda: folders.from_trash(ID, slug),
    ):
        with pytest.raises(Invalid, match="slug"):
            attempt()
    assert tree(folders.root.parent.parent) == before


@pytest.mark.parametrize("bot_id", ["", "..", "../ada", "a/b", "a.2", "a\x00", "x" * 65])
def test_only_an_id_names_something_in_the_trash(folders: Folders, ada: Path, bot_id: str):
    for attempt in (
        lambda: folders.to_trash("ada", bot_id),
        lambda: folders.from_trash(bot_id, "eve"),
        lambda: folders.discard(bot_id),
    ):
        with pytest.raises(Invalid, match="id of a bot"):
            attempt()
    assert everything(folders, "ada") == CONTENTS


def test_a_save_needs_the_file_it_was_made_from(folders: Folders, ada: Path):
    (ada / "SOUL.md").write_text("edited by hand")
    for expect in (hash_text("soul 😀\r\n"), hash_text(""), None):
        with pytest.raises(FileChanged):
            folders.write("ada", BotFile.SOUL, "mine", expect=expect)
    assert (ada / "SOUL.md").read_text() == "edited by hand"
    folders.write("ada", BotFile.SOUL, "mine", expect=hash_text("edited by hand"))
    assert (ada / "SOUL.md").read_text() == "mine"


def test_a_file_that_is_gone_is_written_only_by_who_knows(folders: Folders, ada: Path):
    (ada / "SOUL.md").unlink()
    with pytest.raises(FileChanged):
        folders.write("ada", BotFile.SOUL, "mine", expect=hash_text("soul 😀\r\n"))
    folders.write("ada", BotFile.SOUL, "mine", expect=None)
    assert folders.read("ada", BotFile.SOUL) == "mine"


def test_an_edit_that_comes_while_a_save_is_on_its_way_to_the_disk_stays(
    folders: Folders, ada: Path, monkeypatch: pytest.MonkeyPatch
):
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
def test_what_is_no_file_is_neither_read_nor_written_and_can_be_set_aside(
    folders: Folders, ada: Path, secret: Path, kind: str
):
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
    assert everything(folders, "eve") == CONTENTS


@pytest.mark.parametrize("target", ["outside", "eve"])
def test_a_folder_that_is_a_link_is_not_followed(folders: Folders, secret: Path, target: str):
    folders.create("eve", CONTENTS)
    folders.path("ada").symlink_to(secret.parent if target == "outside" else "eve")
    with pytest.raises(Unreadable):
        folders.read("ada", BotFile.SOUL)
    with pytest.raises(Unreadable):
        folders.write("ada", BotFile.USER, "x", expect=None)
    with pytest.raises(Conflict):
        folders.set_aside("ada", BotFile.SOUL)
    folders.to_trash("ada", ID)
    folders.discard(ID)
    assert secret.read_text() == "the secret that lies outside"
    assert everything(folders, "eve") == CONTENTS


def test_a_trash_that_is_a_link_is_not_used(folders: Folders, ada: Path, secret: Path):
    (folders.root / ".trash").symlink_to(secret.parent)
    with pytest.raises(Conflict):
        folders.to_trash("ada", ID)
    with pytest.raises(Conflict):
        folders.discard(ID)
    assert everything(folders, "ada") == CONTENTS
    assert list(tree(secret.parent)) == ["SOUL.md"]


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"x" * 10_000_000, "longer than", None),
        (b"x" * 200_001, "longer than", None),
        (b"ok\nb\xffd", "not UTF-8", 2),
        (b"\xff\xfeS\x00", "not UTF-8", 1),
        (b"ok\n\x00", "NUL", 2),
    ],
)
def test_what_is_no_text_is_told_and_kept(
    folders: Folders, ada: Path, data: bytes, message: str, line: int | None
):
    (ada / "SOUL.md").write_bytes(data)
    with pytest.raises(Unreadable, match=message) as caught:
        folders.read("ada", BotFile.SOUL)
    assert caught.value.problem.line == line
    with pytest.raises(FileChanged):
        folders.write("ada", BotFile.SOUL, "mine", expect=hash_text("soul 😀\r\n"))
    assert (ada / "SOUL.md").read_bytes() == data


def test_the_longest_text_there_may_be_is_read(folders: Folders, ada: Path):
    text = "😀" * 200_000
    folders.write("ada", BotFile.USER, text, expect=hash_text(""))
    assert folders.read("ada", BotFile.USER) == text


def test_a_folder_comes_back_from_the_trash_with_all_that_is_in_it(folders: Folders, ada: Path):
    (ada / "notes.txt").write_text("mine")
    before = tree(ada)
    folders.to_trash("ada", ID)
    assert not ada.exists() and tree(folders.root / ".trash" / ID) == before
    assert stat.S_IMODE((folders.root / ".trash").stat().st_mode) == 0o700
    folders.from_trash(ID, "ada")
    assert tree(ada) == before


def test_nothing_comes_back_over_another_folder(folders: Folders, ada: Path):
    folders.to_trash("ada", ID)
    folders.create("ada", {**CONTENTS, BotFile.SOUL: "another"})
    with pytest.raises(Conflict):
        folders.from_trash(ID, "ada")
    assert folders.read("ada", BotFile.SOUL) == "another"


def test_the_trash_keeps_what_is_thrown_away_twice(folders: Folders, ada: Path):
    for number in range(11):
        folders.to_trash("ada", ID)
        folders.create("ada", {**CONTENTS, BotFile.SOUL: str(number)})
    folders.to_trash("ada", ID)
    folders.from_trash(ID, "ada")
    assert folders.read("ada", BotFile.SOUL) == "10"
    folders.discard(ID)
    assert tree(folders.root / ".trash") == {}


def test_what_is_gone_already_can_be_thrown_away_again(folders: Folders, ada: Path):
    folders.to_trash("ada", ID)
    folders.to_trash("ada", ID)
    folders.discard(ID)
    folders.discard(ID)
    with pytest.raises(NotFound):
        folders.from_trash(ID, "ada")
    folders.set_aside("ada", BotFile.SOUL)


def test_only_that_bot_is_discarded(folders: Folders, ada: Path):
    folders.create("eve", CONTENTS)
    folders.to_trash("ada", "a")
    folders.to_trash("eve", "ab")
    folders.discard("a")
    assert [path.name for path in (folders.root / ".trash").iterdir()] == ["ab"]


def test_folders_that_were_moved_away_and_back_are_found_again(folders: Folders, ada: Path):
    aside = folders.root.with_name("aside")
    folders.root.rename(aside)
    assert folders.read("ada", BotFile.SOUL) is None
    folders.root.rmdir()
    aside.rename(folders.root)
    assert everything(folders, "ada") == CONTENTS


KILLED = """
import os, signal, sys
from pathlib import Path
from forge.bots.folder import Folders
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

folders = Folders(Path(sys.argv[1]))
for name in ("open", "mkdir", "rename", "fsync", "write"):
    setattr(os, name, killing(getattr(os, name)))
folders.create("ada", {file: file.value for file in BotFile})
"""


def test_a_folder_is_whole_or_not_there_wherever_its_maker_is_killed(tmp_path: Path):
    """Killed before its first, second, third ... call that touches the disk, until it comes through."""
    whole = {file: file.value for file in BotFile}
    ends: list[bool] = []
    for calls in range(0, 100, 3):
        folders = Folders(tmp_path / str(calls))
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(tmp_path / str(calls)), str(calls)], check=False
        )
        ends.append(folders.path("ada").exists())
        if ends[-1]:
            assert everything(folders, "ada") == whole
        else:
            assert done.returncode == -9
            folders.create("ada", whole)
        if done.returncode == 0:
            break
    assert ends[0] is False and ends[-1] is True and len(ends) > 5


def test_what_a_killed_maker_left_is_removed_after_a_while(folders: Folders, ada: Path):
    for name, age_s in ((".new-old", 7200), (".new-young", 0)):
        (folders.root / name).mkdir()
        (folders.root / name / "SOUL.md").write_text("half")
        past = (folders.root / name).stat().st_mtime - age_s
        os.utime(folders.root / name, (past, past))
    folders.create("eve", CONTENTS)
    assert sorted(path.name for path in folders.root.iterdir()) == [".new-young", "ada", "eve"]
