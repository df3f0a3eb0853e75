"""Runs skills: the folder as it was granted, with what was granted and no more, within the limits of its tier.

Every invocation is written down before it begins and again when it ends, so that one whose process died is there too.
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from pydantic import JsonValue

from forge.errors import ForgeError, Invalid, TooLarge
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.hashing import hash_json, hash_text
from forge.kernel.ids import new_id
from forge.kernel.text import storable
from forge.llm.money import Spender
from forge.runs.journal import account_stream
from forge.skills import store
from forge.skills.contents import text_of
from forge.skills.entries import entry_of, program_of
from forge.skills.execution import LIMITS, MAX_INPUT, Ended, LogLine, Program, RunEnd, RunLimits
from forge.skills.host.code import CodeHost
from forge.skills.host.host import GrantedNow, Host
from forge.skills.host.own_folder import OwnFolder
from forge.skills.host.parts import HostParts, Invocation
from forge.skills.knowing import Knowing, Known
from forge.skills.local import Programs
from forge.skills.models import SKILL_MD, Capability, Scope, SkillKind, Tier
from forge.skills.prompt_run import PromptRuns
from forge.skills.retention import NOBODY
from forge.skills.views import Purpose, SkillInvoked, SkillRan, SkillRun
from forge.skills.wasm.compiled import OURS_S
from forge.skills.wasm.crew import Crew
from forge.store.engine import Store

GRACE = timedelta(seconds=60)
"""How long after the latest moment it could have ended a run without an end is taken for one whose process died."""
WAITING = timedelta(seconds=OURS_S)
"""Before its time begins: until the runtime of its language is compiled, or there is room for one more."""
FOLLOWING = timedelta(hours=1)
"""Of instructions, whose time is the model's: each turn takes as long as its answer."""


@dataclass(frozen=True)
class Call:
    """Who runs what, and for what."""

    account_id: str
    input: Mapping[str, JsonValue]
    purpose: Purpose
    by: str
    bot_id: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    narrowed: Sequence[Capability] | None = None
    """Of what was granted, only these; None for all."""
    spender: Spender | None = None
    """Who pays for a model; without one the account, for this invocation alone."""


@dataclass(frozen=True)
class Result:
    """What a run came to, before it is written down."""

    ended: Ended
    used: Mapping[Capability, int] = field(default_factory=dict[Capability, int])
    logs: Sequence[LogLine] = ()
    sandbox: str | None = None
    """How well a program was locked in; None for a script, which can touch nothing."""
    cost_micros: int = 0


