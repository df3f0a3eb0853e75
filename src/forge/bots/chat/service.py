"""What people can do with conversations."""

from forge.bots.chat.models import Message, NewTurn, SearchHit, Session, SessionChange, SessionDetail, Turn
from forge.bots.models import Bot
from forge.store.paging import Cursor, Page


class Chats:
    async def ask(self, account_id: str, bot: Bot, new: NewTurn) -> Turn:
        raise NotImplementedError

    async def retry(self, account_id: str, session_id: str, message_id: str | None) -> Turn:
        raise NotImplementedError

    async def resume(self, account_id: str, session_id: str) -> Turn:
        raise NotImplementedError

    async def stop(self, account_id: str, session_id: str, *, by: str) -> Message:
        raise NotImplementedError

    async def remember(self, account_id: str, session_id: str) -> None:
        raise NotImplementedError


class Sessions:
    async def find(self, bot: Bot, *, cursor: Cursor | None, limit: int) -> Page[Session]:
        raise NotImplementedError

    async def get(self, account_id: str, session_id: str) -> SessionDetail:
        raise NotImplementedError

    async def messages(self, account_id: str, session_id: str) -> list[Message]:
        raise NotImplementedError

    async def change(self, account_id: str, session_id: str, change: SessionChange) -> Session:
        raise NotImplementedError

    async def delete(self, account_id: str, session_id: str) -> Session:
        raise NotImplementedError

    async def search(self, bot: Bot, words: str, *, limit: int) -> list[SearchHit]:
        raise NotImplementedError

    async def export(self, account_id: str, session_id: str, *, markdown: bool) -> str:
        raise NotImplementedError
