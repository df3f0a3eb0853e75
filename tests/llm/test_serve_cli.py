"""`forge models serve` as a command."""

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from tests.demo.clients import ask
from tests.support.terminal import FORGE, Terminal, clean_environment

SCRIPTS = Path(__file__).parents[2] / "src/forge/demo/scripts"
BUNDLED = sorted(path.stem for path in SCRIPTS.glob("*.yaml"))


@pytest.fixture
def forge(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


@contextmanager
def running(*arguments: str) -> Iterator[tuple[str, str]]:
    """Return the printed output and the address in it."""
    command = [*FORGE, "models", "serve", *arguments, "--port", "0"]
    process = subprocess.Popen(command, env=clean_environment(), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    while "Ctrl-C" not in lines[-1]:
        lines.append(process.stdout.readline())
    try:
        yield "".join(lines), re.findall(r"http://127.0.0.1:\d+", lines[0])[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_server_prints_its_url_answers_and_logs(tmp_path: Path):
    log = tmp_path / "requests.jsonl"
    with running("coding", "--log", str(log)) as (page, url):
        assert f"forge models demo --url {url}" in page
        answer = httpx2.post(f"{url}/v1/messages", json=ask()).json()
    assert [block["type"] for block in answer["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert len(log.read_text().splitlines()) == 1
    assert log.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_scripts_are_valid(forge: Terminal, name: str):
    said = forge("models", "serve", name, "--check")
    assert (said.code, said.err) == (0, "")
    assert "is valid" in said.out


def test_invalid_script_has_exit_code_2_and_lists_all_problems(forge: Terminal, tmp_path: Path):
    script = tmp_path / "wrong.yaml"
    script.write_text("scenes:\n  a:\n    turns:\n      - text: 3\n      - fault: bang\n")
    said = forge("models", "serve", str(script))
    assert said.code == 2
    assert f"{script}:4: scenes.a.turns[0].text" in said.err
    assert f"{script}:5: scenes.a.turns[1].fault[0].kind" in said.err
    assert "docs/guides/scripted-models.md" in said.err


def test_missing_script_has_exit_code_2_and_lists_bundled_scripts(forge: Terminal):
    said = forge("models", "serve", "nothing")
    assert said.code == 2
    assert ", ".join(BUNDLED) in said.err


def test_unwritable_log_has_exit_code_2(forge: Terminal, tmp_path: Path):
    said = forge("models", "serve", "--port", "0", "--log", str(tmp_path / "none" / "log"))
    assert said.code == 2
    assert "cannot start" in said.err
