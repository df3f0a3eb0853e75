"""Gets skills from where somebody says onto a stage of the server, and lets them choose among several."""

from collections.abc import Sequence
from pathlib import Path

import click

from forge.errors import Invalid, NotFound
from forge.skills.command_words import HerePlace, ListedPlace, read_source
from forge.skills.installing.index import NEWEST
from forge.skills.installing.views import RegistryEntry, Staged, StagedSkill
from forge.skills.models import SKILL_MD
from forge.skills.packing import MAX_BYTES, pack, read_folder
from forge.skills.sources import GitSource, RegistrySource
from forge.terminal.client import Client
from forge.terminal.output import console, working
from forge.terminal.text import clean

FETCH_S = 300.0
SHOWN = 20


def fetch(client: Client, given: str, *, is_there: bool) -> Staged:
    """`is_there`: somebody can be asked which of several registries is meant."""
    match read_source(given):
        case HerePlace(path):
            return send(client, path)
        case ListedPlace() as place:
            return _post(client, _find_listed(client, place, is_there=is_there))
        case source:
            return _post(client, source)


def send(client: Client, path: Path) -> Staged:
    """A folder or archive of this machine."""
    if path.is_dir():
        return _send_folder(client, path)
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except FileNotFoundError as error:
        raise NotFound(f"There is no {path}.", hint=_AFTER_MISSING) from error
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from error
    if data is None:
        raise Invalid(f"{path} has more than {MAX_BYTES >> 20} MB.")
    return upload(client, data, {"name": path.name[-255:]})


_AFTER_MISSING = "A repository is named with its whole address: https://host/owner/repo.git"


def choose(staged: Staged, names: Sequence[str], *, every: bool, is_there: bool) -> list[StagedSkill]:
    """One is the one; of several those that are named, or what the person says."""
    skills = staged.skills
    if not skills:
        raise NotFound("There is no skill in it.", hint=f"A skill is a folder with a {SKILL_MD}.")
    if names:
        return _named(skills, names)
    if every or len(skills) == 1:
        return skills
    if not is_there:
        raise Invalid(
            f"There are {len(skills)} skills in it.", hint=f"--all, or --skill of: {_listed(skills)}"
        )
    from forge.skills.show import staged_table

    console(stderr=True).print(staged_table(skills))
    told = str(click.prompt("Which, with blanks between, or all?", err=True)).split()
    return skills if told == ["all"] else _named(skills, told)


def _named(skills: Sequence[StagedSkill], names: Sequence[str]) -> list[StagedSkill]:
    by_name = {skill.name: skill for skill in skills}
    if missing := [name for name in names if name not in by_name]:
        raise NotFound(f"There is no skill {missing[0]!r} in it.", hint=f"It has: {_listed(skills)}")
    return [by_name[name] for name in dict.fromkeys(names)]


def _listed(skills: Sequence[StagedSkill]) -> str:
    more = f" and {len(skills) - SHOWN} more" if len(skills) > SHOWN else ""
    return ", ".join(skill.name for skill in skills[:SHOWN]) + more


def _send_folder(client: Client, folder: Path) -> Staged:
    content = read_folder(folder)
    for path in content.left_out:
        click.echo(f"Left out, as it is no file: {clean(path)}", err=True)
    root = folder.resolve()
    return upload(client, pack(content.files), {"name": f"{root.name}.zip"[-255:], "folder": str(root)})


def upload(client: Client, data: bytes, params: dict[str, str] | None = None) -> Staged:
    with working("Sending…"):
        return client.upload("/skill-stages/zip", Staged, data, params, within_s=FETCH_S)


def _post(client: Client, source: GitSource | RegistrySource) -> Staged:
    with working("Fetching…"):
        return client.post("/skill-stages", Staged, {"source": source.model_dump()}, within_s=FETCH_S)


def _find_listed(client: Client, place: ListedPlace, *, is_there: bool) -> RegistrySource:
    """Of exactly this name: what only sounds like it is offered as a hint, never installed."""
    version = place.version or NEWEST
    if place.registry is not None:
        return RegistrySource(registry=place.registry, name=place.name, version=version)
    offered = client.get("/skill-registries/search", list[RegistryEntry], {"q": place.name})
    having = list(dict.fromkeys(entry.registry for entry in offered if entry.name == place.name))
    if not having:
        raise _not_listed(place, offered)
    registry = having[0] if len(having) == 1 else _choose_registry(place, having, is_there=is_there)
    return RegistrySource(registry=registry, name=place.name, version=version)


def _choose_registry(place: ListedPlace, registries: list[str], *, is_there: bool) -> str:
    if not is_there:
        told = ", ".join(f"{registry}:{place.name}" for registry in registries)
        raise Invalid(f"{len(registries)} registries have {place.name}.", hint=f"Say which: {told}")
    return click.prompt(f"Which registry's {place.name}?", type=click.Choice(registries), err=True)


def _not_listed(place: ListedPlace, offered: Sequence[RegistryEntry]) -> NotFound:
    hint = "Those there are: forge skill registry list"
    if Path(place.name).is_dir():
        hint = f"For the folder that is here: forge skill install ./{place.name}"
    elif offered:
        hint = f"Did you mean {offered[0].registry}:{offered[0].name}?"
    return NotFound(f"No registry has a skill {place.name!r}.", hint=hint)
