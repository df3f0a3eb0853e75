"""The launcher when it is terminated at a critical moment."""

import signal
import textwrap
from pathlib import Path

import pytest
from tests.sandbox.conftest import WORKING, make, runner
from tests.sandbox.test_running import processes_with

from forge.sandbox.backends import launched_process


@pytest.mark.parametrize("backend", [name for name in WORKING if name in {"landlock", "plain"}])
async def test_launcher_killed_after_start_kills_command(
    backend: str, workdir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    hasty = f"""
        import os, runpy, signal
        fork = os.fork
        def told_to_end_after_it():
            if child := fork():
                while not os.path.exists({str(workdir / "started")!r}):
                    pass
                os.kill(os.getpid(), signal.SIGTERM)
            return child
        os.fork = told_to_end_after_it
        runpy.run_path({str(launched_process.LAUNCHER_FILE)!r}, run_name="__main__")
    """
    (tmp_path / "hasty.py").write_text(textwrap.dedent(hasty))
    monkeypatch.setattr(launched_process, "LAUNCHER_FILE", tmp_path / "hasty.py")
    outcome = await runner(make(backend), workdir)("sh", "-c", "touch started; exec sleep 77.25")
    assert outcome.exit_code == 128 + signal.SIGKILL
    assert processes_with("77.25") == []
