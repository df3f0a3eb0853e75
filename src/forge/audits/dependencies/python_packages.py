"""Map Python import names to distributions, whose names often differ."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from forge.audits.dependencies.manifests.discovery import View
from forge.audits.dependencies.manifests.requirement_name import normal
from forge.audits.facts.models import Import

_VERSIONED = re.compile(r"_v\d+(?:(?:alpha|beta|p)\d+\w*)?$")
MAX_NAMES = 100


@dataclass(frozen=True, slots=True)
class Names:
    """Known import names, from packages_map.toml."""

    modules: Mapping[str, tuple[str, ...]]
    namespaces: frozenset[str]
    same: frozenset[str]
    transitive: Mapping[str, tuple[str, ...]]

    def is_known(self, top: str) -> bool:
        return top in self.modules or top in self.same


@cache
def known_names() -> Names:
    text = files("forge.audits.dependencies").joinpath("packages_map.toml").read_text("utf-8")
    content = tomllib.loads(text)
    return Names(
        modules={name: tuple(value.split()) for name, value in content["modules"].items()},
        namespaces=frozenset(content["namespaces"]["names"].split()),
        same=frozenset(content["same"]["names"].split()),
        transitive={name: tuple(value.split()) for name, value in content["brought"].items()},
    )


@dataclass(frozen=True, slots=True)
class Package:
    """The distributions that provide an import."""

    label: str
    """The part of the import that identifies the package: `requests`, `google.cloud.storage`."""
    distributions: tuple[str, ...]
    """Distributions that provide it, the most common first. Never empty."""
    is_known: bool
    """Whether the name is known; otherwise `distributions` is a guess."""


def modules_of(imp: Import) -> Iterator[str]:
    """Yield the imported modules: `from google.cloud import storage, bigquery` gives two."""
    if imp.is_from and imp.module in known_names().namespaces and imp.names != ("*",):
        yield from (f"{imp.module}.{name}" for name in imp.names[:MAX_NAMES])
    else:
        yield imp.module


def package_of(module: str, custom: Mapping[str, str]) -> Package:
    """Return the package of a module. `custom` maps import names to distributions, from the project's settings."""
    names = known_names()
    prefixes = list(_prefixes(module))
    for prefix in prefixes:
        if prefix in custom:
            return Package(prefix, (normal(custom[prefix]),), is_known=True)
    top = prefixes[-1]
    if top not in names.namespaces:
        found = next((prefix for prefix in prefixes if prefix in names.modules), None)
        if found is not None and (found != top or top not in names.same):
            return Package(found, tuple(dict.fromkeys((*names.modules[found], normal(top)))), is_known=True)
        return Package(top, _special(top) or (normal(top),), is_known=top in names.same)
    return _in_namespace(module, prefixes, names)


def _in_namespace(module: str, prefixes: list[str], names: Names) -> Package:
    found = next((prefix for prefix in prefixes if prefix in names.modules and "." in prefix), None)
    if found is not None:
        return Package(found, names.modules[found], is_known=True)
    inner = next((p for p in prefixes if p in names.namespaces), prefixes[-1])
    depth = inner.count(".") + 2
    label = ".".join(module.split(".")[:depth])
    guess = normal(_VERSIONED.sub("", label).replace(".", "-").strip("-_"))
    namespace_packages = names.modules.get(prefixes[-1], ())
    return Package(label, (guess, *namespace_packages), is_known=False)


def _special(top: str) -> tuple[str, ...]:
    """Return the distributions of generated packages, such as mypy_boto3_*."""
    if top.startswith("mypy_boto3_"):
        return (normal(top), "boto3-stubs", "types-boto3", "boto3-stubs-full")
    if top.startswith("types_boto3_"):
        return (normal(top), "types-boto3")
    if top.startswith(("PyObjC", "pyobjc_")):
        return (normal(top), "pyobjc")
    return ()


def declared_name(view: View, package: Package, module: str, *, type_only: bool = False) -> str | None:
    """Return the declared distribution that provides the package, or None. Guesses only consider declared names."""
    declared = view.declared
    for name in package.distributions:
        if name in declared:
            return name
    compact_names = view.compact_names
    for guess in _guesses(package, module):
        if guess in compact_names:
            return compact_names[guess]
    if type_only:
        for name in package.distributions:
            for stub in (f"types-{name}", f"{name}-stubs", f"pandas-stubs-{name}"):
                if stub in declared:
                    return stub
    return None


def _guesses(package: Package, module: str) -> Iterator[str]:
    """Yield guesses without separators. Known names get no guesses: `redis-py` is not redis."""
    top = package.label.partition(".")[0]
    names = known_names()
    yield (
        normal(top).replace("-", "")
        if top not in names.namespaces
        else normal(package.label).replace("-", "")
    )
    if top in names.namespaces:
        yield from _namespace_guesses(module, top)
    elif not package.is_known:
        bare = normal(top).replace("-", "")
        yield from (f"python{bare}", f"py{bare}", f"{bare}python", f"{bare}py", f"python3{bare}")
        parts = module.split(".")
        yield from ("".join(map(_compact, parts[:depth])) for depth in range(len(parts), 1, -1))


def _namespace_guesses(module: str, top: str) -> Iterator[str]:
    parts = module.split(".")
    for depth in range(len(parts), 1, -1):
        joined = "".join(map(_compact, parts[:depth]))
        yield joined
        if module.startswith("airflow.providers."):
            yield f"apache{joined}"


def _compact(part: str) -> str:
    return normal(_VERSIONED.sub("", part)).replace("-", "")


def _prefixes(module: str) -> Iterator[str]:
    """Yield the prefixes of a module, longest first: `a.b.c`, `a.b`, `a`."""
    while module:
        yield module
        module = module.rpartition(".")[0]
