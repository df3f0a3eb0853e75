"""package.json, and the import maps of deno.json: what scripts may import by name."""

import json
import re

from forge.audits.dependencies.manifests.lines import Lines
from forge.audits.dependencies.manifests.models import Declared, Group, Manifest, broken
from forge.audits.imports.loose import Table, table, texts

_SECTIONS = {
    "dependencies": Group.RUNTIME,
    "peerDependencies": Group.RUNTIME,
    "optionalDependencies": Group.OPTIONAL,
    "devDependencies": Group.DEV,
}
_BUNDLED = ("bundledDependencies", "bundleDependencies")
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"?|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)')
"""No piece of it can begin and then fail: a hostile file is read in one pass."""


def read_package_json(data: bytes) -> Manifest:
    content = _json(data, with_comments=False)
    if isinstance(content, Manifest):
        return content
    lines = Lines(data.decode("utf-8-sig"))
    declared = [
        Declared(name, group, section, lines.of(f'"{name}"'))
        for section, group in _SECTIONS.items()
        for name in table(content.get(section))
    ]
    for section in _BUNDLED:
        declared += [Declared(name, Group.RUNTIME, section) for name in texts(content.get(section))]
    engines = [f"@types/{name}" for name in table(content.get("engines")) if name == "vscode"]
    declared += [Declared(name, Group.DEV, "engines") for name in engines]
    name = content.get("name")
    return Manifest(tuple(declared), names=(name,) if isinstance(name, str) else ())


def read_deno_json(data: bytes) -> Manifest:
    content = _json(data, with_comments=True)
    if isinstance(content, Manifest):
        return content
    imports = [Declared(name.rstrip("/"), Group.RUNTIME, "imports") for name in table(content.get("imports"))]
    return Manifest(tuple(imports), is_declaring=bool(imports))


def _json(data: bytes, *, with_comments: bool) -> Table | Manifest:
    try:
        text = data.decode("utf-8-sig")
        if with_comments:
            text = _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else " ", text)
        content = json.loads(text)
    except UnicodeDecodeError:
        return broken("it is not UTF-8")
    except json.JSONDecodeError as error:
        return broken(f"it is no JSON: {error.msg}", error.lineno)
    except (RecursionError, ValueError):
        return broken("it is no JSON that can be read")
    if not isinstance(content, dict):
        return broken("it is no JSON object", 1)
    return table(content)  # pyright: ignore[reportUnknownArgumentType]
