"""Files of a script skill that requests `http_get` and `kv`, with one test."""

_MANIFEST = """\
---
name: {name}
description: Greets people by name, and knows them again.
metadata:
  version: "1.2.0"
  forge-kind: script
  forge-capabilities: http_get kv log
  forge-hosts: api.example.com
---
# Greeter

Call it with a **name**.
"""
_CASE = '{"name": "greets Ada", "input": {"name": "Ada"}, "expect": {"text": "Hello Ada"}}'


def greeter_files(name: str, source: str) -> dict[str, str]:
    return {"SKILL.md": _MANIFEST.format(name=name), "skill.js": source, "tests/greets.json": _CASE}
