"""File triggers start one run per changed file."""

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.timeouts import PATIENCE_S
from tests.workflows.triggers.conftest import Environment

from forge.kernel.background import in_background
from forge.workflows.models import TriggerType
from forge.workflows.triggers import file_watcher, watch_thread
from forge.workflows.triggers.file_watcher import FileWatcher
from forge.workflows.triggers.watch_thread import (
    MAX_DELAY_S,
    QUIET_S,
    Change,
    ChangeDebouncer,
    Root,
    fits,
    resolve_roots,
)
from forge.workspace.filesystem.allowed_roots import AllowedRoots

pytestmark = pytest.mark.anyio


def trigger(*paths: Path | str, **more: Any) -> dict[str, Any]:
    return {"type": "file_watch", "paths": [str(path) for path in paths], **more}


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    path = tmp_path / "inbox"
    path.mkdir()
    return path.resolve()


@asynccontextmanager
async def watching(
    environment: Environment, own_dir: Path, *, watches: int = 1
) -> AsyncIterator[FileWatcher]:
    watcher = FileWatcher(environment.launcher, AllowedRoots((Path("/"),), own_dir))
    async with in_background(watcher.run_forever(), "watcher"):
        await eventually(lambda: are_ready(watcher, watches))
        yield watcher


async def are_ready(watcher: FileWatcher, count: int) -> bool:
    threads = [watch.thread for watch in watcher._watches.values()]
    return sum(thread is not None and thread._debouncer is not None for thread in threads) >= count


