"""Path traversal: generated hostile paths, links in all directions, concurrently swapped names."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.workspace.conftest import SECRET
from tests.workspace.grammar import climbing_paths

from forge.errors import ForgeError
from forge.workspace.filesystem.files import Files


def snapshot(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}


def fill_with_links(root: Path, outside: Path) -> None:
    links = {
        "link": "../outside",
        "loop": ".",
        "abs": str(outside),
        "proc": "/proc/self/root",
        "fd": "/proc/self/fd",
    }
    links |= {
        "g": ".git",
        "far": "../" * 30,
        "%2e%2e": "..",
        "...": "../outside",
        "src/up": "../..",
        "etc": "/etc",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)


def try_all(files: Files, path: str) -> None:
    """Each operation either works inside or fails with an error of Forge."""
    attempts: list[Callable[[], object]] = [
        lambda: files.read(path, limit=1000).data,
        lambda: [entry.path for entry in files.list(path)],
        lambda: files.stat(path),
        lambda: files.write(path, b"written"),
        lambda: files.delete(path),
    ]
    for attempt in attempts:
        try:
            found = attempt()
        except ForgeError:
            continue
        shown = repr(found).encode()
        assert SECRET not in shown, path
        assert b"root:" not in shown, path


def test_generated_paths_do_not_escape_hang_or_crash(
    files: Files, root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    fill_with_links(root, outside)
    before = snapshot(outside) | snapshot(root / ".git")
    beside = sorted(root.parent.iterdir())
    for path in climbing_paths(12_000):
        try_all(files, path)
    assert snapshot(outside) | snapshot(root / ".git") == before
    assert sorted(root.parent.iterdir()) == beside


NAMES = st.sampled_from(["a", "b", "c", "dir", ".git", "é", "-x", "a b"])
TARGETS_OF_LINKS = st.lists(
    st.sampled_from(["a", "b", "c", "dir", "..", ".", ".git", "outside", "/"]), max_size=5
)
LINKS = st.lists(st.tuples(st.lists(NAMES, min_size=1, max_size=2), TARGETS_OF_LINKS), max_size=8)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


def plant(root: Path, links: list[tuple[list[str], list[str]]]) -> None:
    for place, target in links:
        folder = Path(os.path.realpath(root.joinpath(*place[:-1])))
        if folder.is_relative_to(root):
            with suppress(OSError):
                (folder / place[-1]).symlink_to("/".join(target).replace("//", "/") or ".")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(links=LINKS, paths=st.lists(PATHS, min_size=1, max_size=6))
@pytest.mark.parametrize("kernel", [None, False])
def test_links_never_read_outside_the_root(
    tmp_path_factory: pytest.TempPathFactory, kernel: bool | None, links, paths
):
    """The result is compared with where the operating system resolves the path to."""
    base = tmp_path_factory.mktemp("farm").resolve()
    root, outside = base / "project", base / "outside"
    for place in (root / "dir", root / ".git", outside / "dir"):
        place.mkdir(parents=True)
        for name in ("a", "b"):
            (place / name).write_text(f"{place.relative_to(base)}/{name}")
    plant(root, links)
    before = snapshot(outside) | snapshot(root / ".git")
    with Files(root, kernel=kernel) as files:
        for path in paths:
            check_read(files, root, path)
            try_all(files, path)
    assert snapshot(outside) | snapshot(root / ".git") == before


def check_read(files: Files, root: Path, path: str) -> None:
    try:
        found = files.read(path, limit=1000).data
    except ForgeError:
        return
    real = Path(os.path.realpath(root / path))
    assert real.is_relative_to(root), path
    assert ".git" not in real.relative_to(root).parts, path
    assert found == real.read_bytes()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.text(max_size=40) | st.text(alphabet="./\\.%2ef\0\n~:é\udc80 ", max_size=60))
def test_any_text_is_a_valid_path_or_refused(root: Path, outside: Path, path: str):
    before = snapshot(outside)
    with Files(root) as files:
        try_all(files, path)
    assert snapshot(outside) == before


@pytest.mark.usefixtures("exchanged")
def test_concurrently_swapped_link_does_not_escape(
    files: Files, outside: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    before = snapshot(outside)
    until = time.monotonic() + 1.5
    while time.monotonic() < until:
        for attempt in (
            lambda: files.read("swap/secret.txt", limit=100).data,
            lambda: files.write("swap/new.txt", b"written"),
            lambda: files.write("swap/deep/new.txt", b"written"),
            lambda: [entry.name for entry in files.walk("swap")],
            lambda: files.delete("swap/new.txt"),
        ):
            try:
                found = attempt()
            except ForgeError:
                continue
            assert found != SECRET
    assert snapshot(outside) == before
