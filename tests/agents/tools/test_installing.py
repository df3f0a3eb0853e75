"""Install packages for a project from the configured registries."""

import json
import shutil
from pathlib import Path

import pytest
from tests.agents.tools.conftest import Use
from tests.sandbox.test_registry import need, upstreams


async def test_first_install_creates_environment_for_tests(use: Use, root: Path):
    need(f"{upstreams().pip[0].url}/six/" if upstreams().pip else None)
    (root / "requirements.txt").write_text("six\n")
    (root / "test_it.py").write_text(
        "import sys, unittest, six\n\nclass T(unittest.TestCase):\n"
        "    def test(self): self.assertTrue(sys.prefix.endswith('/.venv'))\n"
    )
    assert (await use("run_tests", command="python -m unittest")).is_error
    (root / ".venv" / "bin").mkdir(parents=True)  # an installation that was started and not finished
    installed = await use("run_command", command="pip install -r requirements.txt", timeout=200)
    assert not installed.is_error, installed.text
    assert installed.detail.fetched and any(name.startswith("six-") for name in installed.detail.fetched)
    tested = await use("run_tests", command="python -m unittest")
    assert not tested.is_error, tested.text
    refused = await use("run_command", command="pip install no-such-package-of-forge-tests")
    assert refused.is_error and refused.detail.exit_code == 1


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
async def test_node_packages_are_installed_into_project(use: Use, root: Path):
    npm = upstreams().npm
    need(f"{npm.url}/left-pad" if npm else None)
    (root / "package.json").write_text('{"name": "x", "version": "1.0.0"}')
    installed = await use("run_command", command="npm install left-pad@1.3.0", timeout=200)
    assert not installed.is_error, installed.text
    assert installed.detail.fetched == ["left-pad-1.3.0.tgz"]
    assert "left-pad@1.3.0" in (await use("run_command", command="npm ls")).text


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
async def test_install_executes_no_project_code(use: Use, root: Path):
    npm = upstreams().npm
    need(f"{npm.url}/left-pad" if npm else None)
    package = {
        "scripts": {"postinstall": "touch executed"},
        "dependencies": {"x": "git+https://example.com/x.git"},
    }
    (root / "package.json").write_text(json.dumps(package))
    (root / ".npmrc").write_text("ignore-scripts=false\ngit=./git.sh\n")
    (root / "node_modules" / ".bin").mkdir(parents=True)
    for name in ("git.sh", "node_modules/.bin/npm", "node_modules/.bin/node", "node_modules/.bin/git"):
        (root / name).write_text(f"#!/bin/sh\ntouch {root}/executed\n")
        (root / name).chmod(0o755)
    assert (await use("run_command", command="npm install")).is_error  # git is not available
    (root / "package.json").write_text(json.dumps({**package, "dependencies": {}}))
    installed = await use("run_command", command="npm install")
    assert not installed.is_error, installed.text
    assert not (root / "executed").exists()


async def test_failed_environment_creation_is_reported(use: Use, root: Path):
    (root / ".venv").write_text("in the way")
    outcome = await use("run_command", command="pip install six")
    assert (
        outcome.is_error and "Python environment (.venv) cannot be created: exited. Error: " in outcome.text
    )


SETUP = """
import socket, setuptools
try:
    socket.create_connection(("127.0.0.1", 4873), 1)
    raise SystemExit("the registry can be reached")
except OSError:
    setuptools.setup(name="mine", version="1", py_modules=["mine"], install_requires=REQUIRES)
"""


async def test_project_build_has_no_registry_access(use: Use, root: Path):
    need(f"{upstreams().pip[0].url}/wheel/" if upstreams().pip else None)
    (root / "mine.py").write_text("value = 1\n")
    (root / "pip.py").write_text("raise SystemExit('taken for pip')\n")
    (root / "setup.py").write_text(SETUP.replace("REQUIRES", "['no-such-package-of-forge-tests']"))
    missing = await use("run_command", command="pip install .", timeout=200)
    assert missing.is_error and "A project is installed without access to the registry" in missing.text
    (root / "setup.py").write_text(SETUP.replace("REQUIRES", "['six']"))
    first = await use("run_command", command="pip install setuptools wheel six", timeout=200)
    assert not first.is_error, first.text
    built = await use("run_command", command="pip install -e .", timeout=200)
    assert not built.is_error, built.text
    assert built.detail.fetched is None and "mine" in (await use("run_command", command="pip list")).text
