"""Dependencies, parents and conflicts of the skills in a library.

Pure functions over a mapping of names to skills.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from forge.errors import Conflict, Invalid
from forge.skills.models import Capability, Manifest, Skill
from forge.skills.relations.semver import Requirement, parse_requirement, parse_requirements
from forge.skills.views import RelationView

MAX_LEVELS = 3
"""Maximum levels of parents above a skill."""

SkillsByName = Mapping[str, Skill]
Next = Callable[[Manifest], list[str]]


@dataclass(frozen=True)
class Composed:
    """A skill combined with its parents."""

    body: str
    """Instructions of the parents, each under a heading, then its own."""
    capabilities: Mapping[Capability, str]
    """Requested capabilities, each with the skill that requests it: itself or the nearest parent."""
    parents: tuple[Manifest, ...]
    """Nearest first, without duplicates."""


@dataclass(frozen=True)
class Resolved:
    """The dependencies of a skill, and the problems with them."""

    order: list[str]
    """All required skills in dependency order, itself last."""
    problems: list[str] = field(default_factory=list[str])


def compose(name: str, skills: SkillsByName) -> Composed:
    """Combine a skill with its parents. Raises Invalid if they are missing, too deep or circular."""
    if problem := next(_parent_problems(name, skills), None):
        raise Invalid(f"The skill {name} cannot be put together: {problem}", hint=_PARENTS_HINT)
    parents = tuple(skills[parent].manifest for parent in _nearest_first(name, skills))
    manifest = skills[name].manifest
    asked: dict[Capability, str] = {}
    for one in (manifest, *parents):
        for capability in one.capabilities:
            asked.setdefault(capability, one.name)
    return Composed(_body(name, skills), {one: asked[one] for one in Capability if one in asked}, parents)


def resolve(name: str, skills: SkillsByName) -> Resolved:
    """Resolve all dependencies and parents of a skill, transitively."""
    order = list(_depth_first(name, skills, _needed))
    found = [
        *_incompatible(order, skills),
        *_unmet_needs(name, order, skills),
        *(f"Skills need each other in a circle: {circle}." for circle in _circles(name, skills, _needed)),
    ]
    if not found:
        found += [
            *_too_deep(name, skills),
            *(problem for one in order for problem in _conflicts_in(one, order, skills)),
        ]
    return Resolved([one for one in order if one in skills], list(dict.fromkeys(found)))


def problem_of(name: str, skills: SkillsByName) -> str | None:
    """Return the first problem that keeps the skill from being used."""
    problems = resolve(name, skills).problems
    return problems[0] if problems else None


def check_conflicts(names: Iterable[str], skills: SkillsByName) -> None:
    """Raise Conflict if two of the skills, or of their dependencies, cannot be used by the same bot."""
    chain = list(dict.fromkeys(one for name in names for one in _depth_first(name, skills, _needed)))
    for one in chain:
        for problem in _conflicts_in(one, chain, skills):
            raise Conflict(problem, hint="Use one of the two, or give them to different bots.")


def dependents(name: str, skills: SkillsByName) -> list[str]:
    """Return the skills that need it or inherit from it, sorted."""
    return sorted(
        other
        for other, skill in skills.items()
        if other != name and name in (*_needed(skill.manifest), *_parents(skill.manifest))
    )


def dependency_views(name: str, skills: SkillsByName) -> list[RelationView]:
    return [
        _requirement_view(requirement, skills)
        for requirement in parse_requirements(skills[name].manifest.dependencies)
    ]


def parent_views(name: str, skills: SkillsByName) -> list[RelationView]:
    """Return the parents, nearest first, with their problems."""
    named = {
        requirement.name: requirement for requirement in parse_requirements(skills[name].manifest.parents)
    }
    above = dict.fromkeys([*named, *_nearest_first(name, skills)])
    return [
        _requirement_view(named.get(parent, Requirement(parent)), skills)
        for parent in above
        if parent != name
    ]


def conflict_views(name: str, skills: SkillsByName) -> list[RelationView]:
    """Return the skills it conflicts with, declared by either side, including conflicts of its dependencies."""
    found: dict[str, RelationView] = {}
    chain = [one for one in _depth_first(name, skills, _needed) if one in skills]
    for one in chain:
        for requirement in parse_requirements(skills[one].manifest.conflicts):
            if requirement.name != name:
                found.setdefault(requirement.name, _conflict_view(one, requirement, skills))
    for other, skill in skills.items():
        for requirement in parse_requirements(skill.manifest.conflicts):
            if requirement.name in chain and other != name and _applies(requirement, skills):
                problem = f"{other} says it cannot be used together with {requirement.name}."
                found.setdefault(
                    other, RelationView(name=other, version=skill.manifest.version, problem=problem)
                )
    return [found[other] for other in sorted(found)]


def _needed(manifest: Manifest) -> list[str]:
    """Return the names of its dependencies and parents."""
    return list(dict.fromkeys([*_parents(manifest), *_dependencies(manifest)]))


def _dependencies(manifest: Manifest) -> list[str]:
    return [requirement.name for requirement in parse_requirements(manifest.dependencies)]


def _parents(manifest: Manifest) -> list[str]:
    return [requirement.name for requirement in parse_requirements(manifest.parents)]


def _depth_first(name: str, skills: SkillsByName, after: Next) -> Iterator[str]:
    """Yield names depth first, each after its dependencies. Iterative, since a chain may be as long as the library."""
    seen = {name}
    path = [(name, iter(_neighbors(name, skills, after)))]
    while path:
        at, rest = path[-1]
        following = next((one for one in rest if one not in seen), None)
        if following is None:
            path.pop()
            yield at
        else:
            seen.add(following)
            path.append((following, iter(_neighbors(following, skills, after))))


def _neighbors(name: str, skills: SkillsByName, after: Next) -> list[str]:
    return after(skills[name].manifest) if name in skills else []


def _circles(name: str, skills: SkillsByName, after: Next) -> Iterator[str]:
    """Yield each cycle as its path: `a → b → a`."""
    done: set[str] = set()
    way = {name: None}
    path = [(name, iter(_neighbors(name, skills, after)))]
    while path:
        at, rest = path[-1]
        following = next(rest, None)
        if following is None:
            path.pop()
            done.add(at)
            del way[at]
        elif following in way:
            round_ = list(way)[list(way).index(following) :]
            yield " → ".join([*round_, following])
        elif following not in done:
            way[following] = None
            path.append((following, iter(_neighbors(following, skills, after))))


def _incompatible(order: Iterable[str], skills: SkillsByName) -> Iterator[str]:
    """Yield requirements on the same skill that no version can satisfy together."""
    wanted: dict[str, Requirement] = {}
    for one in order:
        manifest = skills[one].manifest if one in skills else None
        for requirement in (
            parse_requirements([*manifest.parents, *manifest.dependencies]) if manifest else []
        ):
            before = wanted.get(requirement.name, requirement)
            if (
                both := before.range.intersection(requirement.range)
            ).is_empty and not requirement.range.is_empty:
                yield f"{before} and {requirement} are needed, and no version can be both."
            elif before.range.is_any or before == requirement:
                wanted[requirement.name] = requirement
            elif not requirement.range.is_any:
                wanted[requirement.name] = Requirement(requirement.name, both)


def _unmet_needs(name: str, order: Iterable[str], skills: SkillsByName) -> Iterator[str]:
    for one in order:
        if one in skills:
            manifest = skills[one].manifest
            problems = (_unmet_word(word, skills) for word in [*manifest.parents, *manifest.dependencies])
            yield from (problem if one == name else f"{one}: {problem}" for problem in problems if problem)


def _unmet_word(word: str, skills: SkillsByName) -> str | None:
    requirement = parse_requirement(word)
    return (
        f"It needs {word[:100]}, which cannot be read."
        if requirement is None
        else _unmet(requirement, skills)
    )


def _unmet(requirement: Requirement, skills: SkillsByName) -> str | None:
    if requirement.name not in skills:
        return f"It needs {requirement}, and there is no skill {requirement.name} in the library that can be read."
    version = skills[requirement.name].manifest.version
    return None if requirement.accepts(version) else f"It needs {requirement}, and the library has {version}."


def _parent_problems(name: str, skills: SkillsByName) -> Iterator[str]:
    for circle in _circles(name, skills, _parents):
        yield f"skills inherit from each other in a circle: {circle}."
    for parent in _depth_first(name, skills, _parents):
        if parent not in skills:
            yield f"there is no skill {parent} in the library that can be read."
    yield from _too_deep(name, skills)


def _too_deep(name: str, skills: SkillsByName) -> Iterator[str]:
    """Yield a chain of parents that is too long."""
    level: dict[str, list[str]] = {name: [name]}
    for _ in range(MAX_LEVELS + 1):
        level = {
            parent: [*way, parent]
            for one, way in level.items()
            for parent in _neighbors(one, skills, _parents)
        }
    if way := next(iter(level.values()), None):
        yield f"it inherits over more than {MAX_LEVELS} levels: {' → '.join(way)}."


def _nearest_first(name: str, skills: SkillsByName) -> list[str]:
    """Return the parents level by level, without duplicates."""
    found: dict[str, None] = {}
    level = [name]
    while level:
        above = [parent for one in level for parent in _neighbors(one, skills, _parents)]
        level = [parent for parent in dict.fromkeys(above) if parent not in found and parent != name]
        found.update(dict.fromkeys(level))
    return [parent for parent in found if parent in skills]


def _body(name: str, skills: SkillsByName) -> str:
    *above, own = [skills[one] for one in _depth_first(name, skills, _parents)]
    if not above:
        return own.body
    parts = [f"# Inherited from {skill.manifest.name}\n\n{skill.body.strip()}" for skill in above]
    return "\n\n".join([*parts, f"# {own.manifest.name}\n\n{own.body.strip()}"]) + "\n"


def _conflicts_in(name: str, chain: Iterable[str], skills: SkillsByName) -> Iterator[str]:
    """Yield the conflicts a skill declares with others of the chain."""
    if name in skills:
        for requirement in parse_requirements(skills[name].manifest.conflicts):
            if requirement.name in chain and requirement.name != name and _applies(requirement, skills):
                yield f"{name} cannot be used together with {requirement}, which comes along."


def _applies(requirement: Requirement, skills: SkillsByName) -> bool:
    return requirement.name in skills and requirement.accepts(skills[requirement.name].manifest.version)


def _requirement_view(requirement: Requirement, skills: SkillsByName) -> RelationView:
    found = skills.get(requirement.name)
    version = found.manifest.version if found else None
    return RelationView(
        name=requirement.name,
        range=requirement.range.text,
        version=version,
        problem=_unmet(requirement, skills),
    )


def _conflict_view(said_by: str, requirement: Requirement, skills: SkillsByName) -> RelationView:
    found = skills.get(requirement.name)
    problem = (
        f"{said_by} says it cannot be used together with {requirement}."
        if _applies(requirement, skills)
        else None
    )
    return RelationView(
        name=requirement.name,
        range=requirement.range.text,
        version=found and found.manifest.version,
        problem=problem,
    )


_PARENTS_HINT = "Change what `forge-parents` says in its SKILL.md, or install what it names."
