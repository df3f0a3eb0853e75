"""Run skills with exactly their grants, within the limits of their tier.

Every invocation is recorded before it begins and again when it ends, so that the log has those whose process died.
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
from forge.llm.budgets import Spender
from forge.runs.journal import account_stream
from forge.skills import store
from forge.skills.execution import (
    LIMITS,
    MAX_INPUT,
    LogLine,
    Program,
    RunEnd,
    RunLimits,
    RunOutcome,
    entry_file,
    program_of,
)
from forge.skills.format.contents import text_of
from forge.skills.host.context import HostServices, Invocation
from forge.skills.host.host import CodeHost, CurrentScope, Host
from forge.skills.host.resources import OwnFolder
from forge.skills.invocations.instructions import InstructionRunner
from forge.skills.invocations.programs import ProgramRunner
from forge.skills.models import SKILL_MD, Capability, Scope, SkillKind, Tier
from forge.skills.skill_state import ReadableSkill, SkillStates
from forge.skills.views import Purpose, SkillInvoked, SkillRan, SkillRun
from forge.skills.wasm.compiled import OURS_S
from forge.skills.wasm.worker_pool import WorkerPool
from forge.store.database import Store

TRIAL_ACCOUNT_PREFIX = "nobody-"
"""Prefix of the temporary accounts of trial runs."""


CRASH_GRACE = timedelta(seconds=60)
"""Time after its deadline at which a run without an end is considered crashed."""
MAX_WAIT = timedelta(seconds=OURS_S)
"""Maximum wait before a run begins: for the runtime to be compiled, or for a free worker."""
MAX_INSTRUCTIONS_TIME = timedelta(hours=1)
"""Maximum time of instructions, which take as long as the model does."""


@dataclass(frozen=True)
class RunRequest:
    """A request to run a skill."""

    account_id: str
    input: Mapping[str, JsonValue]
    purpose: Purpose
    by: str
    bot_id: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    allowed_capabilities: Sequence[Capability] | None = None
    """Restrict the grants to these capabilities; None for all."""
    spender: Spender | None = None
    """Budget for model calls; None for the account, for this invocation alone."""
    render: bool = False
    """Return the instructions of a prompt skill instead of having a model follow them."""


@dataclass(frozen=True)
class SkillResult:
    """The result of a run, before it is recorded."""

    outcome: RunOutcome
    used_capabilities: Mapping[Capability, int] = field(default_factory=dict[Capability, int])
    logs: Sequence[LogLine] = ()
    sandbox: str | None = None
    """Sandbox level of a program; None for a script."""
    cost_micros: int = 0


@dataclass(frozen=True)
class Runner:
    database: Store
    events: EventLog
    states: SkillStates
    workers: WorkerPool
    programs: ProgramRunner
    instructions: InstructionRunner
    host_services: HostServices

    async def run(self, name: str, call: RunRequest) -> SkillRan:
        """Run a skill and record the invocation. Raises if there is no such skill, or nothing can be run here."""
        known = await self.states.get(call.account_id, name)
        if known.problem is not None:
            raise Invalid(f"The skill {name} cannot be used: {known.problem}")
        text = serialize_input(call.input)
        begun = _new_run(known, call, text)
        async with self.database.begin() as tx:
            await store.insert_run(tx, call.account_id, begun)
        try:
            result = await self._run(known, call, text, begun.id)
        except BaseException as error:
            # A ForgeError has a message for the person (no model, no sandbox): it is not a crash.
            end = RunEnd.RAISED if isinstance(error, ForgeError) else RunEnd.CRASHED
            ended = RunOutcome(end, error=_error_message(error), duration_ms=_elapsed_ms(begun))
            await asyncio.shield(self._finish(call.account_id, _finished_run(begun, SkillResult(ended))))
            raise
        ran = _finished_run(begun, result)
        await asyncio.shield(self._finish(call.account_id, ran))
        return ran

    async def try_out(self, name: str, kind: SkillKind, files: Mapping[str, bytes], text: str) -> SkillResult:
        """Run files that are not in the library, with only a temporary `kv`. Nothing is recorded."""
        given = {Capability.KV: Scope()}
        if kind is SkillKind.LOCAL:
            return await self._run_program(
                name, files, text, LIMITS[Tier.LOCAL], {}, account_id="", has_folder=False
            )
        return await self._run_temporarily(name, "", files, text, LIMITS[Tier.UNTRUSTED], given)

    async def test(self, account_id: str, known: ReadableSkill, text: str) -> SkillResult:
        """Run with the account's grants and secrets, but with empty storage that is deleted afterwards."""
        name, files, limits = known.manifest.name, known.snapshot.files, LIMITS[known.tier]
        if (refusal := _refusal(known, known.active_grants)) is not None:
            return SkillResult(RunOutcome(RunEnd.REFUSED, error=refusal))
        if known.manifest.kind is SkillKind.LOCAL:
            return await self._run_program(
                name, files, text, limits, known.active_grants, account_id=account_id, has_folder=False
            )
        version = known.manifest.version
        return await self._run_temporarily(
            name, version, files, text, limits, known.active_grants, secrets_of=account_id
        )

    async def run_code(self, program: Program, text: str) -> SkillResult:
        """Run source code that is not a skill, with only a log. Nothing is recorded."""
        host = CodeHost()
        ended = await self.workers.run(program, text, LIMITS[Tier.VERIFIED], host.call, invocation=new_id())
        return SkillResult(ended, logs=host.logs)

    async def _run(self, known: ReadableSkill, call: RunRequest, text: str, run_id: str) -> SkillResult:
        allowed = _allowed_scopes(known, call.allowed_capabilities)
        if (refusal := _refusal(known, allowed)) is not None:
            return SkillResult(RunOutcome(RunEnd.REFUSED, error=refusal))
        manifest, files, limits = known.manifest, known.snapshot.files, LIMITS[known.tier]
        if call.render and manifest.kind is not SkillKind.PROMPT:
            return SkillResult(RunOutcome(RunEnd.REFUSED, error=cannot_render(manifest.name, manifest.kind)))
        match manifest.kind:
            case SkillKind.PROMPT if call.render:
                return SkillResult(RunOutcome(RunEnd.DONE, {"text": known.composed.body.strip()}))
            case SkillKind.PROMPT:
                return await self._follow_instructions(known, call, text, run_id)
            case SkillKind.SCRIPT:
                settings = dict(call.settings)
                invocation = Invocation(
                    call.account_id, manifest.name, manifest.version, run_id, call.bot_id, settings
                )
                granted_now = partial(self._current_scope, call.account_id, known)
                return await self._run_script(invocation, files, text, limits, allowed, granted_now)
            case SkillKind.LOCAL:
                return await self._run_program(
                    manifest.name, files, text, limits, allowed, account_id=call.account_id
                )

    async def _follow_instructions(
        self, known: ReadableSkill, call: RunRequest, text: str, run_id: str
    ) -> SkillResult:
        """Let a model follow the instructions."""
        started = time.monotonic()
        texts = {
            path: content
            for path, data in known.snapshot.files.items()
            if (content := text_of(data)) is not None
        }
        texts.pop(SKILL_MD, None)
        answered = await self.instructions.run(
            call.spender or Spender(call.account_id, run_id),
            known.composed.body,
            known.manifest.description,
            texts,
            text,
        )
        took = (time.monotonic() - started) * 1000
        ended = RunOutcome(RunEnd.DONE, {"text": answered.text}, duration_ms=took)
        return SkillResult(ended, cost_micros=answered.cost_micros)

    async def _run_script(
        self,
        invocation: Invocation,
        files: Mapping[str, bytes],
        text: str,
        limits: RunLimits,
        allowed: Mapping[Capability, Scope],
        granted_now: CurrentScope | None = None,
    ) -> SkillResult:
        program = program_of(files, invocation.skill)
        host = Host(invocation, allowed, self.host_services, limits.seconds, granted_now)
        ended = await self.workers.run(program, text, limits, host.call, invocation=invocation.id)
        return SkillResult(replace(ended, error=host.mask(ended.error)), host.used, host.logs)

    async def _current_scope(
        self, account_id: str, known: ReadableSkill, capability: Capability
    ) -> Scope | None:
        """Return the current scope of a grant, so that revoking it affects runs in progress."""
        name = known.manifest.name
        async with self.database.read() as tx:
            grants = (await store.list_grants(tx, account_id, name)).get(name, [])
        return replace(known, grants=grants).active_grants.get(capability)

    async def _run_program(
        self,
        name: str,
        files: Mapping[str, bytes],
        text: str,
        limits: RunLimits,
        allowed: Mapping[Capability, Scope],
        *,
        account_id: str,
        has_folder: bool = True,
    ) -> SkillResult:
        ended, level = await self.programs.run(
            files,
            entry_file(SkillKind.LOCAL, files, name),
            text,
            limits,
            allowed,
            environment=self.host_services.environment,
            secret=self.host_services.secret,
            name=name,
            account_id=account_id,
            has_folder=has_folder,
        )
        return SkillResult(ended, dict.fromkeys(allowed, 1), sandbox=level)

    async def _run_temporarily(
        self,
        name: str,
        version: str,
        files: Mapping[str, bytes],
        text: str,
        limits: RunLimits,
        allowed: Mapping[Capability, Scope],
        secrets_of: str | None = None,
    ) -> SkillResult:
        """Run for a temporary account, whose data is deleted afterwards."""
        account_id = f"{TRIAL_ACCOUNT_PREFIX}{new_id()}"
        invocation = Invocation(account_id, name, version, new_id(), None, {}, secrets_of)
        try:
            return await self._run_script(invocation, files, text, limits, allowed)
        finally:
            await asyncio.shield(self._delete_temporary_data(account_id, name))

    async def _delete_temporary_data(self, account_id: str, name: str) -> None:
        await asyncio.to_thread(OwnFolder(self.host_services.files_dir, account_id, name).remove)
        async with self.database.begin() as tx:
            await store.delete_skill(tx, account_id, name)

    async def _finish(self, account_id: str, ran: SkillRun) -> None:
        """Record the end and publish it. The event is ephemeral; the log keeps the details."""
        async with self.database.begin() as tx:
            await store.end_run(tx, ran)
        await self.events.publish_ephemeral(
            account_stream(account_id), SkillInvoked(skill=ran.skill, end=ran.end)
        )


