"""Runs the commands of a documentation page in order and compares their output with the page."""

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

from tests.support.pages import Block, Page, Shown
from tests.support.server import Server, wait_until
from tests.support.terminal import Said, Screen, Terminal, clean_environment

ADDRESS = "http://127.0.0.1:8000"
COMMANDS = ("forge", ".venv/bin/forge")
NEEDS_BASH = re.compile(r"[~$|<>&;\n]")
ANSWERS = re.compile(r"forge (workflow (approve|reject)|gates answer) ")
LONGEST_S = 300


def _nothing(reader: "Reader") -> None: ...


@dataclass(frozen=True)
class Play:
    """What a page takes for granted, and how some of its commands are typed in a test."""

    prepare: Callable[["Reader"], None] = _nothing
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    exits: Mapping[str, int] = field(default_factory=dict[str, int])  # 0 for all others
    typed: Mapping[str, str] = field(default_factory=dict[str, str])  # into a command that asks
    stands_for: Mapping[str, str | Callable[["Reader"], str]] = field(
        default_factory=dict[str, "str | Callable[[Reader], str]"]
    )  # by the words of a command or a file that are only examples
    before: Mapping[str, Callable[["Reader"], None]] = field(
        default_factory=dict[str, "Callable[[Reader], None]"]
    )
    is_in_shell: bool = False  # every command in a process of its own
    at_a_screen: tuple[str, ...] = ()  # they ask only where there is a terminal
    beside: tuple[str, ...] = ()  # typed in a terminal of their own: they end when others have done something


