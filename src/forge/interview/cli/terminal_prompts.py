"""Prompts at a terminal: a menu with arrow keys, and a line editor that accepts pasted paragraphs."""

from collections.abc import Callable
from typing import TypeVar

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style

from forge.errors import ForgeError
from forge.interview.cli.prompts import SWITCH, ExitInterview, Menu
from forge.kernel.text import repair_surrogates
from forge.terminal.entry import show_error
from forge.terminal.text import clean

T = TypeVar("T")

STYLE = Style.from_dict({"chosen": "bold ansiblue", "faint": "ansibrightblack"})


class Picker:
    """Render a menu, and move and choose with the keyboard."""

    def __init__(self, menu: Menu) -> None:
        self._menu = menu
        self._index = 0
        self.bindings = KeyBindings()
        last = len(menu.entries) - 1
        self._bind(lambda _: self._move_to(self._index - 1), "up", "c-p", "k", "s-tab")
        self._bind(lambda _: self._move_to(self._index + 1), "down", "c-n", "j", "tab")
        self._bind(lambda _: self._move_to(0), "home")
        self._bind(lambda _: self._move_to(last), "end")
        self._bind(lambda event: event.app.exit(result=self._index), "enter")
        for index in range(min(9, len(menu.entries))):
            self._bind(_choose(index), str(index + 1))
        if menu.back is not None:
            self._bind(_choose(menu.back), "left")
        if menu.switch is not None:
            self._bind(_choose(SWITCH), "s")
        self._bind(lambda event: event.app.exit(exception=KeyboardInterrupt()), "c-c", "c-d", "<sigint>")

    def _bind(self, action: Callable[[KeyPressEvent], None], *keys: str) -> None:
        for key in keys:
            self.bindings.add(key)(action)

    def _move_to(self, index: int) -> None:
        self._index = index % len(self._menu.entries)

    def text(self) -> StyleAndTextTuples:
        parts: StyleAndTextTuples = []
        for index, entry in enumerate(self._menu.entries):
            is_selected = index == self._index
            parts.append(("[SetCursorPosition]", "") if is_selected else ("", ""))
            label = clean(" ".join(entry.label.split()))
            parts.append(("class:chosen" if is_selected else "", f" {'▸' if is_selected else ' '} {label}\n"))
            if entry.reason:
                parts.append(("class:faint", f"     {clean(' '.join(entry.reason.split()))}\n"))
        back = "← back · " if self._menu.back is not None else ""
        switch = f"s {clean(self._menu.switch)} · " if self._menu.switch is not None else ""
        return [*parts, ("class:faint", f"↑↓ choose · enter · {back}{switch}ctrl-c leave")]


def _choose(index: int) -> Callable[[KeyPressEvent], None]:
    return lambda event: event.app.exit(result=index)


class TerminalPrompts:
    is_terminal = True

    def choose(self, menu: Menu) -> int | str:
        """Erase the menu after the choice: the caller prints what was chosen."""
        picker = Picker(menu)
        control = FormattedTextControl(picker.text, focusable=True, show_cursor=False)
        app: Application[int] = Application(
            Layout(Window(control, wrap_lines=True, dont_extend_height=True)),
            key_bindings=picker.bindings,
            style=STYLE,
            erase_when_done=True,
            output=_output(),
        )
        return _run(app.run)

    def read_text(self, *, hint: str = "") -> str:
        session: PromptSession[str] = PromptSession(output=_output(), style=STYLE)
        placeholder: StyleAndTextTuples = [("class:faint", clean(hint))]
        text = _run(lambda: session.prompt(" ▸ ", placeholder=placeholder))
        return repair_surrogates(text).strip()

    def read_hidden(self, label: str) -> str:
        session: PromptSession[str] = PromptSession(output=_output())
        return _run(lambda: session.prompt(f"{clean(label)}: ", is_password=True)).strip()

    def reject(self, error: ForgeError) -> None:
        show_error(error)


def _run(prompt: Callable[[], T]) -> T:
    try:
        return prompt()
    except (KeyboardInterrupt, EOFError) as error:
        raise ExitInterview(is_interrupt=True) from error


def _output() -> Output:
    """Disable cursor position requests: some terminals answer them late, and the answer ends up in the shell."""
    output = create_output()
    if isinstance(output, Vt100_Output):
        output.enable_cpr = False
    return output