def with_crash_marked(run: SkillRun) -> SkillRun:
    """Mark a run as crashed if it is past its deadline without an end."""
    script_limit = MAX_WAIT + timedelta(seconds=LIMITS[run.tier].seconds)
    limit = MAX_INSTRUCTIONS_TIME if run.kind is SkillKind.PROMPT else script_limit
    if run.end is not RunEnd.RUNNING or now() - run.at < limit + CRASH_GRACE:
        return run
    return run.model_copy(update={"end": RunEnd.CRASHED, "error": "Forge was stopped during the run."})


def serialize_input(given: Mapping[str, JsonValue]) -> str:
    text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    if len(text) > MAX_INPUT:
        raise TooLarge(
            f"The input of a skill is limited to {MAX_INPUT:,} characters; this one has {len(text):,}."
        )
    return text


def _new_run(known: ReadableSkill, call: RunRequest, text: str) -> SkillRun:
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


def unsaved_run(name: str, text: str, result: SkillResult, *, by: str) -> SkillRan:
    """Build the result of a script that is not in the library. It is not recorded."""
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
    return _finished_run(begun, result)


def _finished_run(begun: SkillRun, result: SkillResult) -> SkillRan:
    ended = result.outcome
    return SkillRan(
        **begun.model_dump(
            exclude={"end", "error", "capabilities_used", "fuel", "memory_bytes", "duration_ms", "logs"}
        ),
        end=ended.end,
        error=storable(ended.error),
        capabilities_used=dict(result.used_capabilities),
        fuel=ended.fuel,
        memory_bytes=ended.memory_bytes,
        duration_ms=round(ended.duration_ms, 3),
        logs=list(result.logs),
        output=ended.output,
        sandbox=result.sandbox,
        cost_micros=result.cost_micros,
    ).model_copy(update={"output_hash": hash_json(ended.output) if ended.end is RunEnd.DONE else None})


