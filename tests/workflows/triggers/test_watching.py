"""Files that change start workflows: once for each file and burst."""

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.patience import PATIENCE_S
from tests.workflows.triggers.conftest import House

from forge.kernel.background import in_background
from forge.workflows.models import TriggerType
from forge.workflows.triggers import roots as roots_module
from forge.workflows.triggers import watch_thread
from forge.workflows.triggers import watching as watching_module
from forge.workflows.triggers.bursts import LONGEST_S, QUIET_S, Bursts, Change
from forge.workflows.triggers.roots import Root, look_at
from forge.workflows.triggers.watch_thread import fits
from forge.workflows.triggers.watching import FileWatcher

pytestmark = pytest.mark.anyio


def trigger(*paths: Path | str, **more: Any) -> dict[str, Any]:
    return {"type": "file_watch", "paths": [str(path) for path in paths], **more}


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    path = tmp_path / "inbox"
    path.mkdir()
    return path.resolve()


@asynccontextmanager
async def watching(house: House, own_dir: Path, *, watches: int = 1) -> AsyncIterator[FileWatcher]:
    watcher = FileWatcher(house.launch, own_dir)
    async with in_background(watcher.watch_on(), "watcher"):
        await eventually(lambda: are_ready(watcher, watches))
        yield watcher


async def are_ready(watcher: FileWatcher, count: int) -> bool:
    threads = [watch.thread for watch in watcher._watches.values()]
    return sum(thread is not None and thread._bursts is not None for thread in threads) >= count


