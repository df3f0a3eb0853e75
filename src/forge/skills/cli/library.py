"""`forge skill`: the commands of the skill library. `create` is defined in the interview."""

from pathlib import Path
from urllib.parse import quote

import click
from rich.console import Group

from forge.errors import Conflict, Invalid, NotFound
from forge.skills.cli import views
from forge.skills.cli.arguments import (
    check_name,
    expand_home,
    read_capabilities,
    read_settings,
    skill_path,
)
from forge.skills.cli.grants import grant, revoke, trust
from forge.skills.cli.installation import (
    Entry,
    attach_to,
    entry_path,
    install,
    send,
    update,
    upload,
)
from forge.skills.execution import RunEnd
from forge.skills.format.contents import text_of
from forge.skills.format.zip_archive import pack, read_folder
from forge.skills.installation.views import Registry, RegistryEntry, Staged
from forge.skills.models import SKILL_MD, Capability, SkillKind, Tier
from forge.skills.views import (
    FileContent,
    SkillCard,
    SkillDetail,
    SkillRan,
    SkillRun,
    SkillState,
    SkillTestReport,
    Validation,
)
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import PIPE, confirm, keep_on_error, read_object, write_file
from forge.terminal.options import one_of, yes_option
from forge.terminal.output import print_output, words, working
from forge.terminal.text import clean

INDEX_S = 120.0
RUN_S = 600.0
"""Long enough for a model to follow instructions; all other runs have lower limits."""
REGISTRIES = "/skill-registries"


@click.group()
def skill() -> None:
    """Install skills, grant capabilities, run and test skills, attach them to bots."""


for command in (install, update, grant, revoke, trust):
    skill.add_command(command)


@skill.command("list")
@click.option("--kind", type=one_of(SkillKind), help="Only this kind.")
@click.option("--tier", type=one_of(Tier), help="Only this trust tier.")
@click.option("--state", type=one_of(SkillState), help="Only this state.")
@click.option("--capability", type=one_of(Capability), help="Only skills that request this capability.")
@api_command
def list_skills(client: Client, /, *words: str, **filters: str | None) -> Result[list[SkillCard]]:
    """List the skills in the library.

    With WORDS, only those that match in name, description or categories.
    """
    found = client.get("/skills", list[SkillCard], {"q": " ".join(words) or None, **filters})
    return Result(found, views.skills_table, empty="No matching skills. List all: forge skill list")


@skill.command()
@api_command
def inspect(client: Client, name: str, /) -> Result[SkillDetail]:
    """Show the details of a skill.

    Includes requested and granted capabilities, dependencies and files.
    """
    return Result(client.get(skill_path(name), SkillDetail), views.skill_page)


@skill.command()
@click.option("--force", is_flag=True, help="Remove it even if bots or other skills depend on it.")
@yes_option
@api_command
def remove(client: Client, name: str, /, force: bool, yes: bool) -> Result[SkillCard]:
    """Remove a skill permanently.

    Its grants and stored data are removed. The log of its runs is kept.
    """
    found = client.get(skill_path(name), SkillDetail)
    confirm(f"Remove {found.name}?", yes=yes)
    removed = client.delete(skill_path(name), SkillCard, {"force": "true"} if force else None)
    return Result(removed, f"Removed {removed.name}.")


@skill.command()
@click.argument("name")
@click.option(
    "--output", metavar="FILE", help="Write to this file instead of NAME.zip; - for standard output."
)
def export(name: str, output: str | None) -> None:
    """Export a skill as a zip file (Agent Skills standard)."""
    with connect() as client:
        data = client.get_bytes(f"{skill_path(name)}/export")
    path = Path(output or f"{name}.zip")
    if output == PIPE:
        click.echo(data, nl=False)
    elif output is None and path.exists():
        raise Conflict(f"{path} already exists.", hint="Choose another file: --output FILE")
    else:
        write_file(path, data)


@skill.command()
@api_command
def edit(client: Client, name: str, file: str = SKILL_MD, /) -> Result[SkillDetail] | int:
    """Open a FILE of a skill in $EDITOR (default: SKILL.md).

    A changed skill has to be granted its capabilities again.
    """
    found = client.get(skill_path(name), SkillDetail)
    # All text files are read: saving removes those that are not included.
    paths = [quote(one.path) for one in found.files if one.is_text]
    read = [client.get(f"{skill_path(found.name)}/files/{path}", FileContent) for path in paths]
    texts = {one.path: one.text for one in read if one.text is not None}
    if file not in texts:
        raise NotFound(f"{found.name} has no text file {file!r}.", hint=f"It has: {', '.join(texts)}")
    written = click.edit(texts[file], extension=Path(file).suffix)
    if written is None or written == texts[file]:
        click.echo("No changes.", err=True)
        return 0
    body = {"files": {**texts, file: written}, "base_hash": found.folder_hash}
    with keep_on_error(written, f"{found.name}{Path(file).suffix}"):
        return Result(client.put(skill_path(found.name), SkillDetail, body), views.skill_page)


