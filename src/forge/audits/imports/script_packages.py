"""What package.json and tsconfig.json say about where modules of JavaScript and TypeScript are found."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from forge.audits.imports.documents import Shape, Unreadable, read_yaml
from forge.audits.imports.folders import normal
from forge.audits.imports.loose import Table, items, read_json, read_text, table, texts, within
from forge.audits.snapshot import Snapshot
from forge.workspace.pattern import Glob

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
        """The files that `exports` or `imports` give for `./sub` or `#x`, best first, relative to the folder."""
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
        """Names it depends on that are not fetched: packages of the same repository."""
        kinds = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
        return frozenset(
            name
            for kind in kinds
            for name, version in table(self.manifest.get(kind)).items()
            if isinstance(version, str) and version.startswith(_LINKS)
        )


@dataclass(frozen=True)
class Aliases:
    """What the tsconfig files of one folder say."""

    folder: str
    base: str | None
    """`baseUrl`, as a folder of the project."""
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Patterns to targets that are already relative to the project."""

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
    """Texts of a nest of conditions, the ones nearest to the source first."""
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
    """By folder; what was installed is not the project's."""
    packages: dict[str, Package] = {}
    for path in snapshot.tree.entries:
        folder, _, name = path.rpartition("/")
        if name == "package.json" and "node_modules" not in folder.split("/"):
            manifest = read_json(read_text(snapshot, path))
            named = manifest.get("name")
            packages[folder] = Package(folder, named if isinstance(named, str) else None, manifest)
    return packages


def read_workspaces(snapshot: Snapshot, packages: Mapping[str, Package]) -> dict[str, Package]:
    """The packages that others of the repository can import, by name."""
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
            globs.append(Glob(normal(text)))
        except ValueError:
            continue
    return globs


def _pnpm_packages(text: str) -> list[str]:
    try:
        listed = read_yaml(text).get("packages")
    except Unreadable:
        return []
    return [item.text for item in listed.items if item.shape is Shape.SCALAR] if listed is not None else []


def read_aliases(snapshot: Snapshot) -> dict[str, list[Aliases]]:
    """The tsconfig and jsconfig files of each folder that has any: `tsconfig.json` first, then its references."""
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
    """`extends` is followed inside the repository; what is extended later wins, the file itself wins over all."""
    folder = path.rpartition("/")[0]
    config = read_json(read_text(snapshot, path))
    base: str | None = None
    paths: Mapping[str, tuple[str, ...]] = {}
    for extended in texts(config.get("extends")) if depth < _MAX_NESTED else []:
        target = normal(f"{folder}/{extended}") if extended.startswith(".") else None
        target = target and next((t for t in (target, f"{target}.json") if t in snapshot.tree.entries), None)
        if target and target != path:
            above = _read_tsconfig(snapshot, target, depth + 1)
            base, paths = above.base or base, above.paths or paths
    options = table(config.get("compilerOptions"))
    for text in texts(options.get("baseUrl")):
        base = normal(f"{folder}/{text}")
    if "paths" in options:
        start = base if base is not None else folder
        given = table(options["paths"])
        paths = {
            name: tuple(normal(f"{start}/{target}") for target in texts(to)) for name, to in given.items()
        }
    return Aliases(folder, base, paths)
