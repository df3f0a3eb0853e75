"""Where jest looks for modules: `jest` of package.json and jest.config.json, as far as it is written like an alias."""

import re
from collections.abc import Iterator, Mapping

from forge.audits.imports.folders import normal
from forge.audits.imports.loose import Table, items, read_json, read_text, table, texts
from forge.audits.imports.script_packages import Aliases, Package
from forge.audits.snapshot import Snapshot

_FOLDERS = ("modulePaths", "moduleDirectories", "roots")
_ROOT = "<rootDir>"
_REST = r"(?P<rest>\((?:\.[*+]\??|\[\^/\]\+)\))"
_MAPPED = re.compile(
    rf"\^?(?:\((?:\?:)?(?P<either>[\w@~/|-]+)\))?(?P<name>(?:[\w@~#/-]|\\[./@$-])*){_REST}?(?P<end>\$?)\Z"
)
_LONGEST = 500
_MOST = 1_000


def read_jest(snapshot: Snapshot, packages: Mapping[str, Package]) -> dict[str, list[Aliases]]:
    """By folder of the settings."""
    found: dict[str, list[Aliases]] = {}
    for folder, package in packages.items():
        prefix = f"{folder}/" if folder else ""
        other = read_json(read_text(snapshot, f"{prefix}jest.config.json"))
        for settings in (table(package.manifest.get("jest")), other):
            for one in (settings, *map(table, items(settings.get("projects"))[:_MOST])):
                found.setdefault(folder, []).extend(_aliases(folder, one))
    return {folder: aliases for folder, aliases in found.items() if aliases}


def _aliases(folder: str, settings: Table) -> Iterator[Aliases]:
    root = normal(f"{folder}/{next(iter(texts(settings.get('rootDir'))), '.')}")
    mapped = table(settings.get("moduleNameMapper"))
    paths: dict[str, tuple[str, ...]] = {}
    for pattern, targets in list(mapped.items())[:_MOST]:
        places = [target for target in texts(targets) if _is_own(target)]
        for name, group, rest in _names(pattern) if places else ():
            paths[name] = tuple(_filled(root, place, group, rest) for place in places)
    if paths:
        yield Aliases(folder, None, paths)
    for name in _FOLDERS:
        for place in texts(settings.get(name))[:_MOST]:
            if "node_modules" not in place.split("/"):
                yield Aliases(folder, _placed(root, place))


def _is_own(target: str) -> bool:
    """Packages are mapped as well: `"^uuid$": "uuid"`, `"\\.css$": "identity-obj-proxy"`."""
    return target.startswith((_ROOT, ".", "/")) and "node_modules" not in target.split("/")


def _names(pattern: str) -> Iterator[tuple[str, str, int]]:
    """As patterns of tsconfig, each with the text of the first group and the number of the group of the rest."""
    match = _MAPPED.match(pattern) if len(pattern) <= _LONGEST else None
    if match is None or not (match["either"] or match["name"]):
        return
    tail = "*" if match["rest"] or not match["end"] else ""
    is_counted = match["either"] is not None and not pattern.lstrip("^").startswith("(?:")
    for first in (match["either"] or "").split("|"):
        name = first + match["name"].replace("\\", "")
        if name:
            yield name + tail, first if is_counted else "", 1 + is_counted


def _filled(root: str, target: str, group: str, rest: int) -> str:
    """`<rootDir>/src/$1` with a star in place of what was matched."""
    if rest > 1:
        target = target.replace("$1", group)
    return _placed(root, target.replace(f"${rest}", "*"))


def _placed(root: str, place: str) -> str:
    return normal(f"{root}/{place.removeprefix(_ROOT)}")
