"""Writes the reference pages that the code itself knows best: settings, events, errors, the kinds of secrets, the schema
of workflows.

`--check` only compares.
"""

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import forge
from forge import errors
from forge.api.events import EVENT_TYPES
from forge.audits.secrets.judging import GENERIC
from forge.audits.secrets.kubernetes import KUBERNETES
from forge.audits.secrets.models import Rank
from forge.audits.secrets.privatekeys import PRIVATE_KEY
from forge.audits.secrets.rules import RULES, VENDORS
from forge.config import DEFAULT_DATA_DIR, Settings, setting_name
from forge.errors import ForgeError
from forge.workflows.definition.schema import schema

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
            "`FORGE_` also work with it. Bad values are all listed at once, and nothing is started (exit code 2).",
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
        "Everything that happens is an event: `{stream, seq, at, type, data}`. `seq` counts 1, 2, 3 … in each stream,",
        "without a gap. Read history with `GET /api/v1/events?stream=…&after=…`, follow with the WebSocket `/ws`",
        "(see [api.md](api.md)). Streams: `run:<id>`, `session:<id>` (a conversation), `interview:<id>` and `account:<id>`.",
        "",
        "Types marked *whispered* are never stored: their `seq` is null, they come over `/ws` only, to whoever follows the",
        "stream at that moment, each behind the events that happened before it. Some may be missing, so nothing may depend",
        "on them: a durable event says the same in the end.",
        "",
        "| type | data | meaning |",
        "|---|---|---|",
    ]
    for kind in sorted(EVENT_TYPES, key=lambda kind: kind.type):
        fields = ", ".join(f"`{name}`" for name in kind.model_fields) or "none"
        doc = (kind.__doc__ or "").strip().split("\n")[0] if "__doc__" in vars(kind) else ""
        mark = "" if kind.is_durable else " *whispered*"
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
            "One taxonomy for HTTP, WebSocket and terminal. A failure under HTTP has `data: null` and `errors`, each",
            "with `code`, `message`, and where possible `hint` (what to do) and `field`. Under WebSocket the close code",
            "is 4000 + the HTTP status. The request id (`X-Request-ID`, `meta.request_id`) finds the details in the log.",
            "",
            *rows,
            "",
            "A command that works exits with 0. One that works but found something bad (`forge doctor`, `forge runs",
            "watch`) exits with 1, one that was interrupted with 130.",
            "",
        ]
    )


def secrets_page() -> str:
    """People write how secrets are found; which kinds there are is counted."""
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


def workflow_schema() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _errors() -> dict[str, type[ForgeError]]:
    """By code, each with the kind that has it first; those of every feature, so all of Forge is imported."""
    for module in walk_packages(forge.__path__, "forge."):
        if "migrations" not in module.name and not module.name.endswith("__main__"):
            import_module(module.name)
    found: dict[str, type[ForgeError]] = {}
    for kind in _family(ForgeError):
        found.setdefault(kind.code, kind)
    return found


def _meaning(kind: type[ForgeError]) -> str:
    """Those of the tree are explained where it is drawn, the others by themselves."""
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