@dataclass(frozen=True)
class Runner:
    database: Store
    events: EventLog
    knowing: Knowing
    crew: Crew
    programs: Programs
    prompts: PromptRuns
    parts: HostParts

    async def run(self, name: str, call: Call) -> SkillRan:
        """Whatever the skill does is an end. Raises when there is no such skill, or nothing can be run here."""
        known = await self.knowing.one(call.account_id, name)
        if known.problem is not None:
            raise Invalid(f"The skill {name} cannot be used: {known.problem}")
        text = input_text(call.input)
        begun = _begun(known, call, text)
        async with self.database.begin() as tx:
            await store.insert_run(tx, call.account_id, begun)
        try:
            result = await self._run(known, call, text, begun.id)
        except BaseException as error:
            # What can be told to a person is no crash: there is no model, or nothing can be locked in here.
            end = RunEnd.RAISED if isinstance(error, ForgeError) else RunEnd.CRASHED
            ended = Ended(end, error=_why(error), duration_ms=_since(begun))
            await asyncio.shield(self._finish(call.account_id, _ran(begun, Result(ended))))
            raise
        ran = _ran(begun, result)
        await asyncio.shield(self._finish(call.account_id, ran))
        return ran

    async def try_out(self, name: str, kind: SkillKind, files: Mapping[str, bytes], text: str) -> Result:
        """A skill as it would be: nothing granted but what it keeps until it ends, nothing written down."""
        given = {Capability.KV: Scope()}
        if kind is SkillKind.LOCAL:
            return await self._run_program(name, files, text, LIMITS[Tier.LOCAL], {}, account_id="")
        return await self._run_alone(name, "", files, text, LIMITS[Tier.UNTRUSTED], given)

    async def test(self, known: Known, text: str) -> Result:
        """As it is granted, but with nothing kept from earlier or for later."""
        name, files, limits = known.manifest.name, known.snapshot.files, LIMITS[known.tier]
        if (refusal := _refused(known, known.counting)) is not None:
            return Result(Ended(RunEnd.REFUSED, error=refusal))
        if known.manifest.kind is SkillKind.LOCAL:
            return await self._run_program(name, files, text, limits, known.counting, account_id="")
        return await self._run_alone(name, known.manifest.version, files, text, limits, known.counting)

    async def run_code(self, program: Program, text: str) -> Result:
        """Source that is no skill: with nothing but its log, and not written down."""
        host = CodeHost()
        ended = await self.crew.run(program, text, LIMITS[Tier.VERIFIED], host.call, invocation=new_id())
        return Result(ended, logs=host.logs)

    async def _run(self, known: Known, call: Call, text: str, run_id: str) -> Result:
        allowed = _allowed(known, call.narrowed)
        if (refusal := _refused(known, allowed)) is not None:
            return Result(Ended(RunEnd.REFUSED, error=refusal))
        manifest, files, limits = known.manifest, known.snapshot.files, LIMITS[known.tier]
        match manifest.kind:
            case SkillKind.PROMPT:
                return await self._follow(known, call, text, run_id)
            case SkillKind.SCRIPT:
                settings = dict(call.settings)
                invocation = Invocation(
                    call.account_id, manifest.name, manifest.version, run_id, call.bot_id, settings
                )
                granted_now = partial(self._granted_now, call.account_id, known)
                return await self._run_script(invocation, files, text, limits, allowed, granted_now)
            case SkillKind.LOCAL:
                return await self._run_program(
                    manifest.name, files, text, limits, allowed, account_id=call.account_id
                )

    async def _follow(self, known: Known, call: Call, text: str, run_id: str) -> Result:
        """Instructions are followed by a model."""
        started = time.monotonic()
        texts = {
            path: told for path, data in known.snapshot.files.items() if (told := text_of(data)) is not None
        }
        texts.pop(SKILL_MD, None)
        answered = await self.prompts.run(
            call.spender or Spender(call.account_id, run_id),
            known.composed.body,
            known.manifest.description,
            texts,
            text,
        )
        took = (time.monotonic() - started) * 1000
        ended = Ended(RunEnd.DONE, {"text": answered.text}, duration_ms=took)
        return Result(ended, cost_micros=answered.cost_micros)

    async def _run_script(
        self,
        invocation: Invocation,
        files: Mapping[str, bytes],
        text: str,
        limits: RunLimits,
        allowed: Mapping[Capability, Scope],
        granted_now: GrantedNow | None = None,
    ) -> Result:
        program = program_of(files, invocation.skill)
        host = Host(invocation, allowed, self.parts, limits.seconds, granted_now)
        ended = await self.crew.run(program, text, limits, host.call, invocation=invocation.id)
        return Result(replace(ended, error=host.hide(ended.error)), host.used, host.logs)

    async def _granted_now(self, account_id: str, known: Known, capability: Capability) -> Scope | None:
        """Asked before each use: what is revoked ends for runs that are under way."""
        name = known.manifest.name
        async with self.database.read() as tx:
            grants = (await store.list_grants(tx, account_id, name)).get(name, [])
        return replace(known, grants=grants).counting.get(capability)

    async def _run_program(
        self,
        name: str,
        files: Mapping[str, bytes],
        text: str,
        limits: RunLimits,
        allowed: Mapping[Capability, Scope],
        *,
        account_id: str,
    ) -> Result:
        ended, level = await self.programs.run(
            files,
            entry_of(SkillKind.LOCAL, files, name),
            text,
            limits,
            allowed,
            environment=self.parts.environment,
            secret=self.parts.secret,
            name=name,
            account_id=account_id,
        )
        return Result(ended, dict.fromkeys(allowed, 1), sandbox=level)

    async def _run_alone(
        self,
        name: str,
        version: str,
        files: Mapping[str, bytes],
        text: str,
        limits: RunLimits,
        allowed: Mapping[Capability, Scope],
    ) -> Result:
        """On behalf of nobody: what it keeps and writes is gone when it ends."""
        nobody = f"{NOBODY}{new_id()}"
        invocation = Invocation(nobody, name, version, new_id(), None, {})
        try:
            return await self._run_script(invocation, files, text, limits, allowed)
        finally:
            await asyncio.shield(self._forget(nobody, name))

    async def _forget(self, account_id: str, name: str) -> None:
        await asyncio.to_thread(OwnFolder(self.parts.files_dir, account_id, name).remove)
        async with self.database.begin() as tx:
            await store.delete_skill(tx, account_id, name)

    async def _finish(self, account_id: str, ran: SkillRun) -> None:
        """Pages hear of it live; whoever comes later reads the log of the skill."""
        async with self.database.begin() as tx:
            await store.end_run(tx, ran)
        await self.events.whisper(account_stream(account_id), SkillInvoked(skill=ran.skill, end=ran.end))