def _allowed_scopes(known: ReadableSkill, narrowed: Sequence[Capability] | None) -> dict[Capability, Scope]:
    counting = known.active_grants
    if narrowed is None:
        return counting
    return {capability: scope for capability, scope in counting.items() if capability in narrowed}


def _refusal(known: ReadableSkill, allowed: Mapping[Capability, Scope]) -> str | None:
    """Return why the run must not begin; None if it may."""
    name = known.manifest.name
    if known.is_edited:
        return (
            f"The skill {name} changed since its capabilities were granted. Review it and grant them again: "
            f"forge skill inspect {name}, then forge skill grant {name} …"
        )
    if known.manifest.kind is not SkillKind.LOCAL:
        return None
    if known.tier is not Tier.LOCAL:
        return (
            f"The skill {name} is a program, and programs run only at the tier local; its tier is {known.tier.value}. "
            f"If it is your own, or you have reviewed it: forge skill trust {name} local"
        )
    if Capability.EXEC_COMMAND not in allowed:
        return f"The skill {name} is a program: grant it exec_command first (forge skill grant {name} exec_command)."
    return None


def cannot_render(name: str, kind: SkillKind) -> str:
    return f"Only skills of kind prompt can be rendered; {name} is of kind {kind.value}."


def _elapsed_ms(begun: SkillRun) -> float:
    return (now() - begun.at).total_seconds() * 1000


def _error_message(error: BaseException) -> str:
    if isinstance(error, ForgeError):
        return error.message
    return (
        "It was cancelled."
        if isinstance(error, asyncio.CancelledError)
        else "Forge failed; the log has the details."
    )
