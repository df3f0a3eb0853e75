"""A bot with its folder and first versions, on a real database and disk."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from forge.bots.files.folders import BotFolders
from forge.bots.files.identity import render_identity
from forge.bots.files.skills_toml import render_skills
from forge.bots.files.soul import render_soul
from forge.bots.files.user import render_user
from forge.bots.models import Bot, BotFile, BotStatus, Identity, Soul
from forge.bots.tables import bots
from forge.bots.versions.models import FileVersion, NewContent
from forge.bots.versions.service import Versions
from forge.events.log import EventLog
from forge.kernel.hashing import hash_text
from forge.kernel.ids import new_id
from forge.store.database import Store
from forge.telemetry import Metrics

ACCOUNT = "account-1"
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class BotOnDisk:
    store: Store
    events: EventLog
    folders: BotFolders
    versions: Versions
    bot: Bot

    def path(self, file: BotFile) -> Path:
        return self.folders.path(self.bot.slug) / file.file_name

    def edit(self, file: BotFile, text: str) -> None:
        """Write the file outside of Forge, as an editor does."""
        self.path(file).write_text(text)

    def on_disk(self, file: BotFile) -> str:
        return self.path(file).read_text()

    async def history(self, file: BotFile) -> list[tuple[int, str, str]]:
        """Return the number, author and message of each version, newest first."""
        return [(one.number, one.author, one.message) for one in await self.all_versions(file)]

    async def all_versions(self, file: BotFile) -> list[FileVersion]:
        return list((await self.versions.history(self.bot, file, cursor=None, limit=200)).items)

    async def text_of(self, file: BotFile, number: int) -> str:
        return (await self.versions.get(self.bot, file, number)).content

    async def changed_parts(self) -> list[str]:
        """Return the `part` of each `bot.changed` event, in order."""
        async with self.store.read() as tx:
            found = await self.events.read(tx, f"account:{ACCOUNT}", limit=10_000)
        assert {event.type for event in found} <= {"bot.changed"}
        return [event.data["part"] for event in found]

    async def row(self) -> tuple[Identity, datetime]:
        async with self.store.read() as tx:
            query = sa.select(bots.c.identity, bots.c.updated_at).where(bots.c.id == self.bot.id)
            found = (await tx.execute(query)).one()
        return Identity.model_validate(found.identity), found.updated_at


def soul(purpose: str) -> str:
    body = f"# Personality\n\nPatient.\n\n# Purpose\n\n{purpose}\n# Boundaries\n\nNone.\n"
    return render_soul(Soul(name="Atlas", traits=["calm"], tone="warm", body=body))


FIRST: Mapping[BotFile, str] = {
    BotFile.SOUL: soul("Knows the tides.\n"),
    BotFile.IDENTITY: render_identity(Identity(display_name="Atlas")),
    BotFile.USER: render_user("Atlas"),
    BotFile.SKILLS: render_skills([]),
}


def new_content(text: str, base: str, message: str = "") -> NewContent:
    return NewContent(content=text, base_hash=hash_text(base), message=message)


async def open_bot(store: Store, data_dir: Path, slug: str = "atlas") -> BotOnDisk:
    folders, events = BotFolders(data_dir), EventLog(store, Metrics(version="test"))
    versions = Versions(store, events, folders)
    bot = Bot(
        id=new_id(),
        slug=slug,
        status=BotStatus.ACTIVE,
        identity=Identity(display_name="Atlas"),
        created_at=START,
        updated_at=START,
    )
    folders.create(slug, FIRST)
    async with store.begin() as tx:
        await tx.execute(sa.insert(bots).values(**_values(bot), account_id=ACCOUNT))
        await versions.create_first(tx, bot.id, FIRST, by="Ada")
    return BotOnDisk(store, events, folders, versions, bot)


def another_process(bot_files: BotOnDisk) -> BotOnDisk:
    """Return the same bot in another server with the same database and data directory."""
    folders = BotFolders(bot_files.folders.root.parent)
    return BotOnDisk(
        bot_files.store,
        bot_files.events,
        folders,
        Versions(bot_files.store, bot_files.events, folders),
        bot_files.bot,
    )


def _values(bot: Bot) -> dict[str, object]:
    return {
        **bot.model_dump(include={"id", "slug", "created_at", "updated_at"}),
        **bot.model_dump(mode="json", include={"status", "identity"}),
    }
