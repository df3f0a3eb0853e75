"""What people can do with bots."""

from collections.abc import Collection

from forge.bots.models import (
    Bot,
    BotChange,
    BotSort,
    BotStatus,
    BotView,
    Bundle,
    Category,
    NewBot,
    SkillView,
    Stats,
)


class Bots:
    async def create(self, account_id: str, new: NewBot, *, by: str) -> BotView:
        raise NotImplementedError

    async def find_all(
        self,
        account_id: str,
        *,
        statuses: Collection[BotStatus] = (),
        deleted: bool = False,
        category: Category | None = None,
        words: str = "",
        sort: BotSort = BotSort.ACTIVITY,
    ) -> list[BotView]:
        raise NotImplementedError

    async def find(self, account_id: str, ref: str, *, deleted: bool = False) -> Bot:
        """By id or slug; what is deleted is not there unless it is asked for."""
        raise NotImplementedError

    async def view(self, account_id: str, ref: str) -> BotView:
        raise NotImplementedError

    async def change(self, account_id: str, ref: str, change: BotChange, *, by: str) -> BotView:
        raise NotImplementedError

    async def clone(self, account_id: str, ref: str, name: str | None, *, by: str) -> BotView:
        raise NotImplementedError

    async def delete(self, account_id: str, ref: str, *, by: str) -> BotView:
        """Out of reach at once, gone after 30 days; `restore` takes it back."""
        raise NotImplementedError

    async def restore(self, account_id: str, ref: str, *, by: str) -> BotView:
        raise NotImplementedError

    async def export(self, account_id: str, ref: str) -> Bundle:
        raise NotImplementedError

    async def take_in(self, account_id: str, bundle: Bundle, *, by: str) -> BotView:
        raise NotImplementedError

    async def skills(self, account_id: str, ref: str) -> list[SkillView]:
        raise NotImplementedError

    async def stats(self, account_id: str) -> Stats:
        raise NotImplementedError
