"""What a skill is told: who it is, secrets and variables somebody named, what its bot remembers."""

from pydantic import JsonValue

from forge.kernel.text import whole_characters
from forge.skills.execution import HostError
from forge.skills.host.advice import how_to_grant
from forge.skills.host.arguments import Env, Log, Memory, Nothing, Secret
from forge.skills.host.parts import Running
from forge.skills.host.variables import check_variable
from forge.skills.models import Scope


async def log(running: Running, _: Scope, given: Log) -> JsonValue:
    running.lines.add(given.level, given.message)
    return None


async def context(running: Running, _: Scope, _given: Nothing) -> JsonValue:
    invocation = running.invocation
    return {
        "skill": invocation.skill,
        "version": invocation.version,
        "bot": invocation.bot_id,
        "invocation": invocation.id,
        "settings": dict(invocation.settings),
    }


async def secret(running: Running, scope: Scope, given: Secret) -> JsonValue:
    _check_named(running, scope, given)
    value = (await running.parts.secret(given.name)).get_secret_value()
    running.hidden.add(value)
    return value


async def env(running: Running, scope: Scope, given: Env) -> JsonValue:
    """None for one that is not set."""
    _check_named(running, scope, given)
    check_variable(given.name)
    value = running.parts.environment.get(given.name)
    return None if value is None else whole_characters(value)


async def memory(running: Running, _: Scope, given: Memory) -> JsonValue:
    bot_id, recall = running.invocation.bot_id, running.parts.recall
    if bot_id is None or recall is None:
        raise HostError("There is no bot whose memories could be recalled: run the skill through one.")
    found = await recall(running.invocation.account_id, bot_id, given.query, given.limit)
    return list[JsonValue](found)


def _check_named(running: Running, scope: Scope, given: Secret | Env) -> None:
    if given.name not in scope.names:
        raise HostError(
            f"{given.name!r} is not among the names that were granted. To allow it: "
            + how_to_grant(running.invocation.skill, given.needs, [*scope.names, given.name])
        )
