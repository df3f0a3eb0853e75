"""Create bots from files or exports: slug, row, folder and first versions, atomically."""

import asyncio
import logging
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from re import fullmatch

from forge.bots import store
from forge.bots.files.folders import BotFolders
from forge.bots.files.identity import parse_identity
from forge.bots.files.problems import errors_of, find_problems, invalid_file
from forge.bots.files.skills_toml import render_skills
from forge.bots.files.user import render_user
from forge.bots.models import MAX_CONTENT, MAX_SLUG, SLUG_PATTERN, Bot, BotFile, BotStatus, Bundle, Identity
from forge.bots.notifications import notify_changed
from forge.bots.versions.service import Versions
from forge.errors import Conflict, Invalid, NotFound
from forge.events.log import EventLog
from forge.kernel.ids import new_id
from forge.store.database import Store, Tx

MAX_SUFFIX = 100
FALLBACK = "bot"

_WINDOWS = {"con", "prn", "aux", "nul"} | {
    f"{port}{number}" for port in ("com", "lpt") for number in range(10)
}
_URL_NAMES = {"import", "new"}
_OTHER = re.compile(r"[^a-z0-9]+")
_LIKE_AN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def slug_of(name: str) -> str:
    if not any(character.isalnum() for character in name):
        raise Invalid("A name must contain a letter or a digit.", field="name")
    slug = _cut(_OTHER.sub("-", _folded(name)).strip("-"), MAX_SLUG) or FALLBACK
    return f"{slug}-{FALLBACK}" if _is_reserved(slug) else slug


def slug_candidates(slug: str) -> Iterator[str]:
    """Yield the slug, then numbered variants of it."""
    yield slug
    for number in range(2, MAX_SUFFIX + 1):
        suffix = f"-{number}"
        yield _cut(slug, MAX_SLUG - len(suffix)) + suffix


def _folded(name: str) -> str:
    """Remove accents and case: `Zoë` becomes `zoe`, `Straße` becomes `strasse`."""
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return "".join(character for character in parts if not unicodedata.combining(character))


def _cut(slug: str, length: int) -> str:
    return slug[:length].rstrip("-")


def _is_reserved(slug: str) -> bool:
    """Return whether a slug is a device name on Windows, part of a URL, or looks like an id."""
    return slug in _WINDOWS or slug in _URL_NAMES or bool(_LIKE_AN_ID.fullmatch(slug))


FILES = {file.file_name: file for file in BotFile}
REQUIRED_FILES = (BotFile.SOUL, BotFile.IDENTITY)


def to_bundle(slug: str, contents: Mapping[BotFile, str], at: datetime) -> Bundle:
    files = {file.file_name: text for file, text in contents.items()}
    return Bundle(forge_bot=1, slug=slug, exported_at=at, files=files)


def bundle_contents(bundle: Bundle) -> dict[BotFile, str]:
    """Return the four files of an export; missing optional files get default contents."""
    if unknown := sorted(set(bundle.files) - set(FILES)):
        raise Invalid(
            f"Unknown file {unknown[0]!r}.", hint=f"A bot has the files {', '.join(FILES)}.", field="files"
        )
    contents = {FILES[name]: text for name, text in bundle.files.items()}
    for file in REQUIRED_FILES:
        if file not in contents:
            raise Invalid(f"{file.file_name} is missing.", hint="Every bot needs this file.", field="files")
    defaults = {BotFile.USER: render_user(_name(contents)), BotFile.SKILLS: render_skills([])}
    return {file: contents.get(file, defaults.get(file, "")) for file in BotFile}


def bundle_slug(bundle: Bundle, contents: Mapping[BotFile, str]) -> str:
    """Return the exported slug if it is valid, else one derived from the name."""
    return slug_of(bundle.slug if fullmatch(SLUG_PATTERN, bundle.slug) else _name(contents))


def _name(contents: Mapping[BotFile, str]) -> str:
    identity = parse_identity(contents[BotFile.IDENTITY]).value
    return identity.display_name if identity else "bot"


log = logging.getLogger(__name__)

