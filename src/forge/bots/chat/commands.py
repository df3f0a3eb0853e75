"""What can be typed at the prompt of `forge chat` besides words for the bot."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from forge.bots.chat.lookup import fetch_export, find_session, latest_sessions, save_export
from forge.bots.chat.models import Session
from forge.bots.chat.show import FAINT, sessions_table
from forge.bots.chat.talk import ChatView
from forge.bots.memory.models import Memory
from forge.bots.models import BotView
from forge.errors import Invalid
from forge.terminal.output import key_values, table, words

LISTED = 20

HELP = (
    ("/new", "begin another conversation"),
    ("/sessions", "list the latest conversations"),
    ("/switch N", "go on with one of them, by its number or id"),
    ("/title TEXT", "name this conversation"),
    ("/retry", "another answer to the last question"),
    ("/edit [TEXT]", "say the last question differently"),
    ("/resume", "write on where the last answer ended early"),
    ("/stop", "stop an answer that is being written elsewhere"),
    ("/memories", "list what the bot remembers"),
    ("/remember FACT", "give it something to remember"),
    ("/forget N", "forget one of the memories listed"),
    ("/model", "show what it runs on"),
    ("/export FILE", "save this conversation, as Markdown or, to a .json, as JSON"),
    ("/clear", "clear the screen"),
    ("/exit", "leave; Ctrl-D does, too"),
)
HINTS = (
    "A line that ends with \\ goes on in the next. To begin with a slash, type two.",
    "Ctrl-C stops an answer; what there is of it is kept.",
)

ReadLine = Callable[[str], str]
T = TypeVar("T")


class Leave(Exception):
    """Somebody has had enough."""


class Commands:
    def __init__(self, view: ChatView, read: ReadLine) -> None:
        self._view = view
        self._talk = view.talk
        self._out = view.out
        self._read = read
        self._sessions: list[Session] = []
        self._memories: list[Memory] = []
        self._verbs: dict[str, Callable[[str], None]] = {
            "/help": self._help,
            "/new": self._new,
            "/sessions": self._list_sessions,
            "/switch": self._switch,
            "/title": self._title,
            "/retry": self._retry,
            "/edit": self._edit,
            "/resume": self._resume,
            "/stop": self._stop,
            "/memories": self._list_memories,
            "/remember": self._remember,
            "/forget": self._forget,
            "/model": self._model,
            "/export": self._export,
            "/clear": self._clear,
            "/exit": self._exit,
        }

    def take(self, line: str) -> None:
        name, _, rest = line.strip().partition(" ")
        verb = self._verbs.get(name)
        if verb is None:
            raise Invalid(f"There is no command {name}.", hint="/help lists them.")
        verb(rest.strip())

    def _help(self, _: str) -> None:
        self._out.print(key_values(HELP))
        for hint in HINTS:
            self._view.say(hint)

    def _new(self, _: str) -> None:
        self._view.enter(None)
        self._view.say("A new conversation begins with what you say next.")

    def _list_sessions(self, _: str) -> None:
        self._sessions = latest_sessions(self._talk.client, self._talk.bot, LISTED)
        if not self._sessions:
            self._view.say("There are no conversations yet.")
            return
        current = self._talk.session.id if self._talk.session else None
        self._out.print(sessions_table(self._sessions, current=current, is_numbered=True))

    def _switch(self, given: str) -> None:
        if not self._sessions:
            self._sessions = latest_sessions(self._talk.client, self._talk.bot, LISTED)
        chosen = _numbered(self._sessions, given)
        self._view.enter(chosen or find_session(self._talk.client, self._talk.bot, given))

    def _title(self, title: str) -> None:
        session = self._session()
        if not title:
            self._view.say(session.title)
            return
        named = self._talk.client.patch(f"/sessions/{session.id}", Session, {"title": title})
        self._talk.session = named
        self._view.say(f"It is called {named.title}.")

    def _retry(self, _: str) -> None:
        self._view.ended(self._talk.retry())

    def _edit(self, text: str) -> None:
        text = text or self._read(self._talk.last_question().text)
        if text.strip():
            self._view.ended(self._talk.edit(text))

    def _resume(self, _: str) -> None:
        self._view.ended(self._talk.resume())

    def _stop(self, _: str) -> None:
        self._view.ended(self._talk.stop())

    def _list_memories(self, _: str) -> None:
        path = f"/bots/{self._talk.bot.slug}/memories"
        self._memories = list(self._talk.client.pages(path, Memory, LISTED))
        if not self._memories:
            self._view.say("It remembers nothing yet.")
            return
        rows = table("#", "FACT", "CATEGORY", wrapped={"FACT"})
        for number, memory in enumerate(self._memories, start=1):
            rows.add_row(str(number), words(memory.fact), words(memory.category.value, FAINT))
        self._out.print(rows)

    def _remember(self, fact: str) -> None:
        if not fact:
            raise Invalid("There is nothing to remember.", hint="/remember FACT")
        made = self._talk.client.post(f"/bots/{self._talk.bot.slug}/memories", Memory, {"fact": fact})
        self._view.say(f"Remembered: {made.fact}")

    def _forget(self, given: str) -> None:
        memory = _numbered(self._memories, given)
        if memory is None:
            raise Invalid("There is no such number.", hint="/memories lists them.")
        self._talk.client.delete(f"/bots/{self._talk.bot.slug}/memories/{memory.id}", Memory)
        self._memories.remove(memory)
        self._view.say(f"Forgotten: {memory.fact}")

    def _model(self, _: str) -> None:
        bot = self._talk.client.get(f"/bots/{self._talk.bot.slug}", BotView)
        facts = (
            ("model", bot.model),
            ("temperature", f"{bot.identity.temperature:g}"),
            ("longest answer", f"{bot.identity.max_tokens:,} tokens"),
            ("another one", f"forge bots change {bot.slug} --model MODEL"),
        )
        self._out.print(key_values(facts))

    def _export(self, given: str) -> None:
        session = self._session()
        if not given:
            raise Invalid("Where should it go?", hint="/export FILE")
        path = Path(given).expanduser()
        save_export(path, fetch_export(self._talk.client, session.id, as_json=path.suffix == ".json"))
        self._view.say(f"Saved as {path}.")

    def _clear(self, _: str) -> None:
        self._out.clear()

    def _exit(self, _: str) -> None:
        raise Leave

    def _session(self) -> Session:
        if self._talk.session is None:
            raise Invalid("This conversation has not begun.", hint="Say something first.")
        return self._talk.session


def _numbered(items: Sequence[T], given: str) -> T | None:
    """The one with this number, as they were listed."""
    place = int(given) if given.isdecimal() and len(given) < 4 else 0
    return items[place - 1] if 0 < place <= len(items) else None
