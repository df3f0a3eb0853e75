"""What a person sees of the conversation they are in, in a terminal."""

from rich.console import Console

from forge.bots.chat.models import Message, MessageStatus, Session
from forge.bots.chat.show import FAINT, print_end, print_message
from forge.bots.chat.talk import Talk
from forge.terminal.output import words

SHOWN = 4
"""So many messages are shown again when a conversation is gone on with."""
HINT = "Write on: /resume. Another answer: /retry"


class Stage:
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
        """Shows how far it has come; an answer that is being written is listened to."""
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