async def eventually(condition: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await condition():
            await asyncio.sleep(0.02)


async def changes(house: House) -> list[tuple[str, str]]:
    return [(run.payload["path"], run.payload["change"]) for run in await house.runs()]


async def when_changed(house: House, *expected: tuple[Path, str]) -> None:
    wanted = sorted((str(path), change) for path, change in expected)

    async def is_so() -> bool:
        return sorted(await changes(house)) == wanted

    try:
        await eventually(is_so)
    except TimeoutError:
        assert sorted(await changes(house)) == wanted


async def test_files_that_come_change_and_go_are_told_one_by_one(house: House, inbox: Path, tmp_path: Path):
    old, new = inbox / "old.txt", inbox / "new.txt"
    old.write_text("1")
    await house.save(trigger(inbox))
    async with watching(house, tmp_path / "data"):
        for text in "abc":
            new.write_text(text)
        old.write_text("2")
        await when_changed(house, (new, "added"), (old, "modified"))
        new.unlink()
        await when_changed(house, (new, "added"), (old, "modified"), (new, "deleted"))
    run = (await house.runs())[0]
    assert run.trigger == TriggerType.FILE_WATCH and run.source == run.payload["path"]
    assert set(run.payload) == {"path", "change", "detected_at"}


async def test_a_file_that_is_replaced_is_modified_and_one_that_comes_and_goes_is_nothing(
    house: House, inbox: Path, tmp_path: Path
):
    target = inbox / "report.txt"
    target.write_text("1")
    await house.save(trigger(inbox))
    async with watching(house, tmp_path / "data"):
        (inbox / "report.tmp").write_text("2")
        (inbox / "report.tmp").replace(target)
        await when_changed(house, (target, "modified"))


async def test_files_of_a_new_folder_are_found_and_patterns_and_conditions_choose(
    house: House, inbox: Path, tmp_path: Path
):
    await house.save(trigger(inbox, patterns=["*.csv"], when='event.change == "added"'))
    source = tmp_path / "made elsewhere"
    (source / "deep" / "er").mkdir(parents=True)
    (source / "deep" / "er" / "a.csv").write_text("1")
    (source / "deep" / "b.txt").write_text("1")
    async with watching(house, tmp_path / "data"):
        shutil.move(source, inbox / "new")
        await when_changed(house, (inbox / "new" / "deep" / "er" / "a.csv", "added"))


async def test_what_forge_writes_itself_is_not_told(house: House, inbox: Path):
    data = inbox / "data"
    data.mkdir()
    await house.save(trigger(inbox))
    async with watching(house, data):
        (data / "forge.db").write_text("1")
        (inbox / "seen").write_text("1")
        await when_changed(house, (inbox / "seen", "added"))


async def test_what_forge_writes_is_not_told_either_where_a_link_leads_to_it(
    house: House, inbox: Path, tmp_path: Path
):
    outside = tmp_path / "outside"
    own = outside / "own"
    own.mkdir(parents=True)
    (inbox / "link").symlink_to(outside)
    await house.save(trigger(inbox))
    async with watching(house, own):
        (own / "forge.db").write_text("a run")
        (outside / "other.txt").write_text("found by the link")
        (inbox / "mine.txt").write_text("mine")
        await when_changed(house, (inbox / "mine.txt", "added"), (inbox / "link/other.txt", "added"))


async def test_a_folder_that_is_missing_is_said_and_watched_when_it_comes(
    house: House, inbox: Path, tmp_path: Path
):
    late = inbox.parent / "late"
    workflow_id = await house.save(trigger(inbox, late))
    async with watching(house, tmp_path / "data") as watcher:

        async def is_said() -> bool:
            return (await house.view(workflow_id)).error == f"{late} does not exist on this server."

        await eventually(is_said)
        late.mkdir()

        async def is_fine() -> bool:
            return (await house.view(workflow_id)).error is None and await are_ready(watcher, 1)

        await eventually(is_fine)
        (late / "a").write_text("1")
        await when_changed(house, (late / "a", "added"))
        shutil.rmtree(late)
        await when_changed(house, (late / "a", "added"), (late / "a", "deleted"))


async def test_watches_follow_the_triggers(house: House, inbox: Path, tmp_path: Path):
    other = inbox.parent / "other"
    other.mkdir()
    workflow_id = await house.save(trigger(inbox))
    async with watching(house, tmp_path / "data") as watcher:
        await house.save(trigger(other), workflow_id=workflow_id)

        async def is_there() -> bool:
            (watch,) = watcher._watches.values()
            return watch.config.paths == [str(other)] and await are_ready(watcher, 1)

        await eventually(is_there)
        (inbox / "no").write_text("1")
        (other / "yes").write_text("1")
        await when_changed(house, (other / "yes", "added"))
        await house.delete(workflow_id)

        async def is_gone() -> bool:
            return not watcher._watches

        await eventually(is_gone)


async def test_servers_that_see_the_same_files_start_one_run(house: House, inbox: Path, tmp_path: Path):
    await house.save(trigger(inbox))
    async with watching(house, tmp_path / "data"), watching(house, tmp_path / "data"):
        (inbox / "a").write_text("1")

        async def both() -> bool:
            return len(house.fired) >= 2

        await eventually(both)
    assert await changes(house) == [(str(inbox / "a"), "added")]


async def test_too_many_files_are_refused(
    house: House, inbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watch_thread, "MAX_FILES", 3)
    for number in range(5):
        (inbox / str(number)).write_text("1")
    workflow_id = await house.save(trigger(inbox))
    async with watching(house, tmp_path / "data", watches=0):

        async def is_said() -> bool:
            return "too many files" in str((await house.view(workflow_id)).error)

        await eventually(is_said)


async def test_a_folder_that_cannot_be_watched_is_told_once_until_it_can(
    house: House, inbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watch_thread, "MAX_FILES", 3)
    monkeypatch.setattr(watching_module, "AGAIN_S", 0.05)
    monkeypatch.setattr(watching_module, "PAUSE_S", 0.02)
    begin, begun = watch_thread.WatchThread.begin, list[watch_thread.WatchThread]()
    monkeypatch.setattr(watch_thread.WatchThread, "begin", lambda self: (begun.append(self), begin(self)))
    for number in range(5):
        (inbox / str(number)).write_text("1")
    workflow_id = await house.save(trigger(inbox))
    async with watching(house, tmp_path / "data", watches=0):

        async def is_tried_again() -> bool:
            return len(begun) > 4

        async def is_well() -> bool:
            return (await house.view(workflow_id)).error is None

        await eventually(is_tried_again)
        assert len(await house.told("workflow.refused")) == 1
        monkeypatch.setattr(watch_thread, "MAX_FILES", 5)
        await eventually(is_well)


@pytest.mark.parametrize("path", ["/", "/proc/self", "/sys", "/dev/shm", "/no/such/place"])
def test_some_places_cannot_be_watched(path: str, tmp_path: Path):
    looked = look_at([path], tmp_path)
    assert looked.roots == () and path in (looked.problem or "")


def test_a_link_to_a_place_that_cannot_be_watched_is_no_way_in(tmp_path: Path):
    (tmp_path / "link").symlink_to("/proc/self")
    (tmp_path / "own").mkdir()
    for path in (tmp_path / "link", tmp_path / "own" / ".." / "own"):
        assert look_at([str(path)], tmp_path.resolve() / "own").roots == ()


def test_files_are_found_once_where_links_go_in_circles(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_text("1")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    found = roots_module.files_in(tmp_path, 1000, but=tmp_path / "none")
    assert len(found) <= 2 and tmp_path / "a" / "file" in found


def test_a_link_that_leads_to_itself_keeps_nothing_else_from_being_found(tmp_path: Path):
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "file").write_text("1")
    assert tmp_path / "file" in roots_module.files_in(tmp_path, 1000, but=tmp_path / "none")


def test_patterns_fit_names_paths_and_paths_below():
    root = (Root(Path("/srv/in"), 1, 1),)
    path = "/srv/in/src/deep/a.py"
    assert all(fits(pattern, path, root) for pattern in ("*.py", "a.?y", "/srv/*.py", "src/*", "**/a.py"))
    assert not any(fits(pattern, path, root) for pattern in ("*.txt", "A.py", "in/*", "deep"))


def test_a_burst_is_told_when_it_is_quiet_or_has_gone_on_for_long():
    bursts = Bursts(known={"old"})
    bursts.note("old", 0.0)
    bursts.note("old", QUIET_S / 2)
    assert bursts.settled(QUIET_S) == []
    assert bursts.settled(QUIET_S * 1.5) == ["old"] and bursts.settled(99) == []
    at = 0.0
    while not (told := bursts.settled(at)):
        bursts.note("log", at)
        at += QUIET_S / 2
    assert told == ["log"] and LONGEST_S <= at <= LONGEST_S + QUIET_S
    assert bursts.tell("old", exists=True) is Change.MODIFIED
    assert bursts.tell("new", exists=True) is Change.ADDED
    assert bursts.tell("new", exists=False) is Change.DELETED
    assert bursts.tell("new", exists=False) is None


async def test_a_watch_ends_soon_after_it_is_told_to(house: House, inbox: Path, tmp_path: Path):
    await house.save(trigger(inbox))
    async with watching(house, tmp_path / "data"):
        assert await threads() == 1
    await eventually(no_threads)


async def threads() -> int:
    return sum(thread.name == watch_thread.NAME for thread in threading.enumerate())


async def no_threads() -> bool:
    return await threads() == 0
