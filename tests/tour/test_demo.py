"""`forge demo` in a terminal: a complete demo, and its early ends."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.support.server import wait_until
from tests.support.terminal import FORGE, Screen, Terminal, clean_environment, open_screen

from forge.kernel.lock import DirectoryLock
from forge.tour.demo_directory import MARK

CTRL_C = "\x03"
WALK_S = 400
"""Long enough for a busy machine."""


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory for temporary folders, with a path short enough for Unix sockets."""
    made = Path(tempfile.mkdtemp(prefix="tour-"))
    yield made
    for pid in processes_of(made):  # left by a failed test
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(made)


def processes_of(place: Path) -> dict[int, str]:
    """Return processes whose command line or working directory is in the folder."""
    found: dict[int, str] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            where = str((process / "cwd").readlink())
        except OSError:  # ended meanwhile, or of another user
            continue
        if str(place) in f"{command} {where}":
            found[int(process.name)] = command
    return found


def leaves_nothing(place: Path) -> None:
    """Assert that no process, temporary folder or user data is left."""
    ends(place)
    assert list(place.glob("forge-demo-*")) == []
    assert not (place / "own").exists()


def ends(place: Path) -> None:
    wait_until(lambda: not processes_of(place), timeout_s=30, what=f"the end of {processes_of(place)}")


def opened(text: str) -> list[str]:
    return re.findall(r"http://127\.0\.0\.1:\d+/\S+", text.rpartition("It created:")[2])


def look_at(links: list[str]) -> None:
    """Check that each page responds and that the login link works once."""
    sign_in = next(link for link in links if "/login" in link)
    base = sign_in.partition("/login")[0]
    token = re.split(r"[#=]", sign_in)[-1]
    with httpx2.Client(base_url=base, headers={"Origin": base}, timeout=60) as browser:
        assert browser.post("/api/v1/login", json={"token": token}).status_code == 200
        for link in links:
            assert browser.get(link, headers={"Accept": "text/html"}).status_code == 200
        runs = [link.rpartition("/")[2] for link in links if "/runs/" in link]
        found = [browser.get(f"/api/v1/runs/{run}").json()["data"]["run"]["status"] for run in runs]
        assert found == ["completed"] * 3
        assert browser.post("/api/v1/login", json={"token": token}).status_code != 200


def test_whole_demo(place: Path):
    """The demo does not use the user's own Forge or the key in the environment."""
    own = place / "own"
    others = {"FORGE_URL": "http://127.0.0.1:9", "ANTHROPIC_API_KEY": "sk-ant-never", "TMPDIR": str(place)}
    with open_screen(own, "demo", **others) as screen:
        screen.wait_for("until you press Ctrl-C", timeout_s=WALK_S)
        for part in range(1, 9):
            assert f"{part}/8 " in screen.text
        for told in ("The audit says FAIL", "The audit says PASS", "kill -9", "Nothing ran twice"):
            assert told in screen.text
        look_at(opened(screen.text))
        screen.type(CTRL_C)
        assert screen.end() == 0
    leaves_nothing(place)


@pytest.mark.parametrize("words", ["A tour of Forge", "Starting", "Forge started in", "Juniper"])
def test_ctrl_c_leaves_nothing_behind(place: Path, words: str):
    with open_screen(place / "own", "demo", TMPDIR=str(place)) as screen:
        screen.wait_for(words, timeout_s=WALK_S)
        screen.type(CTRL_C)
        assert end_of(screen) == 130, screen.text
    leaves_nothing(place)


def end_of(screen: Screen) -> int:
    code = screen.end()
    assert "Traceback" not in screen.text
    return code


def test_used_port_is_reported_with_part_and_log(place: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = subprocess.run(
            [*FORGE, "demo", "--exit", "--port", port, "--data-dir", str(place / "demo")],
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    assert said.returncode == 1
    assert "failed at “Start Forge in a separate directory”" in said.stderr
    assert f"cannot listen on 127.0.0.1:{port}" in said.stderr
    assert str(place / "demo/server.log") in said.stderr
    assert (place / "demo/server.log").read_text()
    ends(place)


def test_foreign_directory_is_rejected_and_not_changed(place: Path):
    (place / "thesis.txt").write_text("four years of work")
    said = Terminal(place.parent / "elsewhere")("demo", "--exit", "--data-dir", str(place))
    assert (said.code, "not created by a demo" in said.err) == (2, True)
    assert [path.name for path in place.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("folder", ["own", "own/below", "."])
def test_data_directory_of_the_user_is_rejected(place: Path, folder: str):
    said = Terminal(place / "own")("demo", "--exit", "--data-dir", str(place / folder))
    assert (said.code, "contains the data of your Forge" in said.err) == (2, True)
    assert list(place.iterdir()) == []


def test_two_demos_cannot_share_a_directory(place: Path):
    (place / MARK).write_text("{}")
    with DirectoryLock(place):
        said = Terminal(place.parent / "elsewhere")("demo", "--exit", "--data-dir", str(place))
    assert (said.code, "A demo is running in" in said.err) == (6, True)