@skill.command()
@click.option("--version", metavar="RANGE", help="Version requirement, such as 1.2.3 or ^1.2.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Setting for the skill in this bot; an empty value removes it. Repeatable.",
)
@click.option(
    "--only",
    metavar="CAPABILITY,…",
    help="Limit this bot to these granted capabilities; all removes the limit.",
)
@api_command
def attach(
    client: Client, name: str, bot: str, /, version: str | None, settings: tuple[str, ...], only: str | None
) -> Result[Entry]:
    """Attach a skill to a bot.

    The bot can use it from its next answer on. If it is attached already, the given version, settings and capabilities are changed.
    """
    capabilities = None if only is None else read_capabilities(only)
    given = {"version": version, "overrides": read_settings(settings) or None, "capabilities": capabilities}
    body = {key: value for key, value in given.items() if value is not None}
    entry, text = attach_to(client, name, bot, body)
    note = ""
    if not entry["enabled"]:
        note = f"It is disabled for this bot. Enable it: forge skill enable {name} {bot}"
    elif not entry["is_offered"]:
        note = f"The bot cannot use it yet: {entry['problem']}"
    return Result(entry, text, note=note)


@skill.command()
@api_command
def detach(client: Client, name: str, bot: str, /) -> Result[object]:
    """Detach a skill from a bot. It stays in the library."""
    return Result(client.delete(entry_path(name, bot), object), f"Detached {name} from {bot}.")


@skill.command()
@api_command
def enable(client: Client, name: str, bot: str, /) -> Result[object]:
    """Enable a skill for a bot."""
    enabled = client.patch(entry_path(name, bot), object, {"enabled": True})
    return Result(enabled, f"Enabled {name} for {bot}.")


@skill.command()
@api_command
def disable(client: Client, name: str, bot: str, /) -> Result[object]:
    """Disable a skill for a bot. Its settings are kept."""
    disabled = client.patch(entry_path(name, bot), object, {"enabled": False})
    return Result(disabled, f"Disabled {name} for {bot}.")


@skill.command()
@api_command
def search(client: Client, /, *words: str) -> Result[list[RegistryEntry]]:
    """Search the registries. Without WORDS, list all their skills.

    Install a result with: forge skill install REGISTRY:NAME.
    """
    found = client.get(f"{REGISTRIES}/search", list[RegistryEntry], {"q": " ".join(words)})
    empty = "No matching skills in the registries. List the registries: forge skill registry list"
    return Result(found, views.entries_table, empty=empty)


@skill.group()
def registry() -> None:
    """Manage skill registries."""


@registry.command()
@api_command
def add(client: Client, name: str, url: str, /) -> Result[Registry]:
    """Add the registry at URL as NAME, and fetch its index."""
    check_name(name, "registry")
    with working("Fetching the index…"):
        added = client.post(REGISTRIES, Registry, {"name": name, "url": url}, within_s=INDEX_S)
    return Result(added, lambda one: views.registries_table([one]))


@registry.command("list")
@api_command
def list_registries(client: Client) -> Result[list[Registry]]:
    """List registries and when their indexes were fetched."""
    found = client.get(REGISTRIES, list[Registry])
    empty = "There are no registries. Add one: forge skill registry add NAME URL"
    return Result(found, views.registries_table, empty=empty)


@registry.command("remove")
@api_command
def remove_registry(client: Client, name: str, /) -> Result[Registry]:
    """Remove a registry. Installed skills are kept."""
    found = _find_registry(client, name)
    client.drop(f"{REGISTRIES}/{found.name}")
    return Result(found, f"Removed {found.name}.")


@registry.command()
@api_command
def refresh(client: Client, name: str | None = None, /) -> Result[list[Registry]]:
    """Fetch the index of one registry, or of all.

    Exit code 1 if a registry could not be fetched; its previous index stays in use.
    """
    before = [_find_registry(client, name)] if name else client.get(REGISTRIES, list[Registry])
    with working("Fetching…"):
        refreshed = [
            client.post(f"{REGISTRIES}/{one.name}/refresh", Registry, within_s=INDEX_S) for one in before
        ]
    failed = [
        f"{new.name} could not be fetched; the previous index stays in use."
        for old, new in zip(before, refreshed, strict=True)
        if new.problem and new.fetched_at == old.fetched_at
    ]
    return Result(refreshed, views.registries_table, note="\n".join(failed), exit_code=1 if failed else 0)


def _find_registry(client: Client, name: str) -> Registry:
    found = next((one for one in client.get(REGISTRIES, list[Registry]) if one.name == name), None)
    if found is None:
        raise NotFound(f"There is no registry {name!r}.", hint="List them: forge skill registry list")
    return found


