"""The interactive prompt of `forge chat`: messages to the bot, slash commands, Ctrl-C and Ctrl-D."""

import readline
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from rich.table import Table

from forge.bots.chat.models import Session
from forge.bots.chat.terminal.chat_output import SESSION_COLUMNS
from forge.bots.chat.terminal.conversation import ConversationView
from forge.bots.chat.terminal.session_lookup import fetch_export, find_session, latest_sessions, save_export
from forge.bots.memory.models import Memory
from forge.bots.models import BotView
from forge.errors import ForgeError, Invalid, Unauthenticated, Unavailable
from forge.kernel.text import repair_surrogates
from forge.terminal.entry import show_error
from forge.terminal.output import Columns, Getter, key_values

PROMPT = "you ▸ "
CONTINUATION = "  … "
MAX_LISTED = 20

HELP_NOTES = (
    "End a line with \\ to continue it on the next line. Start with // to send a message that begins with a slash.",
    "Press Ctrl-C to stop an answer; the text written so far is kept.",
)

T = TypeVar("T")


class ExitPrompt(Exception):
    """The user typed /exit."""


class ChatPrompt:
    def __init__(self, view: ConversationView) -> None:
        self._view = view
        self._commands = SlashCommands(view, self._read)
        self._was_interrupted = False

    def run(self, session: Session | None) -> None:
        """Read and handle lines until the user exits."""
        readline.set_auto_history(True)
        self._view.greet()
        try:
            is_running = self._guarded(lambda: self._view.enter(session))
            while is_running:
                is_running = self._handle_next_line()
        finally:
            self._view.conversation.leave()

    def _handle_next_line(self) -> bool:
        """Return whether to continue."""
        try:
            line = self._read()
        except EOFError:
            self._view.out.print()
            return False
        except KeyboardInterrupt:
            return self._handle_interrupt()
        self._was_interrupted = False
        return self._guarded(lambda: self._handle(line))

    def _handle_interrupt(self) -> bool:
        self._view.out.print()
        if self._was_interrupted:
            return False
        self._was_interrupted = True
        self._view.note("Press Ctrl-C again or type /exit to exit.")
        return True

    def _handle(self, line: str) -> None:
        if line.startswith("/") and not line.startswith("//"):
            self._commands.run(line)
        elif line.strip():
            message = line.removeprefix("/") if line.startswith("//") else line
            self._view.show_end(self._view.conversation.ask(message))

    def _guarded(self, action: Callable[[], None]) -> bool:
        """Run an action and print its error. Return False if the user wants to exit."""
        try:
            action()
        except ForgeError as error:
            show_error(error)
            if isinstance(error, Unavailable | Unauthenticated):
                with suppress(ForgeError):  # a restarted server has a new key and perhaps another port
                    self._view.conversation.client.find_again()
        except (ExitPrompt, KeyboardInterrupt):  # the first Ctrl-C stopped the answer, this is the second
            return False
        return True

    def _read(self, prefilled: str = "") -> str:
        """Read a line, and further lines while they end with a backslash."""
        readline.set_startup_hook((lambda: readline.insert_text(prefilled)) if prefilled else None)
        try:
            line = input(_colored(PROMPT, is_plain=self._view.out.no_color))
        finally:
            readline.set_startup_hook(None)
        while line.endswith("\\"):
            line = f"{line[:-1]}\n{input(CONTINUATION)}"
        return repair_surrogates(line)


def _colored(prompt: str, *, is_plain: bool) -> str:
    """Color the prompt. \\x01 and \\x02 enclose characters that readline must not count as width."""
    return prompt if is_plain else f"\x01\x1b[1;34m\x02{prompt}\x01\x1b[0m\x02"


