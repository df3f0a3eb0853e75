"""Folders that are replaced by links between check and use."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.sandbox.conftest import ISOLATING, QUICK, make
from tests.sandbox.test_running import files_in

from forge.errors import Invalid
from forge.sandbox.backends import bubblewrap
from forge.sandbox.backends.root_filesystem import takes_descriptors
from forge.sandbox.models import Command

pytestmark = pytest.mark.skipif(
    "bubblewrap" not in ISOLATING or not takes_descriptors(next(bubblewrap.find_bwraps())),
    reason="needs bubblewrap 0.11",
)
READ = ("sh", "-c", "cat key; echo x > written")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    folder = tmp_path / "secret"
    folder.mkdir()
    (folder / "key").write_text("told")
    return folder


def swap(folder: Path, secret: Path) -> None:
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(secret)


def before(call: Any, swapping: Any) -> Any:
    def wrapped(*args: Any, **given: Any) -> Any:
        swapping()
        return call(*args, **given)

    return wrapped


async def test_linked_work_tree_is_refused(tmp_path: Path, secret: Path):
    (tmp_path / "link").symlink_to(secret)
    with pytest.raises(Invalid):
        await make("bubblewrap").run(Command(READ, tmp_path / "link", QUICK))


async def test_work_tree_swapped_after_check_is_refused(
    workdir: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
):
    swapped = before(bubblewrap.BwrapProcess, lambda: swap(workdir, secret))
    monkeypatch.setattr(bubblewrap, "BwrapProcess", swapped)
    with pytest.raises(Invalid):
        await make("bubblewrap").run(Command(READ, workdir, QUICK))
    assert files_in(secret) == [secret / "key"]


async def test_parent_folder_swapped_after_check_is_refused(
    workdir: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
):
    (workdir / "nested").mkdir()
    (secret / "nested").mkdir()
    swapped = before(bubblewrap.BwrapProcess, lambda: swap(workdir, secret))
    monkeypatch.setattr(bubblewrap, "BwrapProcess", swapped)
    with pytest.raises(Invalid):
        await make("bubblewrap").run(Command(READ, workdir / "nested", QUICK))


async def test_work_tree_swapped_during_start_is_not_followed(
    workdir: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
):
    class Swapped(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **given: Any) -> None:
            swap(workdir, secret)
            super().__init__(*args, **given)

    sandbox = make("bubblewrap")
    await sandbox.run(Command(("true",), workdir, QUICK))
    monkeypatch.setattr(bubblewrap.subprocess, "Popen", Swapped)
    outcome = await sandbox.run(Command(READ, workdir, QUICK))
    assert "told" not in outcome.stdout.text
    assert files_in(secret) == [secret / "key"]
