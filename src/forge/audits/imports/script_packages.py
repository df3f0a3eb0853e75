"""Read packages, workspaces and import aliases from package.json, tsconfig.json and jest settings."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from forge.audits.files.document_tree import Shape, UnreadableDocument, read_yaml
from forge.audits.files.folders import normalize_path
from forge.audits.files.lenient_readers import Table, items, read_json, read_text, table, texts, within
from forge.audits.snapshot import Snapshot
from forge.workspace.filesystem.pattern import Glob

_CONDITIONS = ("source", "types", "import", "module", "browser", "node", "require", "default")
_MAX_NESTED = 8
_LINKS = ("workspace:", "file:", "link:", "portal:")


@dataclass(frozen=True)
class Package:
    """A folder with a package.json."""

    folder: str
    name: str | None
    manifest: Table

    def targets(self, field_name: str, key: str) -> list[str]:
        """Return the targets of `exports` or `imports` for `./sub` or `#x`, best first, relative to the folder."""
        value = self.manifest.get(field_name)
        if field_name == "exports" and not any(k.startswith(".") for k in table(value)):
            value = {".": value}
        entries = table(value)
        if key in entries:
            return list(_flat(entries[key]))
        stars = sorted((k for k in entries if k.count("*") == 1), key=len, reverse=True)
        for pattern in stars:
            head, _, tail = pattern.partition("*")
            if key.startswith(head) and key.endswith(tail) and len(key) >= len(pattern) - 1:
                middle = key[len(head) : len(key) - len(tail)]
                return [target.replace("*", middle) for target in _flat(entries[pattern])]
        return []

    @property
    def entry_points(self) -> list[str]:
        fields = ("source", "types", "typings", "module", "main", "browser")
        return [text for name in fields for text in texts(self.manifest.get(name))]

    @property
    def linked(self) -> frozenset[str]:
        """Dependencies that link to packages of the same repository."""
        kinds = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
        return frozenset(
            name
            for kind in kinds
            for name, version in table(self.manifest.get(kind)).items()
            if isinstance(version, str) and version.startswith(_LINKS)
        )


@dataclass(frozen=True)
class Aliases:
    """The import aliases of one tsconfig or jest configuration."""

    folder: str
    base: str | None
    """`baseUrl`, relative to the project."""
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Targets by pattern, relative to the project."""

    def targets(self, specifier: str) -> list[str]:
        if specifier in self.paths:
            return list(self.paths[specifier])
        for pattern in sorted((p for p in self.paths if "*" in p), key=lambda p: -len(p.partition("*")[0])):
            head, _, tail = pattern.partition("*")
            if (
                specifier.startswith(head)
                and specifier.endswith(tail)
                and len(specifier) >= len(head) + len(tail)
            ):
                middle = specifier[len(head) : len(specifier) - len(tail)]
                return [target.replace("*", middle, 1) for target in self.paths[pattern]]
        return []

    @property
    def is_catch_all(self) -> bool:
        return "*" in self.paths


