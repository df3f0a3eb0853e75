"""Questions at a real terminal: a list to walk through with the arrow keys, and a line that takes pasted paragraphs."""

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

from forge.interview.console.prompts import Aside, Left, Menu
from forge.kernel.text import repair_surrogates
from forge.terminal.text import clean

T = TypeVar("T")

STYLE = Style.from_dict({"chosen": "bold ansiblue", "reason": "ansibrightblack", "keys": "ansibrightblack"})


class Picker:
    """Draws a list and knows which line of it is meant."""

    def __init__(self, menu: Menu) -> None:
        self._menu = menu
        self._entries = menu.entries
        self.place = 0

    def move(self, by: int) -> None:
        self.place = (self.place + by) % len(self._entries)

    def text(self) -> StyleAndTextTuples:
        parts: StyleAndTextTuples = []
        for place, entry in enumerate(self._entries):
            is_here = place == self.place
            parts.append(("[SetCursorPosition]", "") if is_here else ("", ""))
            label = clean(" ".join(entry.label.split()))
            parts.append(("class:chosen" if is_here else "", f" {'▸' if is_here else ' '} {label}"))
            if entry.reason:
                parts.append(("class:reason", f"\n     {clean(' '.join(entry.reason.split()))}"))
            parts.append(("", "\n"))
        parts.append(("class:keys", " · ".join(self._keys_in_words())))
        return parts

    def _keys_in_words(self) -> list[str]:
        found = ["↑↓ choose", "enter"]
        if self._menu.back is not None:
            found.append("← back")
        if self._menu.switch is not None:
            found.append(f"s {clean(self._menu.switch)}")
        return [*found, "ctrl-c leave"]

    def keys(self) -> KeyBindings:
        bound = KeyBindings()
        for names, act in self._moves():
            for name in names:
                bound.add(name)(_moving(act))
        for number in range(1, min(9, len(self._entries)) + 1):
            bound.add(str(number))(_choosing(lambda place=number - 1: place))
        bound.add("enter")(_choosing(lambda: self.place))
        if self._menu.back is not None:
            bound.add("left")(_choosing(lambda place=self._menu.back: place))
        if self._menu.switch is not None:
            bound.add("s")(_choosing(lambda: Aside.SWITCH))
        for name in ("c-c", "c-d", "<sigint>"):
            bound.add(name)(_leave)
        return bound

    def _moves(self) -> list[tuple[tuple[str, ...], Callable[[], None]]]:
        return [
            (("up", "c-p", "k", "s-tab"), lambda: self.move(-1)),
            (("down", "c-n", "j", "tab"), lambda: self.move(1)),
            (("home",), lambda: self.move(-self.place)),
            (("end",), lambda: self.move(len(self._entries) - 1 - self.place)),
        ]


def _moving(act: Callable[[], None]) -> Callable[[KeyPressEvent], None]:
    return lambda _: act()


def _choosing(place: Callable[[], int | Aside]) -> Callable[[KeyPressEvent], None]:
    return lambda event: event.app.exit(result=place())


def _leave(event: KeyPressEvent) -> None:
    event.app.exit(exception=KeyboardInterrupt())


class TerminalPrompts:
    is_terminal = True

    def choose(self, menu: Menu) -> int | str | Aside:
        """What was chosen is said by whoever asked: the list itself is gone when it is over."""
        picker = Picker(menu)
        control = FormattedTextControl(picker.text, focusable=True, show_cursor=False)
        app: Application[int | Aside] = Application(
            Layout(Window(control, wrap_lines=True, dont_extend_height=True)),
            key_bindings=picker.keys(),
            style=STYLE,
            erase_when_done=True,
            output=_output(),
        )
        return _kept(app.run)

    def write(self, *, hint: str = "") -> str:
        session: PromptSession[str] = PromptSession(output=_output(), style=STYLE)
        placeholder: StyleAndTextTuples = [("class:reason", clean(hint))]
        said = _kept(lambda: session.prompt(" ▸ ", placeholder=placeholder))
        return repair_surrogates(said).strip()

    def write_hidden(self, label: str) -> str:
        session: PromptSession[str] = PromptSession(output=_output())
        return _kept(lambda: session.prompt(f"{clean(label)}: ", is_password=True)).strip()


def _kept(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except (KeyboardInterrupt, EOFError) as error:
        raise Left(is_interrupt=True) from error


def _output() -> Output:
    """One that does not ask the terminal where its cursor is: some answer late, and the answer ends in the shell."""
    output = create_output()
    if isinstance(output, Vt100_Output):
        output.enable_cpr = False
    return output
