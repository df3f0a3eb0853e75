"""What branch protection refuses, for pushes and for updates through the API."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from forge.demo.github.bare_repository import ZERO
from forge.demo.github.world import Account, JsonObject, Repository, Role


@dataclass(frozen=True)
class Rule:
    ref: str
    kind: Literal["push", "delete", "force"]
    message: str
    passing: frozenset[str] = frozenset()
    """Commits that the rule lets pass."""


def rules_for(repository: Repository, user: Account) -> list[Rule]:
    """Return what a user must not do with the protected branches of a repository."""
    return [
        rule
        for branch, settings in repository.protections.items()
        for rule in _rules(repository, user, f"refs/heads/{branch}", settings)
    ]


async def broken_rules(repository: Repository, user: Account, ref: str, old: str, new: str) -> list[str]:
    """Return the messages of the rules that an update breaks. The update hook does the same for pushes."""
    is_forced = ZERO not in (old, new) and not await repository.git.is_ancestor(old, new)
    applies = {"delete": new == ZERO, "push": new != ZERO, "force": is_forced}
    rules = [rule for rule in rules_for(repository, user) if rule.ref == ref and applies[rule.kind]]
    return [rule.message for rule in rules if new not in rule.passing]


def hook_environment(repository: Repository, user: Account) -> dict[str, str]:
    """Return the rules as the update hook of the repository reads them."""
    lines = (
        f"{rule.ref} {rule.kind} {','.join(rule.passing) or '-'} {rule.message}"
        for rule in rules_for(repository, user)
    )
    return {"PROTECTION": "\n".join(lines)}


def _rules(repository: Repository, user: Account, ref: str, settings: JsonObject) -> Iterator[Rule]:
    if not settings.get("allow_deletions"):
        yield Rule(ref, "delete", "Cannot delete this branch")
    if not settings.get("allow_force_pushes"):
        yield Rule(ref, "force", "Cannot force-push to this branch")
    if repository.role_of(user) is Role.ADMIN and not settings.get("enforce_admins"):
        return
    if (allowed := settings.get("restrictions")) is not None and user.login not in allowed.get("users", []):
        yield Rule(ref, "push", "You're not authorized to push to this branch.")
    if settings.get("required_pull_request_reviews") is not None:
        yield Rule(ref, "push", "Changes must be made through a pull request.")
    for context in required_contexts(settings):
        shas = {status.sha for status in repository.statuses if status.context == context}
        passing = {sha for sha in shas if repository.latest_statuses(sha)[context].state == "success"}
        yield Rule(ref, "push", f'Required status check "{context}" is expected.', frozenset(passing))


def required_contexts(settings: JsonObject) -> list[str]:
    checks: JsonObject = settings.get("required_status_checks") or {}
    named = [check["context"] for check in checks.get("checks", [])]
    return [*checks.get("contexts", []), *named]
