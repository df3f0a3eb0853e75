"""The prompt of `forge chat`: lines to the bot, commands that begin with a slash, Ctrl-C and Ctrl-D."""

import readline
from collections.abc import Callable
from contextlib import suppress

from forge.bots.chat.commands import Commands, Leave
from forge.bots.chat.models import Session
from forge.bots.chat.talk import ChatView
from forge.errors import ForgeError, Unauthenticated, Unavailable
from forge.kernel.text import repair_surrogates
from forge.terminal.entry import show_error

PROMPT = "you ▸ "
MORE = "  … "


class Prompting:
    def __init__(self, view: ChatView) -> None:
        self._view = view
        self._commands = Commands(view, self._read)
        self._wants_to_leave = False

    def go_on(self, session: Session | None) -> None:
        """Until somebody leaves."""
        readline.set_auto_history(True)
        self._view.greet()
        try:
            is_going_on = self._guarded(lambda: self._view.enter(session))
            while is_going_on:
                is_going_on = self._once()
        finally:
            self._view.talk.leave()

    def _once(self) -> bool:
        """One line of the person; False when it was the last."""
        try:
            line = self._read()
        except EOFError:
            self._view.out.print()
            return False
        except KeyboardInterrupt:
            return self._interrupted()
        self._wants_to_leave = False
        return self._guarded(lambda: self._take(line))

    def _interrupted(self) -> bool:
        self._view.out.print()
        if self._wants_to_leave:
            return False
        self._wants_to_leave = True
        self._view.say("Once more, or /exit, to leave.")
        return True

    def _take(self, line: str) -> None:
        if line.startswith("/") and not line.startswith("//"):
            self._commands.take(line)
        elif line.strip():
            said = line.removeprefix("/") if line.startswith("//") else line
            self._view.ended(self._view.talk.ask(said))

    def _guarded(self, verb: Callable[[], None]) -> bool:
        """A refusal is said and the conversation goes on; False when somebody wants to leave."""
        try:
            verb()
        except ForgeError as error:
            show_error(error)
            if isinstance(error, Unavailable | Unauthenticated):
                self._find_server()
        except (Leave, KeyboardInterrupt):  # the first Ctrl-C has stopped the answer, this is the second
            return False
        return True

    def _find_server(self) -> None:
        """One that was started again has another key, and perhaps another port."""
        with suppress(ForgeError):
            self._view.talk.client.find_again()

    def _read(self, prefilled: str = "") -> str:
        """A line; one that ends with a backslash goes on in the next."""
        readline.set_startup_hook((lambda: readline.insert_text(prefilled)) if prefilled else None)
        try:
            line = input(_coloured(PROMPT, is_plain=self._view.out.no_color))
        finally:
            readline.set_startup_hook(None)
        while line.endswith("\\"):
            line = f"{line[:-1]}\n{input(MORE)}"
        return repair_surrogates(line)


def _coloured(prompt: str, *, is_plain: bool) -> str:
    """Between marks that tell the line editor what has no width."""
    return prompt if is_plain else f"\x01\x1b[1;34m\x02{prompt}\x01\x1b[0m\x02"
