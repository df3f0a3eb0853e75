"""What a skill asks for, and how far: its own wishes and those of the skills it builds on. Nothing is granted here."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from forge.skills.capabilities import MEANINGS
from forge.skills.models import Capability, EntryName, Host, Manifest, Root, Scope, SkillKind
from forge.skills.views import AskedView

_HOST: TypeAdapter[str] = TypeAdapter(Host)
_ROOT: TypeAdapter[str] = TypeAdapter(Root)
_NAME: TypeAdapter[str] = TypeAdapter(EntryName)
_MAX_HOSTS, _MAX_ROOTS, _MAX_NAMES = 50, 20, 50


def is_host(text: str) -> bool:
    return _fits(_HOST, text.lower())


def is_root(text: str) -> bool:
    return _fits(_ROOT, text)


def is_entry_name(text: str) -> bool:
    return _fits(_NAME, text)


def wished_scope(manifest: Manifest, capability: Capability) -> Scope:
    """As far as its manifest says; what cannot be read there is not wished."""
    return _SCOPES[capability](manifest) if capability in _SCOPES else Scope()


def asks_of(manifest: Manifest, parents: Sequence[Manifest]) -> list[AskedView]:
    """Each capability once, in a fixed order, with what it means. What it and its parents want of one is added up; it is
    inherited when only a parent asks for it, the nearest counts."""
    needed = {Capability.EXEC_COMMAND} if manifest.kind is SkillKind.LOCAL else set[Capability]()
    chain = [manifest, *parents]
    views: list[AskedView] = []
    for capability in Capability:
        asking = [one for one in chain if capability in one.capabilities]
        if asking or capability in needed:
            from_parent = asking[0].name if asking and manifest not in asking else None
            views.append(_view(capability, asking, from_parent, is_needed=capability in needed))
    return views


def _view(
    capability: Capability, asking: Iterable[Manifest], from_parent: str | None, *, is_needed: bool
) -> AskedView:
    meaning = MEANINGS[capability]
    return AskedView(
        capability=capability,
        scope=_together([wished_scope(one, capability) for one in asking]),
        title=meaning.title,
        allows=meaning.allows,
        risk=meaning.risk,
        from_parent=None if is_needed else from_parent,
        is_needed=is_needed,
    )


def _together(scopes: Sequence[Scope]) -> Scope:
    return Scope(
        hosts=_each((host for scope in scopes for host in scope.hosts), _MAX_HOSTS),
        roots=_each((root for scope in scopes for root in scope.roots), _MAX_ROOTS),
        names=_each((name for scope in scopes for name in scope.names), _MAX_NAMES),
    )


def _hosts(manifest: Manifest) -> Scope:
    return Scope(hosts=_each((host.lower() for host in manifest.hosts if is_host(host)), _MAX_HOSTS))


def _roots(manifest: Manifest) -> Scope:
    return Scope(roots=_each(filter(is_root, manifest.files), _MAX_ROOTS))


def _names(names: Iterable[str]) -> Scope:
    return Scope(names=_each(filter(is_entry_name, names), _MAX_NAMES))


_SCOPES: Mapping[Capability, Callable[[Manifest], Scope]] = {
    Capability.HTTP_GET: _hosts,
    Capability.HTTP_POST: _hosts,
    Capability.READ_FILE: _roots,
    Capability.WRITE_FILE: _roots,
    Capability.READ_ENV: lambda manifest: _names(manifest.env),
    Capability.GET_SECRET: lambda manifest: _names(manifest.secrets),
    Capability.EXEC_COMMAND: lambda manifest: _names(manifest.commands),
}


def _each(words: Iterable[str], most: int) -> list[str]:
    return list(dict.fromkeys(words))[:most]


def _fits(adapter: TypeAdapter[Any], text: str) -> bool:
    try:
        adapter.validate_python(text)
    except ValidationError:
        return False
    return True