def _flat(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the targets of nested conditions, source files first."""
    if isinstance(value, str):
        yield value
    elif depth < _MAX_NESTED:
        yield from texts(items(value))
        conditions = table(value)
        for name in sorted(
            conditions, key=lambda n: _CONDITIONS.index(n) if n in _CONDITIONS else len(_CONDITIONS)
        ):
            yield from _flat(conditions[name], depth + 1)


def read_packages(snapshot: Snapshot) -> dict[str, Package]:
    """Read all package.json files by folder, without installed packages."""
    packages: dict[str, Package] = {}
    for path in snapshot.tree.entries:
        folder, _, name = path.rpartition("/")
        if name == "package.json" and "node_modules" not in folder.split("/"):
            manifest = read_json(read_text(snapshot, path))
            named = manifest.get("name")
            packages[folder] = Package(folder, named if isinstance(named, str) else None, manifest)
    return packages


def read_workspaces(snapshot: Snapshot, packages: Mapping[str, Package]) -> dict[str, Package]:
    """Return workspace and linked packages by name."""
    members: dict[str, Package] = {}
    linked = {name for package in packages.values() for name in package.linked}
    for root in sorted(packages):
        globs = _workspace_globs(snapshot, packages[root])
        for package in packages.values():
            inside = package.folder[len(root) :].strip("/") if package.folder.startswith(root) else None
            if package.name and inside and any(glob.matches(inside) for glob in globs):
                members.setdefault(package.name, package)
    for package in packages.values():
        if package.name in linked:
            members.setdefault(package.name or "", package)
    return members


def _workspace_globs(snapshot: Snapshot, package: Package) -> list[Glob]:
    workspaces = package.manifest.get("workspaces")
    found = texts(workspaces) + texts(within(workspaces, "packages"))
    prefix = f"{package.folder}/" if package.folder else ""
    found += texts(read_json(read_text(snapshot, f"{prefix}lerna.json")).get("packages"))
    found += _pnpm_packages(read_text(snapshot, f"{prefix}pnpm-workspace.yaml") or "")
    globs: list[Glob] = []
    for text in found:
        try:
            globs.append(Glob(normalize_path(text)))
        except ValueError:
            continue
    return globs


def _pnpm_packages(text: str) -> list[str]:
    try:
        listed = read_yaml(text).get("packages")
    except UnreadableDocument:
        return []
    return [item.text for item in listed.items if item.shape is Shape.SCALAR] if listed is not None else []


def read_aliases(snapshot: Snapshot) -> dict[str, list[Aliases]]:
    """Read tsconfig and jsconfig files by folder, `tsconfig.json` first."""
    found: dict[str, list[Aliases]] = {}
    for path in sorted(snapshot.tree.entries, key=lambda p: (not p.endswith("config.json"), p)):
        folder, _, name = path.rpartition("/")
        if (
            name.startswith(("tsconfig", "jsconfig"))
            and name.endswith(".json")
            and "node_modules" not in folder
        ):
            found.setdefault(folder, []).append(_read_tsconfig(snapshot, path))
    return found


def _read_tsconfig(snapshot: Snapshot, path: str, depth: int = 0) -> Aliases:
    """Read a tsconfig. Follows `extends` inside the repository; later entries win, and the file itself wins over all."""
    folder = path.rpartition("/")[0]
    config = read_json(read_text(snapshot, path))
    base: str | None = None
    paths: Mapping[str, tuple[str, ...]] = {}
    for extended in texts(config.get("extends")) if depth < _MAX_NESTED else []:
        target = normalize_path(f"{folder}/{extended}") if extended.startswith(".") else None
        target = target and next((t for t in (target, f"{target}.json") if t in snapshot.tree.entries), None)
        if target and target != path:
            above = _read_tsconfig(snapshot, target, depth + 1)
            base, paths = above.base or base, above.paths or paths
    options = table(config.get("compilerOptions"))
    for text in texts(options.get("baseUrl")):
        base = normalize_path(f"{folder}/{text}")
    if "paths" in options:
        start = base if base is not None else folder
        given = table(options["paths"])
        paths = {
            name: tuple(normalize_path(f"{start}/{target}") for target in texts(to))
            for name, to in given.items()
        }
    return Aliases(folder, base, paths)


_FOLDERS = ("modulePaths", "moduleDirectories", "roots")
_ROOT = "<rootDir>"
_REST = r"(?P<rest>\((?:\.[*+]\??|\[\^/\]\+)\))"
_MAPPED = re.compile(
    rf"\^?(?:\((?:\?:)?(?P<either>[\w@~/|-]+)\))?(?P<name>(?:[\w@~#/-]|\\[./@$-])*){_REST}?(?P<end>\$?)\Z"
)
_LONGEST = 500
_MOST = 1_000


def read_jest(snapshot: Snapshot, packages: Mapping[str, Package]) -> dict[str, list[Aliases]]:
    """Return the aliases in jest settings by folder."""
    found: dict[str, list[Aliases]] = {}
    for folder, package in packages.items():
        prefix = f"{folder}/" if folder else ""
        other = read_json(read_text(snapshot, f"{prefix}jest.config.json"))
        for settings in (table(package.manifest.get("jest")), other):
            for one in (settings, *map(table, items(settings.get("projects"))[:_MOST])):
                found.setdefault(folder, []).extend(_aliases(folder, one))
    return {folder: aliases for folder, aliases in found.items() if aliases}


def _aliases(folder: str, settings: Table) -> Iterator[Aliases]:
    root = normalize_path(f"{folder}/{next(iter(texts(settings.get('rootDir'))), '.')}")
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
    """Return whether a mapping target is a project path and not a package, as in `"^uuid$": "uuid"`."""
    return target.startswith((_ROOT, ".", "/")) and "node_modules" not in target.split("/")


def _names(pattern: str) -> Iterator[tuple[str, str, int]]:
    """Convert a jest pattern to tsconfig patterns, each with the first group's text and the number of the last group."""
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
    """Convert a jest target such as `<rootDir>/src/$1` to a path with a star."""
    if rest > 1:
        target = target.replace("$1", group)
    return _placed(root, target.replace(f"${rest}", "*"))


def _placed(root: str, place: str) -> str:
    return normalize_path(f"{root}/{place.removeprefix(_ROOT)}")
