"""Run the commands of a documentation page in order and compare their output with the page."""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.support.pages import Block, CommandExample, Page
from tests.support.server import Server, wait_until
from tests.support.terminal import CommandResult, Screen, Terminal, clean_environment

ADDRESS = "http://127.0.0.1:8000"
COMMANDS = ("forge", ".venv/bin/forge")
NEEDS_BASH = re.compile(r"[~$|<>&;\n]")
GATE_ANSWER = re.compile(r"forge (workflow (approve|reject)|gates answer) ")
COMMAND_TIMEOUT_S = 300


def _do_nothing(runner: "PageRunner") -> None: ...


@dataclass(frozen=True)
class PageSetup:
    """The prerequisites of a page, and how some of its commands are run in a test."""

    prepare: Callable[["PageRunner"], None] = _do_nothing
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    exit_codes: Mapping[str, int] = field(default_factory=dict[str, int])  # by command; default 0
    stdin: Mapping[str, str] = field(default_factory=dict[str, str])  # by command
    replacements: Mapping[str, str | Callable[["PageRunner"], str]] = field(
        default_factory=dict[str, "str | Callable[[PageRunner], str]"]
    )  # of placeholders in commands and files
    before: Mapping[str, Callable[["PageRunner"], None]] = field(
        default_factory=dict[str, "Callable[[PageRunner], None]"]
    )
    uses_shell: bool = False  # run every command in its own process
    terminal_commands: tuple[str, ...] = ()  # commands that prompt only in a terminal
    background: tuple[str, ...] = ()  # commands that end only after later ones have run