class SlashCommands:
    def __init__(self, view: ConversationView, read: Callable[[str], str]) -> None:
        self._view = view
        self._conversation = view.conversation
        self._out = view.out
        self._read = read
        self._sessions: list[Session] = []
        self._memories: list[Memory] = []
        self._memories_path = f"/bots/{self._conversation.bot.slug}/memories"
        self._commands: dict[str, tuple[Callable[[str], None], str]] = {
            "/help": (self._help, "list the commands"),
            "/new": (self._new, "start a new conversation"),
            "/sessions": (self._list_sessions, "list the latest conversations"),
            "/switch N": (self._switch, "switch to a conversation, by its number or id"),
            "/title TEXT": (self._title, "rename this conversation"),
            "/retry": (self._retry, "generate another answer to the last question"),
            "/edit [TEXT]": (self._edit, "edit the last question and ask again"),
            "/resume": (self._resume, "continue an unfinished answer"),
            "/stop": (self._stop, "stop an answer that is being written elsewhere"),
            "/memories": (self._list_memories, "list the bot's memories"),
            "/remember FACT": (self._remember, "add a memory"),
            "/forget N": (self._forget, "delete a memory, by its number in the list"),
            "/model": (self._model, "show the bot's model"),
            "/export FILE": (
                self._export,
                "save this conversation as Markdown, or as JSON if FILE ends with .json",
            ),
            "/clear": (lambda _: self._out.clear(), "clear the screen"),
            "/exit": (self._exit, "exit (or press Ctrl-D)"),
        }

    def run(self, line: str) -> None:
        name, _, argument = line.strip().partition(" ")
        for usage, (command, _) in self._commands.items():
            if usage.split()[0] == name:
                command(argument.strip())
                return
        raise Invalid(f"Unknown command {name}.", hint="Type /help for a list of commands.")

    def _help(self, _: str) -> None:
        self._out.print(key_values((usage, summary) for usage, (_, summary) in self._commands.items()))
        for note in HELP_NOTES:
            self._view.note(note)

    def _new(self, _: str) -> None:
        self._view.enter(None)
        self._view.note("Your next message starts a new conversation.")

    def _list_sessions(self, _: str) -> None:
        self._sessions = latest_sessions(self._conversation.client, self._conversation.bot, MAX_LISTED)
        if not self._sessions:
            self._view.note("No conversations yet.")
            return
        self._out.print(_numbered_table(self._sessions, SESSION_COLUMNS))

    def _switch(self, ref: str) -> None:
        client, bot = self._conversation.client, self._conversation.bot
        if not self._sessions:
            self._sessions = latest_sessions(client, bot, MAX_LISTED)
        self._view.enter(_numbered(self._sessions, ref) or find_session(client, bot, ref))

    def _title(self, title: str) -> None:
        session = self._conversation.require_session()
        if not title:
            self._view.note(session.title)
            return
        renamed = self._conversation.client.patch(f"/sessions/{session.id}", Session, {"title": title})
        self._conversation.session = renamed
        self._view.note(f"Renamed to {renamed.title}.")

    def _retry(self, _: str) -> None:
        self._view.show_end(self._conversation.retry())

    def _edit(self, text: str) -> None:
        text = text or self._read(self._conversation.last_question().text)
        if text.strip():
            self._view.show_end(self._conversation.edit(text))

    def _resume(self, _: str) -> None:
        self._view.show_end(self._conversation.resume())

    def _stop(self, _: str) -> None:
        self._view.show_end(self._conversation.stop())

    def _list_memories(self, _: str) -> None:
        self._memories = list(self._conversation.client.pages(self._memories_path, Memory, MAX_LISTED))
        if not self._memories:
            self._view.note("No memories yet.")
            return
        self._out.print(_numbered_table(self._memories, {"FACT": "fact", "CATEGORY": "category"}))

    def _remember(self, fact: str) -> None:
        if not fact:
            raise Invalid("A fact is missing.", hint="Usage: /remember FACT")
        added = self._conversation.client.post(self._memories_path, Memory, {"fact": fact})
        self._view.note(f"Remembered: {added.fact}")

    def _forget(self, number: str) -> None:
        memory = _numbered(self._memories, number)
        if memory is None:
            raise Invalid("There is no memory with this number.", hint="Type /memories to list them.")
        self._conversation.client.delete(f"{self._memories_path}/{memory.id}", Memory)
        self._memories.remove(memory)
        self._view.note(f"Forgotten: {memory.fact}")

    def _model(self, _: str) -> None:
        bot = self._conversation.client.get(f"/bots/{self._conversation.bot.slug}", BotView)
        identity = bot.identity
        self._view.note(
            f"{bot.model} · temperature {identity.temperature:g} · {identity.max_tokens:,} tokens"
        )

    def _export(self, file: str) -> None:
        session = self._conversation.require_session()
        if not file:
            raise Invalid("A file name is missing.", hint="Usage: /export FILE")
        path = Path(file).expanduser()
        text = fetch_export(self._conversation.client, session.id, as_json=path.suffix == ".json")
        save_export(path, text)

    def _exit(self, _: str) -> None:
        raise ExitPrompt


def _numbered_table(items: list[T], columns: dict[str, Getter[T]]) -> Table:
    return Columns[T]({"#": lambda item: items.index(item) + 1, **columns})(items)


def _numbered(items: Sequence[T], text: str) -> T | None:
    """Return the item with this number in the list; None if the text is not a valid number."""
    number = int(text) if text.isdecimal() and len(text) < 4 else 0
    return items[number - 1] if 0 < number <= len(items) else None
