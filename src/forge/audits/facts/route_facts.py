"""What one file says about routes, and the small language in which it names what other files have.

A name is what the file calls it (`router`, `users.router`), with three additions so that one rule resolves them all:
`create_app()` is what calling that returns, `ROUTERS[]` each thing in that list, `register(0)` the first parameter of
that function: `register(app)` mounts it on `app`, as what is declared on the parameter ends up there.
`require(./users)` is a script's module that was given no name.
"""

from dataclasses import dataclass

from forge.audits.facts.models import Mount, Route, Router

UNKNOWN = "\0"
"""Stands in a path or prefix for text that nobody knows without running the program."""
INSTEAD = "="
"""A mount's prefix that begins with it replaces the child's own prefix, as Flask does it; others come before it."""


@dataclass(frozen=True, slots=True)
class RouteFacts:
    routes: tuple[Route, ...] = ()
    mounts: tuple[Mount, ...] = ()
    """Also of names that are only other names for something: the parent is no router then, and the prefix empty."""
    routers: tuple[Router, ...] = ()
