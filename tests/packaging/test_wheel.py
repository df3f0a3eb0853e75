"""The installed wheel serves all of Forge on a machine with only Python."""

import json
import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from tests.support.timeouts import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).parent / "uv"
READY_WITHIN_S = 120
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}

Uv = Callable[..., None]


@pytest.fixture(scope="module")
def uv(script) -> Uv:
    env = {**os.environ, **script("indexes").uv_env(Path(sys.executable), os.environ)}

    def run(*arguments: str | Path) -> None:
        done = subprocess.run(
            [UV, *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return run


@pytest.fixture(scope="module")
def wheel(uv: Uv, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    uv("build", "--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir", out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def forge(uv: Uv, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed command in an otherwise empty environment."""
    venv = tmp_path_factory.mktemp("installed")
    uv("venv", "--quiet", "--allow-existing", "--python", sys.executable, venv)
    uv(
        "pip",
        "install",
        "--python",
        venv / "bin/python",
        "--require-hashes",
        "-r",
        ROOT / "locks/runtime.txt",
    )
    uv("pip", "install", "--python", venv / "bin/python", "--no-deps", wheel)
    return venv / "bin/forge"


@pytest.fixture(scope="module")
def page(forge: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A client of the installed server, which runs outside of the checkout and without Node."""
    folder = tmp_path_factory.mktemp("machine")
    (folder / "bin").mkdir()
    command = [forge, "serve", "--host", "127.0.0.1", "--port", "0", "--data-dir", folder / "data"]
    env = {"PATH": str(folder / "bin"), "HOME": str(folder), "LANG": "C.UTF-8"}
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            with httpx2.Client(base_url=wait_for_url(server, folder), trust_env=False, timeout=60) as client:
                yield client
        finally:
            stop(server)


def wait_for_url(server: subprocess.Popen[bytes], folder: Path) -> str:
    deadline = time.monotonic() + READY_WITHIN_S
    ready = folder / "data/server.json"
    while time.monotonic() < deadline and server.poll() is None:
        if ready.is_file():
            return json.loads(ready.read_text())["url"]
        time.sleep(0.1)
    pytest.fail(f"forge serve was not ready (exit code {server.poll()}):\n{(folder / 'log').read_text()}")


def stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def test_wheel_contains_the_web_app(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "forge/web/index.html" in names
    assert [name for name in names if re.fullmatch(r"forge/web/assets/.+\.js", name)]


def test_wheel_contains_portable_skill_runtimes(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        built = {name for name in archive.namelist() if name.startswith("forge/skills/wasm/built/")}
    assert built == {f"forge/skills/wasm/built/{name}" for name in ("js.wasm", "py.wasm", "runtimes.json")}


def test_wheel_contains_nothing_of_the_checkout(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"forge"}


def test_web_app_needs_no_node(page: httpx2.Client):
    answer = page.get("/", headers=BROWSER)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert 'id="root"' in answer.text


def test_root_path_accepts_any_type(page: httpx2.Client):
    assert page.get("/").text == page.get("/", headers=BROWSER).text
    assert (page.head("/").status_code, page.get("/nope").status_code) == (200, 404)


def test_deep_link_serves_the_web_app(page: httpx2.Client):
    answer = page.get("/settings/keys", headers=BROWSER)
    assert (answer.status_code, answer.text) == (200, page.get("/", headers=BROWSER).text)


def test_assets_of_the_page_are_served(page: httpx2.Client):
    assets = re.findall(r'(?:src|href)="(/assets/[^"]+)"', page.get("/", headers=BROWSER).text)
    assert assets
    assert {asset: page.get(asset).status_code for asset in assets} == dict.fromkeys(assets, 200)


def test_unknown_api_path_is_a_json_404(page: httpx2.Client):
    answer = page.get("/api/v1/nope", headers=BROWSER)
    assert answer.status_code == 404
    assert "json" in answer.headers["content-type"]
    assert isinstance(answer.json(), dict)


def test_missing_asset_is_404(page: httpx2.Client):
    assert page.get("/assets/nope.js", headers=BROWSER).status_code == 404