async def eventually(condition: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await condition():
            await asyncio.sleep(0.02)


async def changes(environment: Environment) -> list[tuple[str, str]]:
    return [(run.payload["path"], run.payload["change"]) for run in await environment.runs()]


async def when_changed(environment: Environment, *expected: tuple[Path, str]) -> None:
    wanted = sorted((str(path), change) for path, change in expected)

    async def is_expected() -> bool:
        return sorted(await changes(environment)) == wanted

    try:
        await eventually(is_expected)
    except TimeoutError:
        assert sorted(await changes(environment)) == wanted


async def test_added_modified_and_deleted_files_start_runs(
    environment: Environment, inbox: Path, tmp_path: Path
):
    old, new = inbox / "old.txt", inbox / "new.txt"
    old.write_text("1")
    await environment.save(trigger(inbox))
    async with watching(environment, tmp_path / "data"):
        for text in "abc":
            new.write_text(text)
        old.write_text("2")
        await when_changed(environment, (new, "added"), (old, "modified"))
        new.unlink()
        await when_changed(environment, (new, "added"), (old, "modified"), (new, "deleted"))
    run = (await environment.runs())[0]
    assert run.trigger == TriggerType.FILE_WATCH and run.source == run.payload["path"]
    assert set(run.payload) == {"path", "change", "detected_at"}


async def test_replaced_file_is_modified_and_short_lived_file_is_ignored(
    environment: Environment, inbox: Path, tmp_path: Path
):
    target = inbox / "report.txt"
    target.write_text("1")
    await environment.save(trigger(inbox))
    async with watching(environment, tmp_path / "data"):
        (inbox / "report.tmp").write_text("2")
        (inbox / "report.tmp").replace(target)
        await when_changed(environment, (target, "modified"))


async def test_new_folder_patterns_and_conditions(environment: Environment, inbox: Path, tmp_path: Path):
    await environment.save(trigger(inbox, patterns=["*.csv"], when='event.change == "added"'))
    source = tmp_path / "source"
    (source / "deep" / "er").mkdir(parents=True)
    (source / "deep" / "er" / "a.csv").write_text("1")
    (source / "deep" / "b.txt").write_text("1")
    async with watching(environment, tmp_path / "data"):
        shutil.move(source, inbox / "new")
        await when_changed(environment, (inbox / "new" / "deep" / "er" / "a.csv", "added"))


async def test_data_directory_is_ignored(environment: Environment, inbox: Path):
    data = inbox / "data"
    data.mkdir()
    await environment.save(trigger(inbox))
    async with watching(environment, data):
        (data / "forge.db").write_text("1")
        (inbox / "seen").write_text("1")
        await when_changed(environment, (inbox / "seen", "added"))


async def test_data_directory_is_ignored_behind_link(environment: Environment, inbox: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    own = outside / "own"
    own.mkdir(parents=True)
    (inbox / "link").symlink_to(outside)
    await environment.save(trigger(inbox))
    async with watching(environment, own):
        (own / "forge.db").write_text("a run")
        (outside / "other.txt").write_text("other")
        (inbox / "mine.txt").write_text("mine")
        await when_changed(environment, (inbox / "mine.txt", "added"), (inbox / "link/other.txt", "added"))


async def test_missing_folder_is_reported_and_watched_later(
    environment: Environment, inbox: Path, tmp_path: Path
):
    late = inbox.parent / "late"
    workflow_id = await environment.save(trigger(inbox, late))
    async with watching(environment, tmp_path / "data") as watcher:

        async def is_reported() -> bool:
            return (await environment.view(workflow_id)).error == f"{late} does not exist on this server."

        await eventually(is_reported)
        late.mkdir()

        async def is_cleared() -> bool:
            return (await environment.view(workflow_id)).error is None and await are_ready(watcher, 1)

        await eventually(is_cleared)
        (late / "a").write_text("1")
        await when_changed(environment, (late / "a", "added"))
        shutil.rmtree(late)
        await when_changed(environment, (late / "a", "added"), (late / "a", "deleted"))


async def test_watches_match_triggers(environment: Environment, inbox: Path, tmp_path: Path):
    other = inbox.parent / "other"
    other.mkdir()
    workflow_id = await environment.save(trigger(inbox))
    async with watching(environment, tmp_path / "data") as watcher:
        await environment.save(trigger(other), workflow_id=workflow_id)

        async def is_there() -> bool:
            (watch,) = watcher._watches.values()
            return watch.config.paths == [str(other)] and await are_ready(watcher, 1)

        await eventually(is_there)
        (inbox / "no").write_text("1")
        (other / "yes").write_text("1")
        await when_changed(environment, (other / "yes", "added"))
        await environment.delete(workflow_id)

        async def is_gone() -> bool:
            return not watcher._watches

        await eventually(is_gone)


async def test_several_servers_start_one_run_per_change(
    environment: Environment, inbox: Path, tmp_path: Path
):
    await environment.save(trigger(inbox))
    async with watching(environment, tmp_path / "data"), watching(environment, tmp_path / "data"):
        (inbox / "a").write_text("1")

        async def both() -> bool:
            return len(environment.fired) >= 2

        await eventually(both)
    assert await changes(environment) == [(str(inbox / "a"), "added")]


async def test_too_many_files_are_reported(
    environment: Environment, inbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watch_thread, "MAX_FILES", 3)
    for number in range(5):
        (inbox / str(number)).write_text("1")
    workflow_id = await environment.save(trigger(inbox))
    async with watching(environment, tmp_path / "data", watches=0):

        async def is_reported() -> bool:
            return "which is the maximum" in str((await environment.view(workflow_id)).error)

        await eventually(is_reported)


async def test_watch_failure_is_reported_once(
    environment: Environment, inbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(watch_thread, "MAX_FILES", 3)
    monkeypatch.setattr(file_watcher, "RETRY_DELAY_S", 0.05)
    monkeypatch.setattr(file_watcher, "PAUSE_S", 0.02)
    begin, begun = watch_thread.WatchThread.begin, list[watch_thread.WatchThread]()
    monkeypatch.setattr(watch_thread.WatchThread, "begin", lambda self: (begun.append(self), begin(self)))
    for number in range(5):
        (inbox / str(number)).write_text("1")
    workflow_id = await environment.save(trigger(inbox))
    async with watching(environment, tmp_path / "data", watches=0):

        async def is_tried_again() -> bool:
            return len(begun) > 4

        async def is_watched() -> bool:
            return (await environment.view(workflow_id)).error is None

        await eventually(is_tried_again)
        assert len(await environment.published("workflow.refused")) == 1
        monkeypatch.setattr(watch_thread, "MAX_FILES", 5)
        await eventually(is_watched)


@pytest.mark.parametrize("path", ["/", "/proc/self", "/sys", "/dev/shm", "/no/such/place"])
def test_forbidden_paths_cannot_be_watched(path: str, tmp_path: Path):
    resolved = resolve_roots([path], AllowedRoots((Path("/"),), tmp_path))
    assert resolved.roots == () and path in (resolved.problem or "")


def test_link_to_forbidden_path_cannot_be_watched(tmp_path: Path):
    (tmp_path / "link").symlink_to("/proc/self")
    (tmp_path / "own").mkdir()
    for path in (tmp_path / "link", tmp_path / "own" / ".." / "own"):
        assert (
            resolve_roots([str(path)], AllowedRoots((tmp_path.resolve(),), tmp_path.resolve() / "own")).roots
            == ()
        )


def test_files_are_listed_once_with_cyclic_links(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_text("1")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    found = watch_thread.files_in(tmp_path, 1000, AllowedRoots((tmp_path.resolve(),), tmp_path / "none"))
    assert len(found) <= 2 and tmp_path / "a" / "file" in found


def test_self_referencing_link_is_ignored(tmp_path: Path):
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "file").write_text("1")
    assert tmp_path / "file" in watch_thread.files_in(
        tmp_path, 1000, AllowedRoots((tmp_path.resolve(),), tmp_path / "none")
    )


def test_patterns_match_names_and_paths():
    root = (Root(Path("/srv/in"), 1, 1),)
    path = "/srv/in/src/deep/a.py"
    assert all(fits(pattern, path, root) for pattern in ("*.py", "a.?y", "/srv/*.py", "src/*", "**/a.py"))
    assert not any(fits(pattern, path, root) for pattern in ("*.txt", "A.py", "in/*", "deep"))


def test_debouncer_reports_after_quiet_time_or_maximum_delay():
    debouncer = ChangeDebouncer(known={"old"})
    debouncer.note("old", 0.0)
    debouncer.note("old", QUIET_S / 2)
    assert debouncer.settled(QUIET_S) == []
    assert debouncer.settled(QUIET_S * 1.5) == ["old"] and debouncer.settled(99) == []
    at = 0.0
    while not (reported := debouncer.settled(at)):
        debouncer.note("log", at)
        at += QUIET_S / 2
    assert reported == ["log"] and MAX_DELAY_S <= at <= MAX_DELAY_S + QUIET_S
    assert debouncer.classify("old", exists=True) is Change.MODIFIED
    assert debouncer.classify("new", exists=True) is Change.ADDED
    assert debouncer.classify("new", exists=False) is Change.DELETED
    assert debouncer.classify("new", exists=False) is None


async def test_watch_thread_stops_quickly(environment: Environment, inbox: Path, tmp_path: Path):
    await environment.save(trigger(inbox))
    async with watching(environment, tmp_path / "data"):
        assert await threads() == 1
    await eventually(no_threads)


async def threads() -> int:
    return sum(thread.name == watch_thread.NAME for thread in threading.enumerate())


async def no_threads() -> bool:
    return await threads() == 0
