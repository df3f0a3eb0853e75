"""A conversation in a terminal: its session, its requests to the server, and what is printed of it."""

from collections.abc import Callable
from contextlib import suppress

from rich.console import Console

from forge.bots.chat.models import Message, Session, Speaker, Turn
from forge.bots.chat.terminal.answer_stream import AnswerStream, AnswerView, find_message
from forge.bots.chat.terminal.chat_output import footer_page, message_page
from forge.bots.models import BotView, MessageStatus
from forge.errors import Conflict, ForgeError, Invalid
from forge.terminal.client import Client
from forge.terminal.output import FAINT, words


class Conversation:
    """The current session with a bot. Without a session, the next question starts one."""

    def __init__(self, client: Client, bot: BotView, make_view: Callable[[], AnswerView]) -> None:
        self.client = client
        self.bot = bot
        self.session: Session | None = None
        self._make_view = make_view
        self._stream: AnswerStream | None = None
        self._was_asked = False

    def enter(self, session: Session | None) -> list[Message]:
        """Switch to a session, or with None to a new one, and return its messages."""
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
        raise Invalid("This conversation has no messages yet.", hint="Send a message first.")

    def retry(self) -> Message:
        return self._follow(self.client.post(f"{self._path()}/retry", Turn, {}))

    def resume(self) -> Message:
        turn = self.client.post(f"{self._path()}/resume", Turn)
        self._was_asked = True
        return self._show(turn.answer, shown=turn.answer.text, is_resumed=True)

    def attach(self, answer: Message) -> Message:
        """Follow an answer that was requested by another client."""
        return self._show(answer, shown="", is_resumed=True)

    def stop(self) -> Message:
        return self.client.post(f"{self._path()}/stop", Message)

    def leave(self) -> None:
        """Close the stream, and start the extraction of facts; errors of the latter are ignored."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        if self.session is not None and self._was_asked:
            with suppress(ForgeError):
                self.client.post(f"{self._path()}/remember", Session)
        self._was_asked = False

    def require_session(self) -> Session:
        if self.session is None:
            raise Invalid("This conversation has no messages yet.", hint="Send a message first.")
        return self.session

    def _path(self) -> str:
        return f"/sessions/{self.require_session().id}"

    def _follow(self, turn: Turn) -> Message:
        self.session, self._was_asked = turn.session, True
        return self._show(turn.answer, shown="", is_resumed=False)

    def _show(self, answer: Message, *, shown: str, is_resumed: bool) -> Message:
        """Show an answer while it is written. Ctrl-C stops only the answer."""
        self._stream = self._stream or AnswerStream(self.client, answer.session_id)
        view = self._make_view()
        view.begin(shown)
        if not shown and answer.text:
            view.write(answer.text)
        try:
            ended = self._wait_or_stop(self._stream, answer, view, is_resumed=is_resumed)
        except BaseException:
            view.end(self._stream.text)
            raise
        view.end(ended.text)
        return ended

    def _wait_or_stop(
        self, stream: AnswerStream, answer: Message, view: AnswerView, *, is_resumed: bool
    ) -> Message:
        try:
            return stream.wait_for(answer, view, is_resumed=is_resumed)
        except KeyboardInterrupt:
            return self._stop_or_find(answer)

    def _stop_or_find(self, answer: Message) -> Message:
        try:
            return self.stop()
        except Conflict:  # it has just ended
            return find_message(self.client, answer.session_id, answer.id)


MAX_SHOWN = 4
"""Number of earlier messages shown when a conversation is continued."""
RESUME_HINT = "Type /resume to continue the answer, or /retry for a new one."


class ConversationView:
    """Prints a conversation to a console."""

    def __init__(self, conversation: Conversation, out: Console, *, is_quiet: bool) -> None:
        self.conversation = conversation
        self.out = out
        self._is_quiet = is_quiet

    def greet(self) -> None:
        bot = self.conversation.bot
        name = f"{bot.identity.avatar} {bot.identity.display_name}"
        self.note(f"{name} · {bot.model} · /help lists the commands")
        if bot.blocked:
            self.out.print(words(bot.blocked, "yellow"))
        self.out.print()

    def enter(self, session: Session | None) -> None:
        """Show the last messages of a session, and follow an answer that is being written."""
        messages = self.conversation.enter(session)
        if session is None:
            return
        earlier = f", {len(messages) - MAX_SHOWN} earlier" if len(messages) > MAX_SHOWN else ""
        self.note(f"{session.title} ({len(messages)} messages{earlier})")
        self.out.print()
        is_writing = bool(messages) and messages[-1].status is MessageStatus.WRITING
        for message in messages[-MAX_SHOWN : -1 if is_writing else None]:
            self.out.print(message_page(message, self.conversation.bot.identity.display_name))
        if is_writing:
            self.show_end(self.conversation.attach(messages[-1]))
        elif messages and messages[-1].status.can_resume:
            self.note(RESUME_HINT)

    def show_end(self, answer: Message) -> None:
        """Print the status and the footer of an answer that ended."""
        if answer.error or answer.status.can_resume or not self._is_quiet:
            self.out.print(footer_page(answer, hint=RESUME_HINT))
        self.out.print()

    def note(self, text: str) -> None:
        self.out.print(words(text, FAINT))
