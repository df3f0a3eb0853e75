"""Finished interviews and an assembler with a real database and disk."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bots.environment import ME, BotEnvironment

from forge.errors import Conflict
from forge.interview.assembly.assembler import Assembler
from forge.interview.domain.build_config import BuilderConfig, SkillBuildRequest
from forge.interview.domain.categories import KnownPurpose
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import InterviewSpeaker, Made, State
from forge.interview.drafts import Drafts
from forge.interview.models import FileChange
from forge.skills.library.library import Library
from forge.skills.records import OwnSkills, SkillRecords
from forge.store.database import Store, Tx

SESSION = "11111111-2222-4333-8444-555555555555"


def settings(**changes: Any) -> BuilderConfig:
    """Build a config; a double underscore sets a nested value: `personality__tone`."""
    values: dict[str, Any] = {
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
            values[part] = {**values[part], inner: value}
        else:
            values[part] = value
    return BuilderConfig.model_validate(values)


def interview(mode: Mode = Mode.BOT, **more: Any) -> State:
    values: dict[str, Any] = {
        "session_id": SESSION,
        "description": "A bot that reviews pull requests",
        "found_purpose": KnownPurpose.CODING,
        "speaker": InterviewSpeaker.GUIDE,
    }
    return State(mode=mode, **{**values, **more})


def contents(changes: list[FileChange]) -> dict[str, str]:
    return {change.path: change.content for change in changes}


class AlreadyMade(Conflict):
    pass


@dataclass
class Workbench:
    environment: BotEnvironment

    def __post_init__(self) -> None:
        environment = self.environment
        self.library = Library(environment.data_dir)
        self.drafts = Drafts(environment.database, environment.events)
        self.assembly = Assembler(
            environment.database,
            environment.bots,
            environment.versions,
            self.library,
            OwnSkills(self.library, SkillRecords(environment.events)),
            environment.catalog,
        )

    async def begin(self, state: State) -> None:
        async with self.environment.database.begin() as tx:
            await self.drafts.create(tx, ME, state)

    async def finish(self, tx: Tx, made: Made) -> None:
        """Finish the interview as the service does: only the first call succeeds."""
        draft = await self.drafts.lock(tx, ME, SESSION)
        if draft.state.made is not None:
            raise AlreadyMade("This interview is already finished.")
        await self.drafts.save(tx, draft, draft.state.replace(made=made))

    async def assemble(self, state: State, config: BuilderConfig) -> Made:
        return await self.assembly.assemble(ME, state, config, by="Ada", finish=self.finish)

    async def create(self, state: State, request: SkillBuildRequest) -> Made:
        return await self.assembly.create_skill(ME, state, request, by="Ada", finish=self.finish)

    async def result(self) -> Made | None:
        return (await self.drafts.find(ME, SESSION)).state.made

    def on_disk(self) -> dict[str, str]:
        """Return every file of bots and skills by the paths used in plans."""
        found = {
            path.relative_to(self.environment.data_dir): path for path in self.environment.data_dir.rglob("*")
        }
        files = {
            name: path for name, path in found.items() if path.is_file() and not path.name.startswith(".")
        }
        return {
            str(name).removeprefix("bots/"): path.read_text()
            for name, path in files.items()
            if name.parts[0] in ("bots", "skills")
        }


def open_workbench(store: Store, data_dir: Path) -> Workbench:
    return Workbench(BotEnvironment(store, data_dir))
