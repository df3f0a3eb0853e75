"""Behavior of all backends: run, limit, report, cancel, clean up."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.sandbox.conftest import ISOLATING, PYTHON, QUICK, TOOLS, Run, make, runner
from tests.support.loop_watch import watch_loop
from tests.support.timeouts import PATIENCE_S

from forge.errors import Invalid
from forge.sandbox.backends.backend import Backend
from forge.sandbox.models import Command, End, Limits, Network, Output

NOBODY = 65534
MANY = 1100
"""More descriptors than `select` supports."""


def processes_with(token: str) -> list[int]:
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if token.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def owner_of(path: Path) -> int:
    return path.stat().st_uid


async def until(condition: object, timeout_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not happen"
        await asyncio.sleep(0.01)


async def test_outcome_has_output_exit_code_level_and_backend(run: Run, sandbox: Backend):
    outcome = await run("sh", "-c", "echo out; echo err >&2; exit 3")
    assert outcome == replace(
        outcome,
        exit_code=3,
        end=End.EXITED,
        stdout=Output("out\n", 4, truncated=False),
        stderr=Output("err\n", 4, truncated=False),
        level=sandbox.level,
        backend=sandbox.name,
        fetched=(),
    )
    assert outcome.duration_ms > 0


async def test_arguments_are_not_interpreted_by_a_shell(run: Run, workdir: Path):
    given = ("$HOME", "`id`", "; touch gotcha", "a b", "", "*", "ä😀", "-n", "--", "\n")
    outcome = await run(PYTHON, "-c", "import sys; print(sys.argv[1:])", *given)
    assert outcome.stdout.text == f"{list(given)}\n"
    assert files_in(workdir) == []


async def test_missing_program_is_reported(run: Run):
    outcome = await run("there-is-no-such-program")
    assert (outcome.end, outcome.exit_code) == (End.NOT_STARTED, None)
    assert "there-is-no-such-program" in outcome.stderr.text


async def test_death_by_signal_has_exit_code(run: Run):
    assert (await run("sh", "-c", "kill -SEGV $$")).exit_code == 128 + signal.SIGSEGV


async def test_written_files_belong_to_work_tree_owner(run: Run, workdir: Path):
    await run("sh", "-c", "mkdir a; echo text > a/b")
    assert (workdir / "a/b").read_text() == "text\n"
    assert (workdir / "a/b").stat().st_uid == owner_of(workdir)


async def test_standard_input_is_empty(run: Run):
    assert (await run("cat")).exit_code == 0


async def test_timeout_kills_process_tree(run: Run):
    outcome = await run("sh", "-c", "sleep 71.25 & sleep 71.25", limits=replace(QUICK, timeout_s=0.3))
    assert (outcome.end, outcome.exit_code) == (End.TIMEOUT, None)
    assert processes_with("71.25") == []


async def test_daemons_do_not_outlive_the_command(run: Run):
    outcome = await run("sh", "-c", "setsid sh -c 'sleep 72.25 & exec >&- 2>&-; sleep 72.25' & exit 0")
    assert outcome.exit_code == 0
    assert processes_with("72.25") == []


async def test_output_is_bounded_to_head_and_tail(run: Run):
    script = "print('first'); print('x' * 3_000_000); print('last')"
    outcome = await run(PYTHON, "-c", script, limits=replace(QUICK, stdout_bytes=1000))
    assert outcome.stdout.text.startswith("first\n")
    assert outcome.stdout.text.endswith("last\n")
    assert outcome.stdout.truncated
    assert outcome.stdout.total_bytes == 3_000_012
    assert len(outcome.stdout.text) < 1100


async def test_memory_of_all_processes_together_is_limited(run: Run):
    script = """
        import os, time
        for _ in range(4):
            if os.fork() == 0:
                held = bytearray(os.urandom(1 << 20)) * 60
                time.sleep(30)
        time.sleep(30)
    """
    limits = replace(QUICK, memory_bytes=160 << 20)
    outcome = await run(PYTHON, "-c", textwrap.dedent(script), limits=limits)
    assert (outcome.end, outcome.exit_code) == (End.MEMORY, None)


async def test_file_size_is_limited(run: Run, workdir: Path):
    script = "f = open('big', 'wb')\nwhile True: f.write(bytes(1 << 20))"
    outcome = await run(PYTHON, "-c", script, limits=replace(QUICK, file_bytes=4 << 20))
    assert outcome.exit_code != 0
    assert (workdir / "big").stat().st_size <= 4 << 20


async def test_disk_usage_is_limited(run: Run):
    script = "import os\nn = 0\nwhile True:\n  n += 1; open(str(n), 'wb').write(os.urandom(1 << 20))"
    outcome = await run(PYTHON, "-c", script, limits=replace(QUICK, disk_bytes=32 << 20))
    assert outcome.end is End.DISK


async def test_deleted_open_files_count(run: Run):
    script = """
        import os
        file = open('ghost', 'wb'); os.unlink('ghost')
        while True: file.write(os.urandom(1 << 20))
    """
    outcome = await run(PYTHON, "-c", textwrap.dedent(script), limits=replace(QUICK, disk_bytes=32 << 20))
    assert outcome.end is End.DISK


async def test_number_of_files_is_limited(run: Run):
    script = "n = 0\nwhile True:\n  n += 1; open(str(n), 'w').close()"
    outcome = await run(PYTHON, "-c", script, limits=replace(QUICK, inodes=500))
    assert outcome.end is End.INODES


async def test_processor_time_is_limited(run: Run):
    outcome = await run(PYTHON, "-c", "while True: pass", limits=replace(QUICK, cpu_s=1))
    assert outcome.end is End.CPU


async def test_fork_bomb_is_stopped(run: Run):
    script = """
        import os, time
        made = 0
        try:
            while made < 300:
                if os.fork() == 0:
                    time.sleep(60)
                made += 1
        except BlockingIOError:
            print('refused after', made)
    """
    limits = replace(QUICK, processes=24)
    outcome = await run(PYTHON, "-c", textwrap.dedent(script), limits=limits)
    assert outcome.end is End.PROCESSES or "refused after" in outcome.stdout.text


async def test_threads_count_as_processes(run: Run):
    script = """
        import threading, time
        made = 0
        try:
            while made < 200:
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
                made += 1
            time.sleep(5)
        except RuntimeError:
            print('refused after', made)
    """
    limits = replace(QUICK, processes=24)
    outcome = await run(PYTHON, "-c", textwrap.dedent(script), limits=limits)
    assert outcome.end is End.PROCESSES or "refused after" in outcome.stdout.text


async def test_temporary_files_are_bounded(run: Run):
    script = """
        import os
        left = 64
        with open(os.environ["TMPDIR"] + "/big", "wb") as file:
            while left:
                file.write(bytes(1 << 20))
                left -= 1
        print("all of it")
    """
    limits = replace(QUICK, tmp_bytes=8 << 20, disk_bytes=8 << 20, file_bytes=16 << 20)
    outcome = await run(PYTHON, "-c", textwrap.dedent(script), limits=limits)
    assert "all of it" not in outcome.stdout.text


async def test_process_that_ignores_signals_is_killed(run: Run):
    script = """
        import os, signal, time
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sleep", ["sleep", "76.25"])
        time.sleep(60)
    """
    outcome = await run(PYTHON, "-c", textwrap.dedent(script), limits=replace(QUICK, timeout_s=1))
    assert outcome.end is End.TIMEOUT
    assert processes_with("76.25") == []


async def test_commands_run_concurrently(run: Run):
    outcomes = await asyncio.gather(*(run("sh", "-c", f"sleep 0.1; echo {n}") for n in range(6)))
    assert [outcome.stdout.text for outcome in outcomes] == [f"{n}\n" for n in range(6)]


async def test_cancelled_command_is_dead_when_cancel_returns(run: Run, workdir: Path):
    task = asyncio.create_task(run("sh", "-c", "sleep 73.25 & touch started; sleep 73.25"))  # type: ignore[arg-type]
    await until((workdir / "started").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert processes_with("73.25") == []


async def test_repeated_cancels_leave_no_processes(workdir: Path):
    run = runner(make(next(iter(ISOLATING))), workdir)
    for n in range(30):
        task = asyncio.create_task(run("sh", "-c", f"touch {n}; exec sleep 74.25"))  # type: ignore[arg-type]
        await until((workdir / f"{n}").exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert processes_with("74.25") == []


async def test_event_loop_stays_responsive_during_output_flood(run: Run):
    flood = asyncio.ensure_future(run("yes", limits=replace(QUICK, timeout_s=1)))
    use = await watch_loop(flood)
    assert flood.result().end is End.TIMEOUT
    assert use.longest_s < 0.5


async def test_killed_platform_leaves_no_processes(sandbox: Backend, workdir: Path):
    code = f"""
        import asyncio
        from pathlib import Path
        from forge.sandbox.sandboxes import candidates
        from forge.sandbox.models import Command, Level
        from forge.sandbox.registry_gateway.access import Registries
        [candidate, *_] = [each for each in candidates(Registries()) if each.name == {sandbox.name!r}]
        argv = ("sh", "-c", "setsid sleep 75.25 & touch started; sleep 75.25")
        asyncio.run(candidate.make(Level.NONE).run(Command(argv, Path({str(workdir)!r}))))
    """
    homes = workdir / "homes"
    homes.mkdir()
    platform = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", textwrap.dedent(code)], env=os.environ | {"TMPDIR": str(homes)}
    )
    await until((workdir / "started").exists)
    os.kill(platform.pid, signal.SIGKILL)
    platform.wait()
    await until(lambda: processes_with("75.25") == [] and not any(homes.iterdir()))


async def test_environment_is_not_inherited(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FORGE_CANARY", "seen")
    outcome = await run("env", env={"GIVEN": "1"})
    names = {line.partition("=")[0] for line in outcome.stdout.text.splitlines()}
    assert "GIVEN" in names
    assert "FORGE_CANARY" not in names


async def test_open_files_of_the_platform_are_not_inherited(run: Run, tmp_path: Path):
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        outcome = await run("sh", "-c", "ls /proc/self/fd")
    assert {int(number) for number in outcome.stdout.text.split()} <= {0, 1, 2, 3}


@contextmanager
def many_open_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, MANY + 500), hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(MANY)]
    try:
        yield
    finally:
        for fd in opened:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_platform_with_many_open_files_runs_and_stops_commands(run: Run):
    with many_open_files():
        before = len(files_in(Path("/proc/self/fd")))
        outcome = await run("echo", "done")
        stopped = await run("sleep", "60", limits=replace(QUICK, timeout_s=0.1))
        assert len(files_in(Path("/proc/self/fd"))) == before
    assert (outcome.exit_code, outcome.stdout.text) == (0, "done\n")
    assert stopped.end is End.TIMEOUT


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"argv": ()}, "argv"),
        ({"argv": ("",)}, "argv"),
        ({"argv": ("a\0b",)}, "argv"),
        ({"argv": ("true", "\ud800")}, "argv"),
        ({"env": {"A": "\ud800"}}, "argv"),
        ({"env": {"A=B": "x"}}, "env"),
        ({"limits": Limits(timeout_s=float("nan"))}, "limits"),
        ({"workdir": Path("/")}, "workdir"),
        ({"workdir": Path("/usr/share")}, "workdir"),
        ({"workdir": Path("relative")}, "workdir"),
        ({"workdir": Path("/nowhere/at/all")}, "workdir"),
        ({"workdir": Path("/tmp/..")}, "workdir"),
        ({"protected": ("../outside",)}, "protected"),
        ({"protected": ("link",)}, "protected"),
    ],
)
async def test_invalid_commands_are_refused(workdir: Path, change: dict[str, object], field: str):
    (workdir / "link").symlink_to("/etc")
    command = replace(Command(("true",), workdir), **change)  # type: ignore[arg-type]
    with pytest.raises(Invalid) as refused:
        await make(next(iter(ISOLATING))).run(command)
    assert refused.value.field == field


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
async def test_root_runs_command_as_work_tree_owner(sandbox: Backend):
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as name:
        workdir = Path(name)
        os.chown(workdir, NOBODY, NOBODY)
        outcome = await sandbox.run(Command(("sh", "-c", "echo x > made; ulimit -n"), workdir, QUICK))
        assert outcome.stdout.text == "1024\n", outcome
        if sandbox.name == "bubblewrap":
            assert (workdir / "made").stat().st_uid == NOBODY


async def test_host_python_and_git_work_inside(run: Run, workdir: Path):
    outcome = await run(
        "sh", "-c", "python3 -c 'import ssl, sqlite3, json' && git init -q repo && git -C repo status"
    )
    assert outcome.exit_code == 0, outcome
    assert "home" not in " ".join(map(str, TOOLS.read_only)).split("/")[-1:]


def test_default_network_is_none(workdir: Path):
    assert Command(("true",), workdir).network is Network.NONE