@skill.command()
@click.option(
    "--input", "input_text", default="{}", metavar="JSON", help="Input: JSON, @FILE, or - for standard input."
)
@click.option("--as", "bot", metavar="BOT", help="Run as this bot, with its settings, memories and limits.")
@api_command
def run(
    client: Client, name: str, /, input_text: str, bot: str | None, as_json: bool
) -> Result[SkillRan] | int:
    """Run a skill and print its output.

    Exit code 0 only if it succeeded. Logs are printed to standard error.
    """
    body = {"input": read_object(input_text, "--input"), "bot": bot, "purpose": "cli"}
    with working("Running…"):
        ran = client.post(f"{skill_path(name)}/run", SkillRan, body, within_s=RUN_S)
    for line in ran.logs:
        click.echo(clean(f"{line.level}: {line.message}"), err=True)
    if ran.end is not RunEnd.DONE:
        error = click.style(ran.end.value, fg="red", bold=True)
        click.echo(f"{error}: {clean(ran.error or 'It failed.')}{_hint(ran)}", err=True)
        return Result(ran, "", exit_code=1)
    return Result(ran, "") if as_json else print_output(views.result_text(ran))


def _hint(ran: SkillRan) -> str:
    """Return what to do about a failure. The message of a refused run has its own hint."""
    if ran.end is RunEnd.UNUSABLE:
        return f"\n hint: Validate it: forge skill validate {ran.skill}"
    if ran.end in (RunEnd.FUEL, RunEnd.MEMORY, RunEnd.TIME) and ran.tier is not Tier.LOCAL:
        return f"\n hint: A higher trust tier allows more: forge skill trust {ran.skill} TIER"
    return ""


@skill.command()
@click.option(
    "--triggers",
    is_flag=True,
    help="Also ask the configured model whether it would select the skill; costs a little.",
)
@api_command
def test(client: Client, name: str, /, triggers: bool) -> Result[SkillTestReport]:
    """Run the tests of a skill, each in a fresh instance. Exit code 1 if a test fails or cannot be run."""
    with working("Testing…"):
        report = client.post(
            f"{skill_path(name)}/test", SkillTestReport, {"triggers": triggers}, within_s=RUN_S
        )
    notes: list[str] = []
    if report.triggers_skipped:
        notes.append(f"Trigger tests skipped: {report.triggers_skipped}")
    if not report.passed and not any(report.output in case.detail for case in report.cases):
        notes.append(report.output)
    return Result(
        report,
        lambda report: Group(*map(views.case_line, (*report.cases, *report.triggers))),
        note="\n".join(notes),
        exit_code=0 if report.passed and not report.triggers_skipped else 1,
    )


@skill.command()
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Maximum number of results."
)
@api_command
def runs(client: Client, name: str, /, limit: int) -> Result[list[SkillRun]]:
    """List the runs of a skill, latest first.

    Shows result, duration, memory and used capabilities.
    """
    found = list(client.pages(f"{skill_path(name)}/runs", SkillRun, limit))
    if not found:  # a removed skill keeps its runs; one that never existed has none
        client.get(skill_path(name), SkillDetail)
    return Result(found, views.runs_table, empty="No runs yet.")


@skill.command()
@click.argument("what", metavar="PATH|NAME")
@api_command
def validate(client: Client, what: str) -> Result[Validation]:
    """Validate a skill.

    A folder, zip file or SKILL.md, or the name of a skill in the library. Exit code 2 if it is not valid.
    """
    found = _validate(client, what)
    lines = [views.problem_line(problem) for problem in found.problems]
    if not found.valid:
        return Result(found, lambda _: Group(*lines), note=f"{what} is not valid.", exit_code=2)
    lines.append(words(f"{what} is valid. Requested capabilities: {views.requested(found.asks) or 'none'}."))
    return Result(found, lambda _: Group(*lines))


def _validate(client: Client, what: str) -> Validation:
    path = expand_home(what)
    if what.lower().endswith(".zip") and not path.is_dir():
        return _validate_staged(client, send(client, path))
    if path.name == SKILL_MD and path.is_file():
        return _validate_folder(client, path.parent)
    if "/" in what or what.startswith((".", "~")) or (path / SKILL_MD).is_file():
        return _validate_folder(client, path)
    found = client.get(skill_path(what), SkillDetail)
    valid = all(problem.is_warning for problem in found.problems)
    return Validation(valid=valid, problems=found.problems, manifest=found.manifest, asks=found.asks)


def _validate_folder(client: Client, folder: Path) -> Validation:
    """Validate a folder. The API takes only text files: a folder with binary files is staged, validated and dropped."""
    files = read_folder(folder).files
    name = folder.resolve().name
    if SKILL_MD not in files:
        raise Invalid(f"{folder} has no {SKILL_MD}.")
    check_name(name, "skill")
    texts = {path: text for path, data in files.items() if (text := text_of(data)) is not None}
    if len(texts) == len(files):
        return client.post("/skills/validate", Validation, {"name": name, "files": texts})
    return _validate_staged(client, upload(client, pack(files, below=name)))


def _validate_staged(client: Client, staged: Staged) -> Validation:
    client.drop(f"/skill-stages/{staged.id}")
    if len(staged.skills) != 1:
        raise Invalid(
            f"The archive contains {len(staged.skills) or 'no'} skills; it must contain one.",
            hint=f"A skill is a folder with a {SKILL_MD}.",
        )
    found = staged.skills[0]
    return Validation(valid=found.valid, problems=found.problems, manifest=found.manifest, asks=found.asks)