InTransaction = Callable[[Tx, list[Bot]], Awaitable[None]]
"""Called in the transaction that creates bots. They have their slugs, but no folders yet, so an exception leaves no trace."""


@dataclass(frozen=True)
class NewBotFiles:
    """A bot to create: its preferred slug and its four files."""

    slug: str
    contents: Mapping[BotFile, str]


class BotCreator:
    """Insert the row first, which reserves the slug and makes concurrent transactions wait. Then create the folder
    atomically, and commit.

    A process that dies before the commit leaves a folder without a row. It must not block the slug, but it could also have
    been created by a person, so it is not deleted: the next bot with this slug moves it to its own trash.
    """

    def __init__(
        self,
        database: Store,
        events: EventLog,
        folders: BotFolders,
        versions: Versions,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._events = events
        self._folders = folders
        self._versions = versions
        self._clock = clock

    async def create(
        self, account_id: str, new: Sequence[NewBotFiles], *, by: str, in_transaction: InTransaction
    ) -> list[Bot]:
        """Create all bots or none, each with the first free slug."""
        identities = [await asyncio.to_thread(_check_contents, one.contents) for one in new]
        drafts = [self._draft(one.slug, identity) for one, identity in zip(new, identities, strict=True)]
        with_folder: list[Bot] = []
        try:
            async with self._database.begin() as tx:
                bots = [await _insert_with_free_slug(tx, account_id, draft) for draft in drafts]
                await in_transaction(tx, bots)
                for bot, one in zip(bots, new, strict=True):
                    await asyncio.to_thread(self._create_folder, bot, one.contents)
                    with_folder.append(bot)
                    await self._versions.create_first(tx, bot.id, one.contents, by=by)
                    await notify_changed(tx, self._events, bot.id, "bot")
        except BaseException:
            for bot in with_folder:
                await self._undo_folder(bot)
            raise
        return bots

    def _draft(self, slug: str, identity: Identity) -> Bot:
        at = self._clock()
        return Bot(
            id=new_id(), slug=slug, status=BotStatus.ACTIVE, identity=identity, created_at=at, updated_at=at
        )

    def _create_folder(self, bot: Bot, contents: Mapping[BotFile, str]) -> None:
        try:
            self._folders.create(bot.slug, contents)
        except Conflict:
            self._folders.move_to_trash(bot.slug, bot.id)
            log.warning("moved folder %s, which belongs to no bot, to the trash", bot.slug)
            self._folders.create(bot.slug, contents)

    async def _undo_folder(self, bot: Bot) -> None:
        """Remove the folder, unless the commit succeeded although its connection broke."""
        async with self._database.read() as tx:
            if await store.exists(tx, bot.id):
                return
        await asyncio.to_thread(self._remove_folder, bot)

    def _remove_folder(self, bot: Bot) -> None:
        """Remove the new folder and restore the one that was moved to the trash."""
        trash_id = new_id()
        self._folders.move_to_trash(bot.slug, trash_id)
        self._folders.delete_from_trash(trash_id)
        with suppress(NotFound):
            self._folders.restore_from_trash(bot.id, bot.slug)


async def _insert_with_free_slug(tx: Tx, account_id: str, draft: Bot) -> Bot:
    for slug in slug_candidates(draft.slug):
        bot = draft.model_copy(update={"slug": slug})
        if await store.insert(tx, bot, account_id):
            return bot
    raise Conflict(f"{draft.slug!r} and its numbered variants are taken.", hint="Choose another name.")


def _check_contents(contents: Mapping[BotFile, str]) -> Identity:
    for file, text in contents.items():
        if len(text) > MAX_CONTENT:
            raise Invalid(f"{file.file_name} is longer than {MAX_CONTENT:,} characters.")
    if errors := errors_of(
        [problem for file, text in contents.items() for problem in find_problems(file, text)]
    ):
        raise invalid_file(errors)
    identity = parse_identity(contents[BotFile.IDENTITY]).value
    if identity is None:
        raise Invalid("IDENTITY.md cannot be read.")
    return identity
