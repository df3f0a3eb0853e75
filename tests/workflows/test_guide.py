"""docs/guides/workflows.md is played from its first line to its last, as somebody would who reads it."""

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.models import StartModels
from tests.support.server import Server, wait_until
from tests.support.terminal import Said, Terminal

from forge.workflows.definition.reading import read_source

PAGE = (Path(__file__).parents[2] / "docs/guides/workflows.md").read_text()
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
MORNING = next(text for kind, text in BLOCKS if kind == "yaml")
FRAGMENTS = [text for kind, text in BLOCKS if kind == "yaml"][1:]
TRIGGERS = next(text for text in FRAGMENTS if text.startswith("triggers:"))
WEBHOOK = re.search(r"  - type: webhook\n(    .*\n)+", TRIGGERS)
ADDRESS = "http://127.0.0.1:8000"
FAILS = {"forge workflow trigger morning --wait": 1}
SECRET = "a-secret-of-the-guide"


def commands(block: str) -> Iterator[str]:
    for line in block.replace("\\\n", " ").splitlines():
        yield re.sub(r"\s{2,}#.*", "", line).strip()


class Reader:
    """Types what the guide says, and looks up when a question has to be there first."""

    def __init__(self, server: Server, models: str) -> None:
        self._server = server
        self._models = models
        self._forge = Terminal(server.data_dir, EDITOR="true", VISUAL="true")

    def play(self, block: str) -> None:
        if "curl" in block:
            self._in_bash(block)
            return
        for command in commands(block):
            self._play(command)

    def _play(self, command: str) -> None:
        if command.startswith("kill -9"):
            wait_until(self._is_asked, what="the question")
            self._server.kill()
        elif command.endswith("forge serve"):
            if self._server.process.poll() is not None:
                self._server.start()
        elif not command.startswith("forge demo"):
            said = self._type(command)
            assert said.code == FAILS.get(command, 0), f"{command}\n{said.out}\n{said.err}"

    def _type(self, command: str) -> Said:
        words = shlex.split(command)[1:]
        if words[:2] == ["models", "demo"]:
            words += ["--url", self._models]
        if words[:2] == ["workflow", "approve"]:
            wait_until(self._is_asked, what="the question")
        return self._forge(*words, stdin=SECRET)

    def _is_asked(self) -> bool:
        newest = self._server.call("GET", "/api/v1/workflows/morning/runs?limit=1")[0]["id"]
        steps = self._server.call("GET", f"/api/v1/workflow-runs/{newest}")["steps"]
        return any(step["status"] == "waiting" for step in steps)

    def _in_bash(self, block: str) -> None:
        environment = {**os.environ, "SECRET": SECRET, "KEY": self._server.key}
        text = block.replace(ADDRESS, self._server.url).replace("curl ", "curl -sS --fail-with-body ")
        done = subprocess.run(
            ["bash", "-ec", text], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert '"status":"submitted"' in done.stdout


def test_the_guide_can_be_played(
    start_server: Callable[..., Server],
    model_server: StartModels,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    server = start_server(FORGE_HTTP_ALLOW="127.0.0.1")
    monkeypatch.chdir(tmp_path)
    file = Path("morning.yaml")
    models = model_server().url  # a server that is killed comes back with another port
    reader = Reader(server, models)
    assert WEBHOOK
    for kind, text in BLOCKS:
        if kind == "sh":
            reader.play(text)
        elif text is MORNING:
            file.write_text(text.replace(f"{ADDRESS}/health", f"{models}/_script/requests"))
        elif text is TRIGGERS:
            file.write_text(f"{file.read_text()}triggers:\n{WEBHOOK[0]}")


def test_what_is_shown_in_pieces_fits_together():
    """With the two steps that are only named."""
    steps = "".join(text for text in FRAGMENTS if text is not TRIGGERS)
    named = "".join(
        f"  - {{id: {name}, type: wait, config: {{seconds: 0}}}}\n" for name in ("shorten", "send")
    )
    found = read_source(MORNING.replace("outputs:", f"{steps}{named}outputs:") + TRIGGERS)
    assert found.problems == []
