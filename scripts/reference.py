"""Generate reference pages from the code: settings, events, errors, commands, kinds of secrets, the schema of workflows.

`--check` only compares.
"""

import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from pkgutil import walk_packages

import click

import forge
from forge import errors
from forge.api.events import EVENT_TYPES
from forge.audits.secrets.assignments import GENERIC
from forge.audits.secrets.models import Rank
from forge.audits.secrets.rules import RULES
from forge.audits.secrets.rules.vendors import VENDORS
from forge.audits.secrets.scanner import KUBERNETES, PRIVATE_KEY
from forge.cli import forge as forge_command
from forge.config import DEFAULT_DATA_DIR, Settings, setting_name
from forge.errors import ForgeError
from forge.workflows.definition.json_schema import schema

DOCS = Path(__file__).parent.parent / "docs" / "reference"


def settings_page() -> str:
    rows = ["| name | default | what it does | example |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "" if field.is_required() or field.default in (None, ()) else f"`{field.default}`"
        extra = field.json_schema_extra
        example = extra["example"] if isinstance(extra, dict) else ""
        rows.append(f"| `{setting_name(name, field)}` | {default} | {field.description} | `{example}` |")
    return "\n".join(
        [
            "# Settings",
            "",
            "A value comes from the first of: command-line option, environment variable, `.env` in the working",
            f"directory, `forge.toml` in the data directory (default `{DEFAULT_DATA_DIR}`), default. In `forge.toml` a",
            "setting has its lower-case name without the prefix: `port = 9000`, `pause_threshold = 5`. Names without",
            "`FORGE_` also work with it. If values are invalid, all of them are listed and Forge does not start (exit code 2).",
            "",
            *rows,
            "",
            "Commands that talk to a server read `FORGE_URL`, `FORGE_API_KEY` and `FORGE_DATA_DIR` (see [cli.md](cli.md)).",
            "",
        ]
    )


def events_page() -> str:
    parts = [
        "# Events",
        "",
        "Every change is an event: `{stream, seq, at, type, data}`. `seq` counts 1, 2, 3 … in each stream,",
        "without gaps. Read history with `GET /api/v1/events?stream=…&after=…`, follow with the WebSocket `/ws`",
        "(see [api.md](api.md)). Streams: `run:<id>`, `session:<id>` (a conversation), `interview:<id>` and `account:<id>`.",
        "",
        "Types marked *ephemeral* are never stored: their `seq` is null, and they are sent only over `/ws`, to the current",
        "followers of the stream, each after the events that precede it. Some can be missing, so do not depend on them: a",
        "durable event with the same information follows.",
        "",
        "| type | data | meaning |",
        "|---|---|---|",
    ]
    for kind in sorted(EVENT_TYPES, key=lambda kind: kind.type):
        fields = ", ".join(f"`{name}`" for name in kind.model_fields) or "none"
        doc = (kind.__doc__ or "").strip().split("\n")[0] if "__doc__" in vars(kind) else ""
        mark = "" if kind.is_durable else " *ephemeral*"
        parts.append(f"| `{kind.type}`{mark} | {fields} | {doc} |")
    return "\n".join([*parts, ""])


def errors_page() -> str:
    rows = ["| code | HTTP | WebSocket close | exit code | meaning |", "|---|---|---|---|---|"]
    rows += [
        f"| `{code}` | {kind.status} | {kind.ws_close_code()} | {kind.exit_code} | {_meaning(kind)} |"
        for code, kind in _errors().items()
    ]
    return "\n".join(
        [
            "# Errors",
            "",
            "The same errors for HTTP, WebSocket and terminal. A failed HTTP request has `data: null` and `errors`, each",
            "with `code`, `message`, and where possible `hint` (what to do) and `field`. The close code of a WebSocket",
            "is 4000 + the HTTP status. The log has the details under the request id (`X-Request-ID`, `meta.request_id`).",
            "",
            *rows,
            "",
            "A successful command exits with 0. A command that found a problem (`forge doctor`, `forge runs watch`) exits",
            "with 1, an interrupted one with 130.",
            "",
        ]
    )


def secrets_page() -> str:
    """Keep the hand-written text and regenerate the table of kinds."""
    written, heading, _ = (DOCS / "secrets.md").read_text().partition("| rule | kind | rank |\n")
    known = [
        *((rule.id, rule.kind, rule.rank) for rule in RULES),
        *((vendor.id, vendor.kind, Rank.VENDOR) for vendor in VENDORS),
        (PRIVATE_KEY, "private key", Rank.TOKEN),
        (KUBERNETES, "value of a Kubernetes secret", Rank.STRUCTURE),
        (GENERIC, "password, key or token", Rank.GENERIC),
    ]
    in_order = sorted(known, key=lambda one: (-one[2], one[0]))
    rows = [f"| `{rule}` | {kind} | {rank.name.lower()} |" for rule, kind, rank in in_order]
    return written + heading + "\n".join(["|---|---|---|", *rows, ""])


def commands_page() -> str:
    """Keep the hand-written introduction and regenerate the commands from their `--help`."""
    written, heading, _ = (DOCS / "cli.md").read_text().partition("## Commands\n")
    context = click.Context(forge_command, info_name="forge")
    names = forge_command.list_commands(context)
    found = ((name, forge_command.get_command(context, name)) for name in names)
    sections = [line for name, command in found if command for line in _command(command, name, context)]
    return written + heading + "\n".join(["", *sections])


def _command(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    context = command.context_class(command, info_name=name, parent=parent)
    level = context.command_path.count(" ") + 2
    yield f"{'#' * level} `{context.command_path}`\n"
    yield f"{cleandoc(command.help or '')}\n"
    if default := getattr(command, "default_command", None):  # runs if no subcommand is given
        yield from _usage(default, click.Context(default, info_name=name, parent=parent))
    if not isinstance(command, click.Group):
        yield from _usage(command, context)
        return
    for below in command.list_commands(context):
        if found := command.get_command(context, below):
            yield from _command(found, below, context)


def _usage(command: click.Command, context: click.Context) -> Iterator[str]:
    pieces = " ".join(command.collect_usage_pieces(context))
    yield f"Usage: `{context.command_path} {pieces}`\n"
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    if options:
        rows = [f"| {_names(option, context)} | {option.help} |" for option in options]
        yield "\n".join(["| option | meaning |", "|---|---|", *rows, ""])


def _names(option: click.Option, context: click.Context) -> str:
    value = "" if option.is_flag else f" {option.make_metavar(context)}"
    names = ", ".join([*option.opts, *option.secondary_opts])
    return f"`{names}{value}`".replace("|", "\\|")


def workflow_schema() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _errors() -> dict[str, type[ForgeError]]:
    """Return errors by code, each with the first class that has it. Imports all of Forge to find them."""
    for module in walk_packages(forge.__path__, "forge."):
        if "migrations" not in module.name and not module.name.endswith("__main__"):
            import_module(module.name)
    found: dict[str, type[ForgeError]] = {}
    for kind in _family(ForgeError):
        found.setdefault(kind.code, kind)
    return found


def _meaning(kind: type[ForgeError]) -> str:
    """Return the meaning of an error, from the tree in errors.py or from its docstring."""
    drawn = dict(re.findall(r"── (\w+)\s+(?:\d+|exit \d+)?\s+(.+)", errors.__doc__ or ""))
    own = " ".join((kind.__doc__ or "").split()) if "__doc__" in vars(kind) else ""
    text = drawn.get(kind.__name__) or own.partition(". ")[0].rstrip(".")
    return text[:1].upper() + text[1:]


def _family(kind: type[ForgeError]) -> list[type[ForgeError]]:
    return [member for child in kind.__subclasses__() for member in (child, *_family(child))]


PAGES = {
    "settings.md": settings_page,
    "events.md": events_page,
    "errors.md": errors_page,
    "secrets.md": secrets_page,
    "cli.md": commands_page,
    "workflow.schema.json": workflow_schema,
}


def main() -> int:
    is_check = "--check" in sys.argv
    stale = 0
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if path.exists() and path.read_text() == text:
            continue
        stale += 1
        if is_check:
            print(f"docs/reference/{name} is stale: run `make docs`")
        else:
            path.write_text(text)
            print(f"wrote docs/reference/{name}")
    return stale if is_check else 0


if __name__ == "__main__":
    sys.exit(main())
