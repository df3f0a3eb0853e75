"""Interviews at their end, and what makes something of them: a real database, a real disk, no sockets."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bots.workshop import ME, Workshop

from forge.errors import Conflict
from forge.interview.assembly.assembly import Assembly
from forge.interview.categories import Known
from forge.interview.config import BuilderConfig, SkillBuildRequest
from forge.interview.drafts import Drafts
from forge.interview.models import FileChange
from forge.interview.phases import Mode
from forge.interview.state import Made, Speaker, State
from forge.skills.library import Library
from forge.skills.own import OwnSkills
from forge.skills.recording import Recording
from forge.store.engine import Store, Tx

SESSION = "11111111-2222-4333-8444-555555555555"


def settings(**changes: Any) -> BuilderConfig:
    """Dotted names reach into the parts: `personality__tone`."""
    given: dict[str, Any] = {
        "name": "Ada",
        "description": "Reviews pull requests.",
        "category": "assistant",
        "tags": ["coding"],
        "personality": {
            "tone": "technical",
            "traits": ["precise", "patient"],
            "purpose": "Review pull requests for two teams.",
            "boundaries": "Never approve its own work",
        },
        "model_config": {"model": "default", "temperature": 0.2, "max_tokens": 4096},
    }
    for name, value in changes.items():
        part, _, inner = name.partition("__")
        if inner:
            given[part] = {**given[part], inner: value}
        else:
            given[part] = value
    return BuilderConfig.model_validate(given)


def interview(mode: Mode = Mode.BOT, **more: Any) -> State:
    given: dict[str, Any] = {
        "session_id": SESSION,
        "description": "A bot that reviews pull requests",
        "found_purpose": Known.CODING,
        "speaker": Speaker.GUIDE,
    }
    return State(mode=mode, **{**given, **more})


def contents(changes: list[FileChange]) -> dict[str, str]:
    return {change.path: change.content for change in changes}


class AlreadyMade(Conflict):
    pass


@dataclass
class Workbench:
    shop: Workshop

    def __post_init__(self) -> None:
        shop = self.shop
        self.library = Library(shop.data_dir)
        self.drafts = Drafts(shop.database, shop.events)
        self.assembly = Assembly(
            shop.database,
            shop.bots,
            shop.versions,
            self.library,
            OwnSkills(self.library, Recording(shop.events)),
            shop.catalog,
        )

    async def begin(self, state: State) -> None:
        async with self.shop.database.begin() as tx:
            await self.drafts.create(tx, ME, state)

    async def settle(self, tx: Tx, made: Made) -> None:
        """As the service of interviews does it: the first one ends it."""
        draft = await self.drafts.lock(tx, ME, SESSION)
        if draft.state.made is not None:
            raise AlreadyMade("This was made already.")
        await self.drafts.save(tx, draft, draft.state.but(made=made))

    async def assemble(self, state: State, config: BuilderConfig) -> Made:
        return await self.assembly.assemble(ME, state, config, by="Ada", settle=self.settle)

    async def create(self, state: State, request: SkillBuildRequest) -> Made:
        return await self.assembly.create_skill(ME, state, request, by="Ada", settle=self.settle)

    async def ended(self) -> Made | None:
        return (await self.drafts.find(ME, SESSION)).state.made

    def on_disk(self) -> dict[str, str]:
        """Every file of bots and skills, by the paths a plan has."""
        found = {path.relative_to(self.shop.data_dir): path for path in self.shop.data_dir.rglob("*")}
        files = {
            name: path for name, path in found.items() if path.is_file() and not path.name.startswith(".")
        }
        return {
            str(name).removeprefix("bots/"): path.read_text()
            for name, path in files.items()
            if name.parts[0] in ("bots", "skills")
        }


def open_workbench(store: Store, data_dir: Path) -> Workbench:
    return Workbench(Workshop(store, data_dir))
