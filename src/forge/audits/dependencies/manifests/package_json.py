"""Read package.json, and the import map of deno.json."""

import json

from forge.audits.dependencies.manifests.line_finder import LineFinder
from forge.audits.dependencies.manifests.models import Declared, Group, Manifest, broken
from forge.audits.files.lenient_readers import Table, bare_json, table, texts

_SECTIONS = {
    "dependencies": Group.RUNTIME,
    "peerDependencies": Group.RUNTIME,
    "optionalDependencies": Group.OPTIONAL,
    "devDependencies": Group.DEV,
}
_BUNDLED = ("bundledDependencies", "bundleDependencies")


def read_package_json(data: bytes) -> Manifest:
    content = _json(data, is_loose=False)
    if isinstance(content, Manifest):
        return content
    lines = LineFinder(data.decode("utf-8-sig"))
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
    content = _json(data, is_loose=True)
    if isinstance(content, Manifest):
        return content
    imports = [Declared(name.rstrip("/"), Group.RUNTIME, "imports") for name in table(content.get("imports"))]
    return Manifest(tuple(imports), is_declaring=bool(imports))


def _json(data: bytes, *, is_loose: bool) -> Table | Manifest:
    try:
        text = data.decode("utf-8-sig")
        content = json.loads(bare_json(text) if is_loose else text)
        json.dumps(content, ensure_ascii=False).encode()  # rejects lone surrogates
    except UnicodeDecodeError:
        return broken("it is not UTF-8")
    except json.JSONDecodeError as error:
        return broken(f"it is not valid JSON: {error.msg}", error.lineno)
    except (RecursionError, ValueError):
        return broken("it is not valid JSON")
    if not isinstance(content, dict):
        return broken("it is not a JSON object", 1)
    return table(content)  # pyright: ignore[reportUnknownArgumentType]