class Reader:
    """Somebody with a home, a folder to work in, and a server with its own data."""

    def __init__(
        self,
        folder: Path,
        play: Play,
        *,
        models: str,
        new_database: Callable[[], str],
        left_out: Collection[str] = (),
    ) -> None:
        self.play = play
        self.models = models
        self.new_database = new_database
        self._left_out = left_out
        self.home = folder / "home"
        self.folder = self.home / "work"
        self.folder.mkdir(parents=True)
        self.data_dir = folder / "data"
        self.server = Server(self.data_dir, HOME=str(self.home), **play.environment)
        self._others: list[Server] = []
        self._beside: dict[str, subprocess.Popen[str]] = {}
        self._model_servers: list[subprocess.Popen[str]] = []
        self._notes = folder / "notes"
        self._notes.mkdir()
        self.environment = self._usual_environment(folder / "bin")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self._beside.values(), *self._model_servers):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        for server in (*self._others, self.server):
            server.stop()

    def read(self, page: Page) -> None:
        if not any(map(_is_serve, page.commands())):
            self.server.start()
        self.play.prepare(self)
        for block in page.blocks:
            self._read_block(page, block)
        for command, process in self._beside.items():
            self._wait_for(command, process)

    def _read_block(self, page: Page, block: Block) -> None:
        if block.file:
            path = self.folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.meant(block.text))
        for shown in block.commands():
            try:
                self._do(shown)
            except Exception as error:
                error.add_note(f"{page}:{block.line}: {shown.command}")
                raise

    def _do(self, shown: Shown) -> None:
        command = shown.command
        if command in self._left_out:
            return
        if prepare := self.play.before.get(command):
            prepare(self)
        if ANSWERS.match(command) or command.startswith("kill "):
            wait_until(self.is_asked, what="a question")
        if command.startswith("kill "):
            self.server.kill()
        elif _is_serve(command):
            self._serve(command)
        elif command.startswith("forge worker"):
            self._others.append(Server(self.data_dir, command="worker", **self._settings()))
            self._others[-1].start()
        elif _is_model_server(command):
            self._serve_models(command)
        elif command in self.play.beside:
            self._beside[command] = self._start(command)
        else:
            self._expect(shown, self.type(command, self.play.typed.get(command, "")))

    def _expect(self, shown: Shown, said: Said) -> None:
        expected = self.play.exits.get(shown.command, 0)
        assert said.code == expected, f"exit code {said.code}\n{said.out}\n{said.err}"
        printed = _blanks_as_one(said.out + said.err)
        for line in shown.output:
            for part in filter(None, map(str.strip, line.split("…"))):
                assert _blanks_as_one(part) in printed, f"{part!r} is not in\n{printed}"

    def type(self, command: str, stdin: str = "") -> Said:
        """As a person would; quickly, where it takes no shell."""
        is_at_a_screen, command = command in self.play.at_a_screen, self.meant(command)
        if command.startswith("forge models demo") and "--" not in command:
            command += f" --url {self.models}"
        words = [] if self.play.is_in_shell or NEEDS_BASH.search(command) else shlex.split(command)
        if words and words[0] in COMMANDS and words[1] != "mcp":
            with contextlib.chdir(self.folder):
                if is_at_a_screen:
                    return self._type_at_a_screen(words[1:], stdin)
                terminal = Terminal(self.data_dir)
                terminal.environment = self.environment
                return terminal(*words[1:], stdin=stdin)
        process = self._start(command)
        out, err = process.communicate(stdin, timeout=LONGEST_S)
        self._remember()
        return Said(process.returncode, out, err)

    def _type_at_a_screen(self, words: list[str], typed: str) -> Said:
        screen = Screen(words, self.environment)
        try:
            screen.type(typed)
            return Said(screen.end(), screen.text, "")
        finally:
            screen.close()

    def _start(self, command: str) -> subprocess.Popen[str]:
        """In a shell that leaves a note of where it ended and with which variables, for the next one."""
        line = self.meant(command).replace("curl ", "curl -sS --fail-with-body ")
        notes = f"pwd >{self._notes}/folder; env -0 >{self._notes}/variables"
        script = f"set -a -o pipefail; trap '{notes}' EXIT\n{line}"
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

    def _remember(self) -> None:
        self.folder = Path((self._notes / "folder").read_text().rstrip("\n"))
        pairs = (self._notes / "variables").read_text().split("\0")
        self.environment = dict(pair.split("=", 1) for pair in pairs if pair)

    def _wait_for(self, command: str, process: subprocess.Popen[str]) -> None:
        out, err = process.communicate(timeout=LONGEST_S)
        expected = self.play.exits.get(command, 0)
        assert process.returncode == expected, f"{command}\n{out}\n{err}"

    def meant(self, text: str) -> str:
        """With what its examples stand for here."""
        for words, meant in self.play.stands_for.items():
            if words in text:
                text = text.replace(words, meant if isinstance(meant, str) else meant(self))
        return text.replace(ADDRESS, self.server.url) if ADDRESS in text else text

    def is_asked(self) -> bool:
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
        """What was exported before."""
        exported = {name: value for name, value in self.environment.items() if name.startswith("FORGE_")}
        return {"HOME": str(self.home), **self.play.environment, **exported}

    def _serve_models(self, command: str) -> None:
        """Started as the page says, at a free port, and left running."""
        command = re.sub(r" --port \d+", "", command.rstrip("& ")) + " --port 0"
        process = self._start(command)
        self._model_servers.append(process)
        assert process.stdout
        for line in process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                self.models = found[0]
                return
        raise AssertionError(f"{command} gave no address")

    def _key(self) -> dict[str, str]:
        return {"KEY": self.server.key} if self.server.is_running else {}

    def _usual_environment(self, programs: Path) -> dict[str, str]:
        programs.mkdir()
        forge = programs / "forge"
        forge.write_text(f'#!/bin/sh\nexec {sys.executable} -m forge "$@"\n')
        forge.chmod(0o755)
        who = {
            f"GIT_{one}_{what}": "ada@example.com"
            for one in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        return {
            **clean_environment(),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "FORGE_DATA_DIR": str(self.data_dir),
            "EDITOR": "true",
            "VISUAL": "true",
            "GIT_CONFIG_NOSYSTEM": "1",
            **who,
        }


def _is_serve(command: str) -> bool:
    return bool(re.match(r"([A-Z_]+=\S+ )*(\.venv/bin/)?forge serve\b|make run$", command))


def _is_model_server(command: str) -> bool:
    return bool(re.match(r"(\.venv/bin/)?forge models serve\b", command)) and "--check" not in command


def _blanks_as_one(text: str) -> str:
    return re.sub(r"\s+", " ", text)
