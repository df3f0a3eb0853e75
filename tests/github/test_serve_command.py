"""`forge github serve`."""

import re
import signal
import socket
import subprocess
from pathlib import Path

import httpx2
import pytest
from tests.support.terminal import FORGE, Terminal, clean_environment


@pytest.fixture
def forge(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def test_server_prints_its_url_and_a_token_that_works(tmp_path: Path):
    command = [*FORGE, "github", "serve", "--port", "0", "--folder", "repositories"]
    process = subprocess.Popen(
        command, env=clean_environment(), stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    while "Ctrl-C" not in lines[-1]:
        lines.append(process.stdout.readline())
    try:
        printed = "".join(lines)
        url = re.findall(r"FORGE_GITHUB_URL=(\S+)", printed)[0]
        token = re.findall(r"ghp_\w+", printed)[0]
        user = httpx2.get(f"{url}/api/v3/user", headers={"authorization": f"Bearer {token}"})
        assert user.json()["login"] == "octo"
        assert len(list((tmp_path / "repositories").glob("*.git"))) == 2
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_folder_with_content_is_refused(forge: Terminal, tmp_path: Path):
    (tmp_path / "precious").write_text("x")
    said = forge("github", "serve", "--folder", str(tmp_path))
    assert (said.code, "is not empty" in said.err) == (2, True)


def test_used_port_is_refused(forge: Terminal):
    with socket.create_server(("127.0.0.1", 0)) as used:
        said = forge("github", "serve", "--port", str(used.getsockname()[1]))
    assert (said.code, "cannot start" in said.err) == (2, True)
