import os
from pathlib import Path

import pytest
from tests.support.unprivileged_user import unprivileged_user

from forge.errors import Conflict, Denied, Invalid, NotFound
from forge.store.database import Store
from forge.store.schema import migrate
from forge.workspace.adoption import check_adoptable
from forge.workspace.filesystem.errors import NoSuchPath
from forge.workspace.git.workspace_history import Author
from forge.workspace.models import WorkspaceInfo
from forge.workspace.service import Workspaces


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def workspaces(store: Store, data_dir: Path) -> Workspaces:
    return Workspaces(store, data_dir)


async def test_workspace_is_created_listed_used_and_removed(workspaces: Workspaces, data_dir: Path):
    made = await workspaces.create("ada", "shop")
    place = data_dir / "workspaces" / made.id
    assert made == WorkspaceInfo(
        id=made.id, name="shop", path=str(place / "tree"), is_adopted=False, created_at=made.created_at
    )
    assert await workspaces.list("ada") == [made]
    assert await workspaces.get("ada", made.id) == made
    opened = await workspaces.open("ada", made.id)
    opened.files.write("a.txt", b"x")
    assert await opened.git.snapshot("begin", Author("Ada", "ada@example.com"))
    assert await workspaces.remove("ada", made.id) == made
    assert await workspaces.list("ada") == []
    assert not place.is_dir()


async def test_workspace_with_read_only_directory_is_removed():
    with unprivileged_user() as home:
        store = Store(f"sqlite:///{home / 'forge.db'}")
        await migrate(store)
        workspaces = Workspaces(store, home)
        made = await workspaces.create("ada", "shop")
        closed = Path(made.path) / "cache"
        closed.mkdir()
        (closed / "a.txt").touch()
        closed.chmod(0o500)
        await workspaces.remove("ada", made.id)
        assert list((home / "workspaces").iterdir()) == []
        await store.close()


async def test_interrupted_removal_is_finished_or_undone(workspaces: Workspaces, data_dir: Path):
    kept, removed = [await workspaces.create("ada", name) for name in ("kept", "removed")]
    folder = data_dir / "workspaces"
    (folder / removed.id).rename(folder / "aside")
    await workspaces.remove("ada", removed.id)
    (folder / "aside").rename(folder / f".gone-{removed.id}")
    (folder / kept.id).rename(folder / f".gone-{kept.id}")
    await workspaces.finish_removals()
    assert [path.name for path in folder.iterdir()] == [kept.id]
    assert (await workspaces.open("ada", kept.id)).info == kept


async def test_failed_removal_keeps_files(workspaces: Workspaces, monkeypatch: pytest.MonkeyPatch):
    async def fail(*_: object) -> None:
        raise ConnectionError

    made = await workspaces.create("ada", "shop")
    monkeypatch.setattr("forge.workspace.store.delete", fail)
    with pytest.raises(ConnectionError):
        await workspaces.remove("ada", made.id)
    assert (await workspaces.open("ada", made.id)).info == made


async def test_removing_adopted_workspace_keeps_directory(workspaces: Workspaces, root: Path, data_dir: Path):
    made = await workspaces.create("ada", "site", path=root)
    assert (made.path, made.is_adopted) == (str(root), True)
    opened = await workspaces.open("ada", made.id)
    assert opened.files.read("README.md", limit=99).data == b"# Project\n"
    with pytest.raises(Conflict, match="already the workspace 'site'"):
        await workspaces.create("ada", "again", path=root)
    await workspaces.remove("ada", made.id)
    assert (root / "README.md").read_text() == "# Project\n"
    assert list((data_dir / "workspaces").iterdir()) == []


async def test_names_are_unique_per_account(workspaces: Workspaces, data_dir: Path):
    await workspaces.create("ada", "shop")
    await workspaces.create("bob", "shop")
    with pytest.raises(Conflict, match="named 'shop' already exists"):
        await workspaces.create("ada", "shop")
    assert len(list((data_dir / "workspaces").iterdir())) == 2


async def test_name_conflict_during_create_leaves_no_directory(
    workspaces: Workspaces, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    async def looks_free(*_: object) -> None:
        pass

    await workspaces.create("ada", "shop")
    monkeypatch.setattr(workspaces, "_check_free", looks_free)
    with pytest.raises(Conflict):
        await workspaces.create("ada", "shop")
    assert len(list((data_dir / "workspaces").iterdir())) == 1


async def test_workspace_of_another_account_is_not_found(workspaces: Workspaces):
    made = await workspaces.create("ada", "shop")
    for verb in (workspaces.get, workspaces.open, workspaces.remove):
        with pytest.raises(NotFound):
            await verb("eve", made.id)
        with pytest.raises(NotFound):
            await verb("ada", "nothing")


async def test_open_returns_same_instance(workspaces: Workspaces, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("forge.workspace.service.MAX_OPEN", 1)
    one, two = [await workspaces.create("ada", name) for name in ("one", "two")]
    first = await workspaces.open("ada", one.id)
    await workspaces.open("ada", two.id)
    assert await workspaces.open("ada", one.id) is first


def move_away(root: Path) -> None:
    root.rename(root.parent / "moved")


def put_link(root: Path, target: Path) -> None:
    root.symlink_to(target)


def put_directory(root: Path) -> None:
    root.unlink()
    root.mkdir()


async def test_replaced_directory_is_reopened(workspaces: Workspaces, root: Path, outside: Path):
    made = await workspaces.create("ada", "site", path=root)
    first = await workspaces.open("ada", made.id)
    move_away(root)
    with pytest.raises(NoSuchPath, match="no longer exists"):
        await workspaces.open("ada", made.id)
    put_link(root, outside)
    with pytest.raises(NoSuchPath, match="no longer exists"):
        await workspaces.open("ada", made.id)
    put_directory(root)
    again = await workspaces.open("ada", made.id)
    assert again is not first
    assert again.files.list() == []


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "homes" / "ada"
    (home / "code" / "site").mkdir(parents=True)
    (home / ".ssh").mkdir()
    (home / "data" / "below").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


def test_project_can_be_adopted_through_link(home: Path):
    (home / "link").symlink_to("code/site")
    for path in (home / "link", home / "code" / "site", home / "code"):
        assert check_adoptable(path, home / "data") == path.resolve()


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/etc", "/usr/lib", "/proc/self", "/tmp", "/home", "/dev", "/var/lib", "/root"),
        *("HOME", "HOME/..", "HOME/.ssh", "HOME/data", "HOME/data/below", "HOME/code/../data", "HOME/link"),
    ],
)
def test_system_and_home_directories_cannot_be_adopted(home: Path, path: str):
    (home / "link").symlink_to("/etc")
    with pytest.raises((Denied, Invalid)):
        check_adoptable(Path(path.replace("HOME", str(home))), home / "data")


def test_unprintable_directory_name_cannot_be_adopted(home: Path):
    for name in (b"latin\xe9", b"new\nline"):
        odd = home / os.fsdecode(name)
        odd.mkdir()
        with pytest.raises(Invalid, match="rename it"):
            check_adoptable(odd, home / "data")


@pytest.mark.parametrize("path", ["relative", "/nothing/there", "/etc/passwd", "/a\0b"])
def test_file_or_missing_path_cannot_be_adopted(home: Path, path: str):
    with pytest.raises(Invalid):
        check_adoptable(Path(path), home / "data")
