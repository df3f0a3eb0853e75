"""Resolve specifiers of JavaScript and TypeScript to files, like bundlers and TypeScript."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from forge.audits.facts.models import Import
from forge.audits.files.folders import folder_and_parents, normalize_path
from forge.audits.imports.script_packages import (
    Aliases,
    Package,
    read_aliases,
    read_jest,
    read_packages,
    read_workspaces,
)
from forge.audits.snapshot import Snapshot

SUFFIXES = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs", ".vue", ".svelte", ".json")
_SOURCE_SUFFIXES = {
    ".js": (".ts", ".tsx", ".d.ts", ".jsx"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
"""Source suffixes by the suffix written in TypeScript imports, which is that of the output."""
_BUILD_FOLDERS = ("dist", "build", "lib", "out", "esm", "cjs", "es")
_PROJECT_PREFIXES = ("@/", "~/", "~~/", "@@/")
"""Prefixes that bundlers use for project sources; no npm package can have them."""


@dataclass(frozen=True)
class ScriptModules:
    files: frozenset[str]
    packages: Mapping[str, Package]
    """By folder."""
    workspaces: Mapping[str, Package]
    """By name; packages that others in the repository can import."""
    aliases: Mapping[str, list[Aliases]]
    first_party: frozenset[str] = frozenset()
    _cache: dict[tuple[str, str], str | None] = field(
        default_factory=dict[tuple[str, str], str | None], repr=False
    )

    @classmethod
    def of(cls, snapshot: Snapshot) -> "ScriptModules":
        return snapshot.once(cls._read)

    @classmethod
    def _read(cls, snapshot: Snapshot) -> "ScriptModules":
        files = frozenset(path for path, entry in snapshot.tree.entries.items() if entry.kind.is_file)
        packages = read_packages(snapshot)
        own = frozenset(snapshot.project.config.audit.first_party)
        aliases = read_aliases(snapshot)
        for folder, jest_aliases in read_jest(snapshot, packages).items():
            aliases.setdefault(folder, []).extend(jest_aliases)
        return cls(files, packages, read_workspaces(snapshot, packages), aliases, own)

    def module_of(self, path: str) -> str | None:
        """Return the path without suffix; an index file gives its folder."""
        suffix = next((s for s in (".d.ts", *SUFFIXES) if path.endswith(s)), "")
        stem = path[: len(path) - len(suffix)]
        return (stem.removesuffix("/index") if "/" in stem else stem) or None

    def resolve(self, importer: str, imp: Import) -> tuple[str, ...]:
        path = self._resolve(importer.rpartition("/")[0], imp.module)
        return (path,) if path else ()

    def is_own(self, importer: str, module: str) -> bool:
        """Return whether a specifier is relative, an alias, the package itself or a workspace package."""
        if module.startswith((".", "/", "#", *_PROJECT_PREFIXES)):
            return True
        name = package_name(module)
        own = self._package_of(importer.rpartition("/")[0])
        if name in self.first_party or name in self.workspaces or (own is not None and own.name == name):
            return True
        folder = importer.rpartition("/")[0]
        aliased = any(not a.is_catch_all and a.targets(module) for a in self._aliases_of(folder))
        return aliased or self._resolve(folder, module) is not None

    def _resolve(self, folder: str, specifier: str) -> str | None:
        key = (folder, specifier)
        if key not in self._cache:
            bare = specifier.rpartition("!")[2].partition("?")[0]
            candidates = (
                candidate for candidate in self._candidates(folder, bare) if not candidate.startswith("\0")
            )
            self._cache[key] = next(
                (path for candidate in candidates if (path := self._file_at(candidate))), None
            )
        return self._cache[key]

    def _candidates(self, folder: str, specifier: str) -> Iterator[str]:
        """Yield candidate paths in order, without suffixes."""
        if specifier.startswith("."):
            yield normalize_path(f"{folder}/{specifier}")
            return
        package = self._package_of(folder)
        if specifier.startswith("#") and package is not None:
            yield from (
                normalize_path(f"{package.folder}/{target}")
                for target in package.targets("imports", specifier)
            )
        for aliases in self._aliases_of(folder):
            yield from aliases.targets(specifier)
            if aliases.base is not None and not specifier.startswith("/"):
                yield normalize_path(f"{aliases.base}/{specifier}")
        project_folder = package.folder if package is not None else ""
        if specifier.startswith("/"):
            yield from (
                normalize_path(f"{project_folder}/{specifier}"),
                normalize_path(f"{project_folder}/public/{specifier}"),
            )
        elif specifier.startswith(_PROJECT_PREFIXES):
            rest = specifier.partition("/")[2]
            yield from (normalize_path(f"{project_folder}/{start}/{rest}") for start in ("src", "app", "."))
        else:
            yield from self._package_candidates(package, specifier)

    def _package_candidates(self, own: Package | None, specifier: str) -> Iterator[str]:
        name = package_name(specifier)
        package = own if own is not None and own.name == name else self.workspaces.get(name)
        if package is None:
            return
        subpath = specifier[len(name) + 1 :]
        targets = package.targets("exports", f"./{subpath}" if subpath else ".")
        if subpath:
            targets += [subpath, f"src/{subpath}"]
        else:
            targets += [*package.entry_points, "src/index", "index", "src/main"]
        for target in targets:
            yield from (normalize_path(f"{package.folder}/{candidate}") for candidate in _with_source(target))

    def _file_at(self, candidate: str) -> str | None:
        return next((path for path in self._file_candidates(candidate) if path in self.files), None)

    def _file_candidates(self, candidate: str) -> Iterator[str]:
        yield candidate
        yield from (candidate + suffix for suffix in SUFFIXES)
        stem, dot, suffix = candidate.rpartition(".")
        yield from (stem + source_suffix for source_suffix in _SOURCE_SUFFIXES.get(dot + suffix, ()))
        if (package := self.packages.get(candidate)) is not None:
            for target in package.entry_points:
                for subpath in _with_source(target):
                    start = normalize_path(f"{candidate}/{subpath}")
                    yield from (start + suffix for suffix in ("", *SUFFIXES))
        yield from (f"{candidate}/index{suffix}" if candidate else f"index{suffix}" for suffix in SUFFIXES)

    def _package_of(self, folder: str) -> Package | None:
        return next((self.packages[f] for f in folder_and_parents(folder) if f in self.packages), None)

    def _aliases_of(self, folder: str) -> Iterable[Aliases]:
        return (aliases for f in folder_and_parents(folder) for aliases in self.aliases.get(f, ()))


def package_name(specifier: str) -> str:
    """Return the package of a specifier: `@scope/pkg` for `@scope/pkg/sub`."""
    parts = specifier.split("/")
    return "/".join(parts[:2]) if specifier.startswith("@") else parts[0]


def _with_source(target: str) -> Iterator[str]:
    """Yield a target and its likely sources, as build output is not in the repository: `dist/x.js` was `src/x.ts`."""
    yield target
    first, _, rest = normalize_path(target).partition("/")
    if first in _BUILD_FOLDERS and rest:
        stem = rest.removesuffix(".d.ts").rpartition(".")[0] or rest.removesuffix(".d.ts")
        second, _, inner = stem.partition("/")
        yield f"src/{stem}"
        yield stem
        if second in _BUILD_FOLDERS and inner:
            yield f"src/{inner}"
