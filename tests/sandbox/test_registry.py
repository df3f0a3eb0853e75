"""Install packages through the gateway from the registries that pip and npm are configured for."""

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import httpx2
import pytest
from tests.sandbox.conftest import ISOLATING, PYTHON, QUICK, Run, make

from forge.sandbox.backends.backend import Backend
from forge.sandbox.models import Network
from forge.sandbox.registry_gateway.upstreams import Upstreams, read_upstreams

PATIENT = replace(QUICK, timeout_s=120, memory_bytes=2 << 30, processes=128)


@cache
def upstreams() -> Upstreams:
    return read_upstreams()


def need(url: str | None) -> None:
    if url is None:
        pytest.skip("nothing is configured")
    try:
        httpx2.get(url, timeout=20).raise_for_status()
    except httpx2.HTTPError as error:
        pytest.skip(f"the configured registry does not answer: {type(error).__name__}")


@pytest.fixture
def pip_upstream() -> None:
    need(f"{upstreams().pip[0].url}/six/" if upstreams().pip else None)


@pytest.fixture
def npm_upstream() -> None:
    npm = upstreams().npm
    need(f"{npm.url}/left-pad" if npm and shutil.which("npm") else None)


@pytest.fixture
def sandbox(request: pytest.FixtureRequest) -> Backend:
    return make(request.param)


pytestmark = pytest.mark.parametrize("sandbox", ISOLATING, indirect=True)


@pytest.mark.usefixtures("pip_upstream")
async def test_pip_installs_through_the_gateway(run: Run, workdir: Path):
    install = (PYTHON, "-m", "pip", "install", "--quiet", "--target", "here", "six")
    outcome = await run(*install, network=Network.REGISTRY, limits=PATIENT)
    assert outcome.exit_code == 0, outcome
    assert (workdir / "here/six.py").is_file()
    [wheel] = [name for name in outcome.fetched if not name.endswith(".metadata")]
    assert wheel.startswith("six-")
    assert wheel.endswith(".whl")


@pytest.mark.usefixtures("npm_upstream")
async def test_npm_installs_through_the_gateway(run: Run, workdir: Path):
    (workdir / "package.json").write_text('{"name": "x", "version": "1.0.0"}')
    outcome = await run("npm", "install", "left-pad@1.3.0", network=Network.REGISTRY, limits=PATIENT)
    assert outcome.exit_code == 0, outcome
    assert (workdir / "node_modules/left-pad/index.js").is_file()
    assert outcome.fetched == ("left-pad-1.3.0.tgz",)


@pytest.mark.usefixtures("pip_upstream")
async def test_only_the_gateway_is_reachable(run: Run):
    script = f"""
import socket, urllib.parse
host = urllib.parse.urlsplit({upstreams().pip[0].url!r}).hostname
for address in [(host, 443), ("1.1.1.1", 53), ("127.0.0.1", 22)]:
    try:
        socket.create_connection(address, timeout=3); print("reached", address)
    except OSError as error:
        print("no")
"""
    outcome = await run(PYTHON, "-c", script, network=Network.REGISTRY)
    assert outcome.stdout.text == "no\nno\nno\n", outcome
