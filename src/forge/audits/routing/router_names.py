"""Which router a name means, in whichever file it was made: follows aliases, factories, imports and re-exports."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from forge.audits.facts.models import FileFacts, Import, Language, Mount, Router
from forge.audits.imports.modules import Modules, language_of

_MAX_STEPS = 25
_MAX_PLACES = 200
_CUTS = re.compile(r"[.(\[]")


class Place(NamedTuple):
    file: str
    name: str


class RouterNames:
    def __init__(self, files: Mapping[str, FileFacts], modules: Modules) -> None:
        self._files = files
        self._modules = modules
        self.routers: dict[Place, Router] = {
            Place(path, router.name): router for path, facts in files.items() for router in facts.routers
        }
        self._bound: dict[str, dict[str, tuple[str, str]]] = {}
        self._aliases: dict[Place, list[str]] = {}
        for path, facts in files.items():
            for mount in facts.mounts:
                if self.is_alias(path, mount):
                    self._aliases.setdefault(Place(path, mount.parent), []).append(mount.child)
        self._memory: dict[Place, tuple[Place, ...]] = {}

    def is_alias(self, path: str, mount: Mount) -> bool:
        """Another name for something: nothing is made by that name here, and nothing was imported by it."""
        return (
            not mount.prefix
            and Place(path, mount.parent) not in self.routers
            and not self._is_foreign(path, mount)
        )

    def _is_foreign(self, path: str, mount: Mount) -> bool:
        if mount.parent.startswith("require("):
            return True
        return _CUTS.split(mount.parent, maxsplit=1)[0] in self._bound_in(path)

    def resolve(self, file: str, name: str) -> tuple[Place, ...]:
        place = Place(file, name)
        if place not in self._memory:
            self._memory[place] = self._resolve(place)
        return self._memory[place]

    def _resolve(self, start: Place) -> tuple[Place, ...]:
        found: dict[Place, None] = {}
        seen: set[Place] = set()
        waiting = [(start, 0)]
        while waiting and len(seen) < _MAX_PLACES:
            place, steps = waiting.pop()
            if place in seen or steps > _MAX_STEPS:
                continue
            seen.add(place)
            if place in self.routers:
                found[place] = None
            else:
                waiting += [(further, steps + 1) for further in self._further(place)]
        return tuple(found)

    def is_imported(self, file: str, name: str) -> bool:
        return name.startswith("require(") or _CUTS.split(name, maxsplit=1)[0] in self._bound_in(file)

    def _further(self, place: Place) -> Iterator[Place]:
        """What a name that is no router itself may lead to, one step on."""
        file, name = place
        if name.startswith("require("):
            yield from self._required(file, name)
            return
        for cut in [len(name), *(match.start() for match in _CUTS.finditer(name))]:
            for child in self._aliases.get(Place(file, name[:cut]), ()):
                yield Place(file, child + name[cut:])
        for everything in self._aliases.get(Place(file, "*"), ()):
            yield Place(file, f"{everything}.{name}")
        yield from self._imported(file, name)

    def _required(self, file: str, name: str) -> Iterator[Place]:
        specifier, _, rest = name.removeprefix("require(").partition(")")
        rest = rest.removeprefix(".default")
        local = rest[1:] if rest.startswith(".") else f"default{rest}"
        for path in self._modules.resolve(file, Import(specifier, 1)):
            yield Place(path, local)

    def _imported(self, file: str, name: str) -> Iterator[Place]:
        head = _CUTS.split(name, maxsplit=1)[0]
        rest = name[len(head) :]
        if head in self._bound_in(file):
            module, original = self._bound_in(file)[head]
            yield from self._from_module(file, module, original, rest)
        facts = self._files.get(file)
        for imp in facts.imports if facts is not None else ():
            if imp.names == ("*",):
                yield from (Place(path, name) for path in self._modules.resolve(file, imp))

    def _from_module(self, file: str, module: str, original: str, rest: str) -> Iterator[Place]:
        bare = module.lstrip(".")
        level = len(module) - len(bare)
        package = self._modules.resolve(file, Import(bare, 1, level, ("*",), is_from=True))
        if original:
            whole = self._modules.resolve(file, Import(bare, 1, level, (original,), is_from=True))
            submodule = [path for path in whole if path not in package]
            yield from (Place(path, rest.removeprefix(".")) for path in submodule)
            yield from (Place(path, original + rest) for path in package)
            return
        parts = rest.removeprefix(".").split(".")
        for count in range(len(parts), -1, -1):
            named = ".".join([bare, *parts[:count]])
            for path in self._modules.resolve(file, Import(named, 1, level)):
                yield Place(path, ".".join(parts[count:]))

    def _bound_in(self, file: str) -> dict[str, tuple[str, str]]:
        """Of Python: what scripts import is named by where it comes from."""
        if file not in self._bound:
            facts = self._files.get(file)
            bound = facts.bound if facts is not None and language_of(file) is Language.PYTHON else ()
            self._bound[file] = {local: (module, original) for local, module, original in bound}
        return self._bound[file]
