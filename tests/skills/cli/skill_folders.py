"""Skill folders for the command-line tests."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ECHO = "function run(input) { console.log('heard'); return { heard: input.text ?? null }; }\n"
FETCHES = "function run(input) { return { status: fetch(input.url).status }; }\n"
COUNTS = "function run(input) { const n = (kv.get('n') ?? 0) + 1; kv.set('n', n); return { n }; }\n"


def write_skill(
    below: Path,
    name: str,
    source: str = ECHO,
    *,
    cases: Mapping[str, Any] | None = None,
    version: str = "1.0.0",
    **metadata: str,
) -> Path:
    """Write a script. `metadata` are `forge-*` keys, with `_` for `-`."""
    folder = below / name
    (folder / "tests").mkdir(parents=True, exist_ok=True)
    keys = {"version": version, "forge-kind": "script"}
    keys |= {f"forge-{key.replace('_', '-')}": value for key, value in metadata.items()}
    lines = "\n".join(f'  {key}: "{value}"' for key, value in keys.items())
    text = f"---\nname: {name}\ndescription: Does {name}. Use when asked.\nmetadata:\n{lines}\n---\n\n# {name}\n\nCall it.\n"
    (folder / "SKILL.md").write_text(text)
    (folder / "skill.js").write_text(source)
    for title, expect in (cases or {}).items():
        case = {"name": title, "input": {"text": title}, "expect": expect}
        (folder / "tests" / f"{title}.json").write_text(json.dumps(case))
    return folder
