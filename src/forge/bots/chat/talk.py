"""A conversation at the terminal: its session, what is asked and answered, and what the user sees of it."""

from collections.abc import Callable
from contextlib import suppress

from rich.console import Console

from forge.bots.chat.following import Line, Listener
from forge.bots.chat.models import Message, MessageStatus, Session, Speaker, Turn
from forge.bots.chat.show import FAINT, View, print_end, print_message
from forge.bots.models import BotView
from forge.errors import Conflict, ForgeError, Invalid
from forge.terminal.client import Client
from forge.terminal.output import words


class Talk:
    def __init__(self, client: Client, bot: BotView, make_view: Callable[[], View]) -> None:
        self.client = client
        self.bot = bot
        self.session: Session | None = None
        self._make_view = make_view
        self._line: Line | None = None
        self._was_asked = False

    def enter(self, session: Session | None) -> list[Message]:
        """Switch to a session, or with None to one that begins with the next question, and return its messages."""
        self.leave()
        self.session = session
        return self.messages()

    def messages(self) -> list[Message]:
        if self.session is None:
            return []
        return self.client.get(f"/sessions/{self.session.id}/messages", list[Message])

    def ask(self, text: str, *, edits_id: str | None = None) -> Message:
        body = {"text": text, "session_id": self.session and self.session.id, "edits_id": edits_id}
        return self._follow(self.client.post(f"/bots/{self.bot.slug}/chat", Turn, body))

    def edit(self, text: str) -> Message:
        return self.ask(text, edits_id=self.last_question().id)

    def last_question(self) -> Message:
        for message in reversed(self.messages()):
            if message.role is Speaker.USER:
                return message
        raise Invalid("Nothing was said yet.")

    def retry(self) -> Message:
        return self._follow(self.client.post(f"{self._path()}/retry", Turn, {}))

    def resume(self) -> Message:
        turn = self.client.post(f"{self._path()}/resume", Turn)
        self._was_asked = True
        return self._show(turn.answer, shown=turn.answer.text, is_resumed=True)

    def attach(self, answer: Message) -> Message:
        """Follow an answer that was asked for elsewhere."""
        return self._show(answer, shown="", is_resumed=True)

    def stop(self) -> Message:
        return self.client.post(f"{self._path()}/stop", Message)

    def leave(self) -> None:
        """Close the stream, and let the bot remember the conversation. An error does not matter here."""
        if self._line is not None:
            self._line.close()
            self._line = None
        if self.session is not None and self._was_asked:
            with suppress(ForgeError):
                self.client.post(f"{self._path()}/remember", Session)
        self._was_asked = False

    def _path(self) -> str:
        if self.session is None:
            raise Invalid("This conversation has not begun.", hint="Say something first.")
        return f"/sessions/{self.session.id}"

    def _follow(self, turn: Turn) -> Message:
        self.session, self._was_asked = turn.session, True
        return self._show(turn.answer, shown="", is_resumed=False)

    def _show(self, answer: Message, *, shown: str, is_resumed: bool) -> Message:
        """Show an answer while it is written. Ctrl-C stops only the answer."""
        self._line = self._line or Line(self.client, answer.session_id)
        view = self._make_view()
        view.begin(shown)
        if not shown and answer.text:
            view.text(answer.text)
        listener = Listener(
            on_text=view.text,
            on_again=view.again,
            on_thinking=view.thinking,
            on_lost=lambda error: view.lost(f"{error.message} Trying again …"),
            on_skill=view.skill,
        )
        text: str | None = None
        try:
            ended = self._line.wait_for(answer, listener, is_resumed=is_resumed)
            text = ended.text
        except KeyboardInterrupt:
            ended = self._stopped(answer)
            text = ended.text
        finally:
            view.end(self._line.text if text is None else text)
        return ended

    def _stopped(self, answer: Message) -> Message:
        try:
            return self.stop()
        except Conflict:  # it was done a moment before
            return next(message for message in self.messages() if message.id == answer.id)


SHOWN = 4
"""How many messages are shown when a conversation is continued."""
HINT = "Write on: /resume. Another answer: /retry"


class ChatView:
    def __init__(self, talk: Talk, out: Console, *, is_quiet: bool) -> None:
        self.talk = talk
        self.out = out
        self._is_quiet = is_quiet

    def greet(self) -> None:
        bot = self.talk.bot
        name = f"{bot.identity.avatar} {bot.identity.display_name}"
        self.out.print(words(f"{name} · {bot.model} · /help lists the commands", FAINT))
        if bot.blocked:
            self.out.print(words(bot.blocked, "yellow"))
        self.out.print()

    def enter(self, session: Session | None) -> None:
        """Show the last messages of a conversation, and follow an answer that is being written."""
        messages = self.talk.enter(session)
        if session is None:
            return
        earlier = f", {len(messages) - SHOWN} earlier" if len(messages) > SHOWN else ""
        self.out.print(words(f"{session.title} ({len(messages)} messages{earlier})", FAINT))
        self.out.print()
        is_writing = bool(messages) and messages[-1].status is MessageStatus.WRITING
        for message in messages[-SHOWN : -1 if is_writing else None]:
            print_message(message, self.talk.bot.identity.display_name, self.out)
        if is_writing:
            self.ended(self.talk.attach(messages[-1]))
        elif messages and messages[-1].status.can_resume:
            self.out.print(words(HINT, FAINT))

    def ended(self, answer: Message) -> None:
        if answer.error or answer.status.can_resume or not self._is_quiet:
            print_end(answer, self.out, hint=HINT)
        self.out.print()

    def say(self, text: str) -> None:
        self.out.print(words(text, FAINT))
