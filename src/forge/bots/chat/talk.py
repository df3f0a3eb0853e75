"""A conversation that somebody has at a terminal: which one it is, and what is said in it."""

from collections.abc import Callable
from contextlib import suppress

from forge.bots.chat.following import Line, Listener
from forge.bots.chat.models import Message, Session, Speaker, Turn
from forge.bots.chat.show import View
from forge.bots.models import BotView
from forge.errors import Conflict, ForgeError, Invalid
from forge.terminal.client import Client


class Talk:
    def __init__(self, client: Client, bot: BotView, make_view: Callable[[], View]) -> None:
        self.client = client
        self.bot = bot
        self.session: Session | None = None
        self._make_view = make_view
        self._line: Line | None = None
        self._was_asked = False

    def enter(self, session: Session | None) -> list[Message]:
        """Another conversation, or with None one that begins with the next question; what was said in it."""
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
        """To an answer that was asked for elsewhere."""
        return self._show(answer, shown="", is_resumed=True)

    def stop(self) -> Message:
        return self.client.post(f"{self._path()}/stop", Message)

    def leave(self) -> None:
        """What was said may be worth remembering; it does not matter when nobody can be told that now."""
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
        """Ctrl-C stops the answer, and only that; once more leaves."""
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
