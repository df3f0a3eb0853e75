"""Makes bots: their folders, their first versions and their rows, or none of them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from forge.bots import store
from forge.bots.files.checking import check
from forge.bots.files.identity import parse_identity
from forge.bots.folder import Folders
from forge.bots.models import Bot, BotFile, BotStatus, Identity
from forge.bots.problems import errors_of, refusal
from forge.bots.slugs import candidates
from forge.bots.telling import tell_changed
from forge.bots.versions.models import MAX_CONTENT
from forge.bots.versions.service import Versions
from forge.errors import Conflict, Invalid, NotFound
from forge.events.log import EventLog
from forge.kernel.ids import new_id
from forge.store.engine import Store, Tx

log = logging.getLogger(__name__)

Settle = Callable[[Tx, list[Bot]], Awaitable[None]]
"""What has to become true together with new bots, in their transaction. When it is called they have their slugs, and
nothing is on disk yet: what it refuses leaves no trace."""


@dataclass(frozen=True)
class NewFiles:
    """A bot to be made: the slug it would like, and its four files."""

    slug: str
    contents: Mapping[BotFile, str]


class Maker:
    """The row comes first: whoever has it, committed or not, has the slug, and others wait for it. Then the folder is
    made, all of it at once, and the commit makes both true.

    A process that dies before the commit leaves a folder and no row. Nothing was ever said about such a folder, so it
    must not keep its name; but it may as well be something that a person put there, so it is not thrown away either:
    the next bot that gets the slug moves it into the trash, where it stays as long as that bot exists.
    """

    def __init__(
        self,
        database: Store,
        events: EventLog,
        folders: Folders,
        versions: Versions,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._events = events
        self._folders = folders
        self._versions = versions
        self._clock = clock

    async def make(self, account_id: str, new: Sequence[NewFiles], *, by: str, settle: Settle) -> list[Bot]:
        """Each under the first free slug; all of them or none."""
        identities = [await asyncio.to_thread(_checked, one.contents) for one in new]
        drafts = [self._draft(one.slug, identity) for one, identity in zip(new, identities, strict=True)]
        filled: list[Bot] = []
        try:
            async with self._database.begin() as tx:
                bots = [await _claim(tx, account_id, draft) for draft in drafts]
                await settle(tx, bots)
                for bot, one in zip(bots, new, strict=True):
                    await asyncio.to_thread(self._fill, bot, one.contents)
                    filled.append(bot)
                    await self._versions.first(tx, bot.id, one.contents, by=by)
                    await tell_changed(tx, self._events, bot.id, "bot")
        except BaseException:
            for bot in filled:
                await self._tidy(bot)
            raise
        return bots

    def _draft(self, slug: str, identity: Identity) -> Bot:
        at = self._clock()
        return Bot(
            id=new_id(), slug=slug, status=BotStatus.ACTIVE, identity=identity, created_at=at, updated_at=at
        )

    def _fill(self, bot: Bot, contents: Mapping[BotFile, str]) -> None:
        try:
            self._folders.create(bot.slug, contents)
        except Conflict:
            self._folders.to_trash(bot.slug, bot.id)
            log.warning("moved a folder %s, which belonged to no bot, into the trash", bot.slug)
            self._folders.create(bot.slug, contents)

    async def _tidy(self, bot: Bot) -> None:
        """Unless it was made after all: a connection that breaks at the commit leaves that open."""
        async with self._database.read() as tx:
            if await store.exists(tx, bot.id):
                return
        await asyncio.to_thread(self._empty, bot)

    def _empty(self, bot: Bot) -> None:
        """What was in the way goes back to where it was."""
        dropped = new_id()
        self._folders.to_trash(bot.slug, dropped)
        self._folders.discard(dropped)
        with suppress(NotFound):
            self._folders.from_trash(bot.id, bot.slug)


async def _claim(tx: Tx, account_id: str, draft: Bot) -> Bot:
    for slug in candidates(draft.slug):
        bot = draft.model_copy(update={"slug": slug})
        if await store.insert(tx, bot, account_id):
            return bot
    raise Conflict(
        f"{draft.slug!r} and a hundred names like it are taken.", hint="Choose a name that differs more."
    )


def _checked(contents: Mapping[BotFile, str]) -> Identity:
    for file, text in contents.items():
        if len(text) > MAX_CONTENT:
            raise Invalid(f"{file.file_name} is longer than {MAX_CONTENT:,} characters.")
    if errors := errors_of([problem for file, text in contents.items() for problem in check(file, text)]):
        raise refusal(errors)
    identity = parse_identity(contents[BotFile.IDENTITY]).value
    if identity is None:
        raise Invalid("IDENTITY.md says nothing that can be read.")
    return identity
