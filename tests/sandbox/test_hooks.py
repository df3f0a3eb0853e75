"""Projects with hooks that execute code: test runners, package managers, git, the interpreter."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.sandbox.conftest import ISOLATING, PYTHON, QUICK, Run, make, runner
from tests.sandbox.world import World, world

from forge.sandbox.models import Outcome

PATIENT = replace(QUICK, timeout_s=60, memory_bytes=2 << 30, processes=128)
VENV = Path(sys.prefix)

PAYLOAD = """
import os, pathlib, socket
pathlib.Path("hook-ran").touch()
def attempt(what):
    try:
        print("LO" + "OT", what())
    except Exception as error:
        print("stopped", error)
attempt(lambda: pathlib.Path({secret!r}).read_text())
attempt(lambda: pathlib.Path({outside!r}).write_text("x"))
attempt(lambda: socket.create_connection(("127.0.0.1", {port}), timeout=2))
attempt(lambda: os.kill({decoy}, 0))
"""


@pytest.fixture
def there() -> Iterator[World]:
    with world() as built:
        shutil.rmtree(built.workdir / ".git")
        yield built


@pytest.fixture(params=ISOLATING)
def run(request: pytest.FixtureRequest, there: World) -> Run:
    return runner(make(request.param), there.workdir)


@pytest.fixture
def payload(there: World) -> str:
    return PAYLOAD.format(
        secret=str(there.folder / "data/forge.db"),
        outside=str(there.folder / "outside/from-hook"),
        port=there.listeners["tcp"].getsockname()[1],
        decoy=there.decoy.pid,
    )


@pytest.fixture
def contained(there: World) -> Callable[[Outcome], None]:
    """Assert that the hook ran and got access to nothing."""

    def check(outcome: Outcome) -> None:
        said = outcome.stdout.text + outcome.stderr.text
        assert (there.workdir / "hook-ran").exists(), said
        assert "LOOT" not in said
        assert there.token not in said
        assert not (there.folder / "outside/from-hook").exists()
        with pytest.raises(BlockingIOError):
            there.listeners["tcp"].accept()

    return check


Contained = Callable[[Outcome], None]


async def test_conftest_is_contained(run: Run, there: World, payload: str, contained: Contained):
    (there.workdir / "conftest.py").write_text(payload)
    (there.workdir / "test_it.py").write_text("def test_it(): pass\n")
    argv = (str(VENV / "bin/python"), "-m", "pytest", "-q", "-s", "test_it.py")
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    contained(await run(*argv, limits=PATIENT, read_only=(VENV,), env=env))


async def test_sitecustomize_is_contained(run: Run, there: World, payload: str, contained: Contained):
    (there.workdir / "sitecustomize.py").write_text(payload)
    contained(await run(PYTHON, "-c", "print('hello')", env={"PYTHONPATH": str(there.workdir)}))


async def test_module_shadowing_standard_library_is_contained(
    run: Run, there: World, payload: str, contained: Contained
):
    (there.workdir / "json.py").write_text(payload)
    contained(await run(PYTHON, "-c", "import json"))


async def test_setup_py_is_contained(run: Run, there: World, payload: str, contained: Contained):
    (there.workdir / "setup.py").write_text(payload)
    contained(await run(PYTHON, "setup.py", "build"))


@pytest.mark.skipif(not shutil.which("npm"), reason="needs npm")
async def test_npm_scripts_are_contained(run: Run, there: World, payload: str, contained: Contained):
    (there.workdir / "hook.py").write_text(payload)
    scripts = {"pretest": f"{PYTHON} hook.py", "test": "true"}
    (there.workdir / "package.json").write_text(json.dumps({"name": "x", "scripts": scripts}))
    contained(await run("npm", "test", limits=PATIENT))


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
async def test_makefile_is_contained(run: Run, there: World, payload: str, contained: Contained):
    (there.workdir / "hook.py").write_text(payload)
    (there.workdir / "Makefile").write_text(f"$(info $(shell {PYTHON} hook.py))\nall:\n\ttrue\n")
    contained(await run("make"))


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
@pytest.mark.parametrize(
    ("config", "action"),
    [
        ("core.fsmonitor", ("status",)),
        ("alias.x", ("x",)),
        ("core.sshCommand", ("ls-remote", "ssh://nowhere/x")),
        ("diff.external", ("diff", "--no-index", "a", "b")),
    ],
)
async def test_git_configuration_is_contained(
    run: Run, there: World, payload: str, contained: Contained, config: str, action: tuple[str, ...]
):
    (there.workdir / "hook.py").write_text(payload)
    (there.workdir / "a").write_text("a")
    (there.workdir / "b").write_text("b")
    hook = f"{PYTHON} {there.workdir}/hook.py"
    value = f"!{hook}" if config.startswith("alias") else hook
    script = 'git init -q repo --template= && cd repo && git config "$0" "$1" && cd .. && shift && git -C repo "$@"'
    moved = f"{script}; mv repo/hook-ran . 2>/dev/null; true"
    if "--no-index" in action:
        action = ("diff", "--no-index", "../a", "../b")
    contained(await run("sh", "-c", moved, config, value, *action))
