"""Find functions, classes and imports of src/ that are not used in src/. Uses in tests do not count.

Vulture is used as a library, to check only what is called or imported: fields and constants are read by serializers
and databases, which it cannot see.
"""

import sys
from pathlib import Path

from vulture import Vulture

ROOT = Path(__file__).resolve().parent.parent
CHECKED_TYPES = {"class", "function", "import", "method", "property", "unreachable_code"}
LIKELY = 60

# A decorator that registers what it decorates counts as a use.
REGISTERED_BY = [
    "@*.get",
    "@*.post",
    "@*.put",
    "@*.patch",
    "@*.delete",
    "@*.websocket",
    "@*.middleware",
    "@*.exception_handler",
    "@*.command",
    "@*.group",
    "@*.listens_for",
    "@*.workflow",
    "@*.step",
    "@_operation",
    "@*.scheduled",
    "@*.transaction",
    "@*validator",
    "@*serializer",
    "@computed_field",
]

# Called by name from outside: entry points, pydantic, alembic, logging, click, SQLAlchemy, uvicorn, html.parser, PyYAML.
CALLED_BY_OTHERS = [
    "main",
    "settings_customise_sources",
    "model_post_init",
    "upgrade",
    "downgrade",
    "emit",
    "format",
    "format_commands",
    "get_command",
    "handleError",
    "handle_data",
    "handle_endtag",
    "handle_starttag",
    "ignore_aliases",
    "list_commands",
    "main_loop",
    "capture_signals",
    "collect_usage_pieces",
    "format_options",
    "process_bind_param",
    "process_result_value",
]


def main() -> int:
    vulture = Vulture(ignore_names=CALLED_BY_OTHERS, ignore_decorators=REGISTERED_BY)
    vulture.scavenge([str(ROOT / "src")])
    dead = [item for item in vulture.get_unused_code(min_confidence=LIKELY) if item.typ in CHECKED_TYPES]
    for item in dead:
        print(item.get_report())
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
