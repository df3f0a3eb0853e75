"""How the skills of a library hang together: what one needs, what it inherits, what it cannot be used with.

Pure: a library is a mapping of names to skills, and what is asked of it is computed anew each time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from forge.errors import Conflict, Invalid
from forge.skills.models import Capability, Manifest, Skill
from forge.skills.relations.needs import Need, needs_of, parse_need
from forge.skills.views import RelationView

MAX_LEVELS = 3
"""Of parents above a skill."""

Skills = Mapping[str, Skill]
Next = Callable[[Manifest], list[str]]


@dataclass(frozen=True)
class Composed:
    """A skill with what it inherits."""

    body: str
    """Of its parents first, each under a heading; its own last."""
    capabilities: Mapping[Capability, str]
    """Asked for, each with the skill it comes from: its own, or the nearest parent."""
    parents: tuple[Manifest, ...]
    """The nearest first; each once, however many ways lead there."""


@dataclass(frozen=True)
class Resolved:
    """What has to be there before a skill can be used."""

    order: list[str]
    """Everything it takes, itself last: each comes behind all that it needs."""
    problems: list[str] = field(default_factory=list[str])


def compose(name: str, skills: Skills) -> Composed:
    """Raises Invalid when what it inherits is missing, too deep or a circle."""
    if problem := next(_parent_problems(name, skills), None):
        raise Invalid(f"The skill {name} cannot be put together: {problem}", hint=_PARENTS_HINT)
    parents = tuple(skills[parent].manifest for parent in _nearest_first(name, skills))
    manifest = skills[name].manifest
    asked: dict[Capability, str] = {}
    for one in (manifest, *parents):
        for capability in one.capabilities:
            asked.setdefault(capability, one.name)
    return Composed(_body(name, skills), {one: asked[one] for one in Capability if one in asked}, parents)


def resolve(name: str, skills: Skills) -> Resolved:
    """What it depends on and inherits from, and what those do in turn."""
    order = list(_in_order(name, skills, _needed))
    found = [
        *_impossible(order, skills),
        *_unmet_needs(name, order, skills),
        *(f"Skills need each other in a circle: {circle}." for circle in _circles(name, skills, _needed)),
    ]
    if not found:
        found += [
            *_too_deep(name, skills),
            *(problem for one in order for problem in _conflicts_in(one, order, skills)),
        ]
    return Resolved([one for one in order if one in skills], list(dict.fromkeys(found)))


def problem_of(name: str, skills: Skills) -> str | None:
    """What keeps it from being used, first things first."""
    problems = resolve(name, skills).problems
    return problems[0] if problems else None


def check_together(names: Iterable[str], skills: Skills) -> None:
    """Raises Conflict when two of these, or of what they take along, cannot be used by one bot."""
    chain = list(dict.fromkeys(one for name in names for one in _in_order(name, skills, _needed)))
    for one in chain:
        for problem in _conflicts_in(one, chain, skills):
            raise Conflict(problem, hint="Use one of the two, or give them to different bots.")


def dependents(name: str, skills: Skills) -> list[str]:
    """Those that need it or inherit from it, sorted."""
    return sorted(
        other
        for other, skill in skills.items()
        if other != name and name in (*_needed(skill.manifest), *_parents(skill.manifest))
    )


def dependency_views(name: str, skills: Skills) -> list[RelationView]:
    return [_need_view(need, skills) for need in needs_of(skills[name].manifest.dependencies)]


def parent_views(name: str, skills: Skills) -> list[RelationView]:
    """The nearest first; those it names itself with what is wrong with them."""
    named = {need.name: need for need in needs_of(skills[name].manifest.parents)}
    above = dict.fromkeys([*named, *_nearest_first(name, skills)])
    return [_need_view(named.get(parent, Need(parent)), skills) for parent in above if parent != name]


def conflict_views(name: str, skills: Skills) -> list[RelationView]:
    """Whom it cannot be used with, whoever of the two says so, and on behalf of whichever skill it takes along."""
    found: dict[str, RelationView] = {}
    chain = [one for one in _in_order(name, skills, _needed) if one in skills]
    for one in chain:
        for need in needs_of(skills[one].manifest.conflicts):
            if need.name != name:
                found.setdefault(need.name, _conflict_view(one, need, skills))
    for other, skill in skills.items():
        for need in needs_of(skill.manifest.conflicts):
            if need.name in chain and other != name and _hits(need, skills):
                told = f"{other} says it cannot be used together with {need.name}."
                found.setdefault(
                    other, RelationView(name=other, version=skill.manifest.version, problem=told)
                )
    return [found[other] for other in sorted(found)]


def _needed(manifest: Manifest) -> list[str]:
    """What has to be in the library, parents included."""
    return list(dict.fromkeys([*_parents(manifest), *_dependencies(manifest)]))


def _dependencies(manifest: Manifest) -> list[str]:
    return [need.name for need in needs_of(manifest.dependencies)]


def _parents(manifest: Manifest) -> list[str]:
    return [need.name for need in needs_of(manifest.parents)]


def _in_order(name: str, skills: Skills, after: Next) -> Iterator[str]:
    """Depth first, each once and behind all that it leads to; a circle is gone round once. Without recursion: a chain
    may be as long as a library."""
    seen = {name}
    path = [(name, iter(_leads_to(name, skills, after)))]
    while path:
        at, rest = path[-1]
        following = next((one for one in rest if one not in seen), None)
        if following is None:
            path.pop()
            yield at
        else:
            seen.add(following)
            path.append((following, iter(_leads_to(following, skills, after))))


def _leads_to(name: str, skills: Skills, after: Next) -> list[str]:
    return after(skills[name].manifest) if name in skills else []


def _circles(name: str, skills: Skills, after: Next) -> Iterator[str]:
    """Each named by the way round: `a → b → a`."""
    done: set[str] = set()
    way = {name: None}
    path = [(name, iter(_leads_to(name, skills, after)))]
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
            path.append((following, iter(_leads_to(following, skills, after))))


def _impossible(order: Iterable[str], skills: Skills) -> Iterator[str]:
    """What several of them need, and no version can be for all of them."""
    wanted: dict[str, Need] = {}
    for one in order:
        manifest = skills[one].manifest if one in skills else None
        for need in needs_of([*manifest.parents, *manifest.dependencies]) if manifest else []:
            before = wanted.get(need.name, need)
            if (both := before.range.common(need.range)).is_empty and not need.range.is_empty:
                yield f"{before} and {need} are needed, and no version can be both."
            elif before.range.is_any or before == need:
                wanted[need.name] = need
            elif not need.range.is_any:
                wanted[need.name] = Need(need.name, both)


def _unmet_needs(name: str, order: Iterable[str], skills: Skills) -> Iterator[str]:
    for one in order:
        if one in skills:
            manifest = skills[one].manifest
            told = (_unmet_word(word, skills) for word in [*manifest.parents, *manifest.dependencies])
            yield from (problem if one == name else f"{one}: {problem}" for problem in told if problem)


def _unmet_word(word: str, skills: Skills) -> str | None:
    need = parse_need(word)
    return f"It needs {word[:100]}, which cannot be read." if need is None else _unmet(need, skills)


def _unmet(need: Need, skills: Skills) -> str | None:
    if need.name not in skills:
        return f"It needs {need}, and there is no skill {need.name} in the library that can be read."
    version = skills[need.name].manifest.version
    return None if need.takes(version) else f"It needs {need}, and the library has {version}."


def _parent_problems(name: str, skills: Skills) -> Iterator[str]:
    for circle in _circles(name, skills, _parents):
        yield f"skills inherit from each other in a circle: {circle}."
    for parent in _in_order(name, skills, _parents):
        if parent not in skills:
            yield f"there is no skill {parent} in the library that can be read."
    yield from _too_deep(name, skills)


def _too_deep(name: str, skills: Skills) -> Iterator[str]:
    """One way up that is too long."""
    level: dict[str, list[str]] = {name: [name]}
    for _ in range(MAX_LEVELS + 1):
        level = {
            parent: [*way, parent]
            for one, way in level.items()
            for parent in _leads_to(one, skills, _parents)
        }
    if way := next(iter(level.values()), None):
        yield f"it inherits over more than {MAX_LEVELS} levels: {' → '.join(way)}."


def _nearest_first(name: str, skills: Skills) -> list[str]:
    """Level by level, each once."""
    found: dict[str, None] = {}
    level = [name]
    while level:
        above = [parent for one in level for parent in _leads_to(one, skills, _parents)]
        level = [parent for parent in dict.fromkeys(above) if parent not in found and parent != name]
        found.update(dict.fromkeys(level))
    return [parent for parent in found if parent in skills]


def _body(name: str, skills: Skills) -> str:
    *above, own = [skills[one] for one in _in_order(name, skills, _parents)]
    if not above:
        return own.body
    parts = [f"# Inherited from {skill.manifest.name}\n\n{skill.body.strip()}" for skill in above]
    return "\n\n".join([*parts, f"# {own.manifest.name}\n\n{own.body.strip()}"]) + "\n"


def _conflicts_in(name: str, chain: Iterable[str], skills: Skills) -> Iterator[str]:
    """With others of the chain; seen from both sides, since each of them is asked."""
    if name in skills:
        for need in needs_of(skills[name].manifest.conflicts):
            if need.name in chain and need.name != name and _hits(need, skills):
                yield f"{name} cannot be used together with {need}, which comes along."


def _hits(need: Need, skills: Skills) -> bool:
    return need.name in skills and need.takes(skills[need.name].manifest.version)


def _need_view(need: Need, skills: Skills) -> RelationView:
    found = skills.get(need.name)
    version = found.manifest.version if found else None
    return RelationView(name=need.name, range=need.range.text, version=version, problem=_unmet(need, skills))


def _conflict_view(said_by: str, need: Need, skills: Skills) -> RelationView:
    found = skills.get(need.name)
    told = f"{said_by} says it cannot be used together with {need}." if _hits(need, skills) else None
    return RelationView(
        name=need.name, range=need.range.text, version=found and found.manifest.version, problem=told
    )


_PARENTS_HINT = "Change what `forge-parents` says in its SKILL.md, or install what it names."