def as_shown(run: SkillRun) -> SkillRun:
    """Of a run that never ended, that its process did."""
    of_its_own = WAITING + timedelta(seconds=LIMITS[run.tier].seconds)
    limit = FOLLOWING if run.kind is SkillKind.PROMPT else of_its_own
    if run.end is not RunEnd.RUNNING or now() - run.at < limit + GRACE:
        return run
    return run.model_copy(update={"end": RunEnd.CRASHED, "error": "Forge ended while it ran."})


def input_text(given: Mapping[str, JsonValue]) -> str:
    text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    if len(text) > MAX_INPUT:
        raise TooLarge(
            f"What goes into a skill has {MAX_INPUT:,} characters at most; this has {len(text):,}."
        )
    return text


def _begun(known: Known, call: Call, text: str) -> SkillRun:
    return SkillRun(
        id=new_id(),
        skill=known.manifest.name,
        version=known.manifest.version,
        folder_hash=known.folder_hash,
        kind=known.manifest.kind,
        tier=known.tier,
        purpose=call.purpose,
        bot_id=call.bot_id,
        by=call.by,
        end=RunEnd.RUNNING,
        input_hash=hash_text(text),
        duration_ms=0.0,
        at=now(),
    )


def tried_run(name: str, text: str, result: Result, *, by: str) -> SkillRan:
    """Of a script that is not in the library: told, not written down."""
    begun = SkillRun(
        id=new_id(),
        skill=name,
        version="",
        folder_hash="",
        kind=SkillKind.SCRIPT,
        tier=Tier.UNTRUSTED,
        purpose="test",
        by=by,
        end=RunEnd.RUNNING,
        input_hash=hash_text(text),
        duration_ms=0.0,
        at=now(),
    )
    return _ran(begun, result)


def _ran(begun: SkillRun, result: Result) -> SkillRan:
    ended = result.ended
    return SkillRan(
        **begun.model_dump(
            exclude={"end", "error", "capabilities_used", "fuel", "memory_bytes", "duration_ms", "logs"}
        ),
        end=ended.end,
        error=storable(ended.error),
        capabilities_used=dict(result.used),
        fuel=ended.fuel,
        memory_bytes=ended.memory_bytes,
        duration_ms=round(ended.duration_ms, 3),
        logs=list(result.logs),
        output=ended.output,
        sandbox=result.sandbox,
        cost_micros=result.cost_micros,
    ).model_copy(update={"output_hash": hash_json(ended.output) if ended.end is RunEnd.DONE else None})


def _allowed(known: Known, narrowed: Sequence[Capability] | None) -> dict[Capability, Scope]:
    counting = known.counting
    if narrowed is None:
        return counting
    return {capability: scope for capability, scope in counting.items() if capability in narrowed}


def _refused(known: Known, allowed: Mapping[Capability, Scope]) -> str | None:
    """Why it is not even begun."""
    name = known.manifest.name
    if known.is_edited:
        return (
            f"The skill {name} was changed since you granted it what it may do. Look at it and grant it again: "
            f"forge skill inspect {name}, then forge skill grant {name} …"
        )
    if known.manifest.kind is not SkillKind.LOCAL:
        return None
    if known.tier is not Tier.LOCAL:
        return (
            f"The skill {name} is a program, and programs run at the tier local only; it has {known.tier.value}. "
            f"If it is your own, or you have read it: forge skill trust {name} local"
        )
    if Capability.EXEC_COMMAND not in allowed:
        return f"The skill {name} is a program: grant it exec_command first (forge skill grant {name} exec_command)."
    return None


def _since(begun: SkillRun) -> float:
    return (now() - begun.at).total_seconds() * 1000


def _why(error: BaseException) -> str:
    if isinstance(error, ForgeError):
        return error.message
    return (
        "It was stopped."
        if isinstance(error, asyncio.CancelledError)
        else "Forge failed; the log has the details."
    )