class PageRunner:
    """Run pages with a separate home, working directory and server."""

    def __init__(
        self,
        folder: Path,
        setup: PageSetup,
        *,
        models: str,
        new_database: Callable[[], str],
        skipped: Collection[str] = (),
    ) -> None:
        self.setup = setup
        self.models = models
        self.github = ""
        self.new_database = new_database
        self._skipped = skipped
        self.home = folder / "home"
        self.folder = self.home / "work"
        self.folder.mkdir(parents=True)
        self.data_dir = folder / "data"
        self.server = Server(self.data_dir, HOME=str(self.home), **setup.environment)
        self.resources = contextlib.ExitStack()
        """Closed after the page."""
        self._workers: list[Server] = []
        self._background: dict[str, subprocess.Popen[str]] = {}
        self._stand_ins: list[subprocess.Popen[str]] = []
        self._state_folder = folder / "notes"
        self._state_folder.mkdir()
        self.environment = self._make_environment(folder / "bin")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self._background.values(), *self._stand_ins):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        for server in (*self._workers, self.server):
            server.stop()
        self.resources.close()

    def run(self, page: Page) -> None:
        if not any(map(_is_serve, page.commands())):
            self.server.start()
        self.setup.prepare(self)
        for block in page.blocks:
            self._run_block(page, block)
        for command, process in self._background.items():
            self._wait_for(command, process)

    def _run_block(self, page: Page, block: Block) -> None:
        if block.file:
            path = self.folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.substitute(block.text))
        for example in block.commands():
            try:
                self._run(example)
            except Exception as error:
                error.add_note(f"{page}:{block.line}: {example.command}")
                raise

    def _run(self, example: CommandExample) -> None:
        command = example.command
        if command in self._skipped:
            return
        if prepare := self.setup.before.get(command):
            prepare(self)
        if GATE_ANSWER.match(command) or command.startswith("kill "):
            wait_until(self.has_open_gate, what="an open gate")
        if command.startswith("kill "):
            self.server.kill()
        elif _is_serve(command):
            self._serve(command)
        elif command.startswith("forge worker"):
            self._workers.append(Server(self.data_dir, command="worker", **self._settings()))
            self._workers[-1].start()
        elif _is_stand_in(command):
            self._serve_stand_in(command)
        elif command in self.setup.background:
            self._background[command] = self._start(command)
        else:
            self._check(example, self.run_command(command, self.setup.stdin.get(command, "")))

    def _check(self, example: CommandExample, result: CommandResult) -> None:
        expected = self.setup.exit_codes.get(example.command, 0)
        assert result.code == expected, f"exit code {result.code}\n{result.out}\n{result.err}"
        printed = _collapse_whitespace(result.out + result.err)
        for line in example.output:
            for part in filter(None, map(str.strip, line.split("…"))):
                assert _collapse_whitespace(part) in printed, f"{part!r} is not in\n{printed}"

    def run_command(self, command: str, stdin: str = "") -> CommandResult:
        """Run a command in this process if it needs no shell, otherwise in bash."""
        in_terminal, command = command in self.setup.terminal_commands, self.substitute(command)
        if command.startswith("forge models demo") and "--" not in command:
            command += f" --url {self.models}"
        words = [] if self.setup.uses_shell or NEEDS_BASH.search(command) else shlex.split(command)
        if words and words[0] in COMMANDS and words[1] != "mcp":
            with contextlib.chdir(self.folder):
                if in_terminal:
                    return self._type_in_terminal(words[1:], stdin)
                terminal = Terminal(self.data_dir)
                terminal.environment = self.environment
                return terminal(*words[1:], stdin=stdin)
        process = self._start(command)
        out, err = process.communicate(stdin, timeout=COMMAND_TIMEOUT_S)
        self._load_shell_state()
        return CommandResult(process.returncode, out, err)

    def _type_in_terminal(self, words: list[str], stdin: str) -> CommandResult:
        screen = Screen(words, self.environment)
        try:
            screen.type(stdin)
            return CommandResult(screen.end(), screen.text, "")
        finally:
            screen.close()

    def _start(self, command: str) -> subprocess.Popen[str]:
        """Start a shell that saves its working directory and variables at exit, for the next command."""
        line = self.substitute(command).replace("curl ", "curl -sS --fail-with-body ")
        state_files = f"pwd >{self._state_folder}/folder; env -0 >{self._state_folder}/variables"
        script = f"set -a -o pipefail; trap '{state_files}' EXIT\n{line}"
        return subprocess.Popen(
            ["bash", "-c", script],
            cwd=self.folder,
            env={**self.environment, **self._key()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _load_shell_state(self) -> None:
        self.folder = Path((self._state_folder / "folder").read_text().rstrip("\n"))
        pairs = (self._state_folder / "variables").read_text().split("\0")
        self.environment = dict(pair.split("=", 1) for pair in pairs if pair)

    def _wait_for(self, command: str, process: subprocess.Popen[str]) -> None:
        out, err = process.communicate(timeout=COMMAND_TIMEOUT_S)
        expected = self.setup.exit_codes.get(command, 0)
        assert process.returncode == expected, f"{command}\n{out}\n{err}"

    def substitute(self, text: str) -> str:
        """Replace the placeholders and the address of the server."""
        for placeholder, value in self.setup.replacements.items():
            if placeholder in text:
                text = text.replace(placeholder, value if isinstance(value, str) else value(self))
        return text.replace(ADDRESS, self.server.url) if ADDRESS in text else text

    def has_open_gate(self) -> bool:
        return bool(self.server.call("GET", "/api/v1/gates?status=open"))

    def _serve(self, command: str) -> None:
        if (words := shlex.split(command.rstrip("& ")))[0] == "make":
            words = []
        assignments = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        if self.server.is_running:
            return
        self.server = Server(self.data_dir, **self._settings(), **assignments)
        self.server.start()

    def _settings(self) -> dict[str, str]:
        """Return the environment of a server, with the variables exported by earlier commands."""
        exported = {name: value for name, value in self.environment.items() if name.startswith("FORGE_")}
        return {"HOME": str(self.home), **self.setup.environment, **exported}

    def _serve_stand_in(self, command: str) -> None:
        """Start scripted models or the GitHub double on a free port and leave it running."""
        command = re.sub(r" --port \d+", "", command.rstrip("& ")) + " --port 0"
        process = self._start(command)
        self._stand_ins.append(process)
        assert process.stdout
        for line in process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                if " models " in command:
                    self.models = found[0]
                else:
                    self.github = found[0]
                return
        raise AssertionError(f"{command} printed no address")

    def _key(self) -> dict[str, str]:
        return {"KEY": self.server.key} if self.server.is_running else {}

    def _make_environment(self, bin_folder: Path) -> dict[str, str]:
        bin_folder.mkdir()
        forge = bin_folder / "forge"
        forge.write_text(f'#!/bin/sh\nexec {sys.executable} -m forge "$@"\n')
        forge.chmod(0o755)
        identity = {
            f"GIT_{role}_{key}": "ada@example.com"
            for role in ("AUTHOR", "COMMITTER")
            for key in ("NAME", "EMAIL")
        }
        return {
            **clean_environment(),
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "FORGE_DATA_DIR": str(self.data_dir),
            "EDITOR": "true",
            "VISUAL": "true",
            "GIT_CONFIG_NOSYSTEM": "1",
            **identity,
        }


def _is_serve(command: str) -> bool:
    return bool(re.match(r"([A-Z_]+=\S+ )*(\.venv/bin/)?forge serve\b|make run$", command))


def _is_stand_in(command: str) -> bool:
    return (
        bool(re.match(r"(\.venv/bin/)?forge (models|github) serve\b", command)) and "--check" not in command
    )


def _collapse_whitespace(text: str) -> str:
    return re.sub(r"\s+", " ", text)
