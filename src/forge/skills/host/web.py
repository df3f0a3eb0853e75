"""HTTP requests of a skill, to granted hosts only. Redirects have to be granted too."""

import ipaddress
import re
from collections.abc import Sequence

from pydantic import JsonValue

from forge.outgoing.models import Reach, Request
from forge.outgoing.target import PORTS
from forge.skills.execution import HostError
from forge.skills.host.arguments import Http, how_to_grant
from forge.skills.host.context import HostContext
from forge.skills.models import Scope

_USUAL = frozenset(PORTS.values())


async def send_request(running: HostContext, scope: Scope, given: Http) -> JsonValue:
    def rule(host: str, port: int) -> Reach:
        reach = reach_of(scope.hosts, host, port)
        if reach is None:
            shown = f"[{host}]" if ":" in host else host
            where = shown if port in _USUAL else f"{shown}:{port}"
            raise HostError(
                f"{where} is not a granted host. To grant it: "
                + how_to_grant(running.invocation.skill, given.needs, [*scope.hosts, where])
            )
        return reach

    body = b"" if given.body is None else given.body.encode()
    request = Request(given.url, given.method, given.headers, body, rule, running.left_s)
    response = await running.services.outgoing.request(request)
    return {
        "status": response.status,
        "headers": dict(response.headers),
        "body": response.text,
    }


def reach_of(granted: Sequence[str], host: str, port: int) -> Reach | None:
    """Return how far the grants reach a host; None if no entry covers it.

    An entry without a port covers the default ports. `*` covers only public hosts; hosts of the local network have to be
    named.
    """
    found = [reach for entry in granted if (reach := _reach_by(entry, host, port))]
    return Reach.ALLOWED if Reach.ALLOWED in found else next(iter(found), None)


def _reach_by(entry: str, host: str, port: int) -> Reach | None:
    name, colon, wanted = entry.rpartition(":") if re.search(r":[0-9]+$", _bare(entry)) else (entry, "", "")
    if (int(wanted) != port) if colon else (port not in _USUAL):
        return None
    if name == "*":
        return Reach.PUBLIC
    if name.startswith("*."):
        return Reach.ALLOWED if host.endswith(name[1:]) and not _is_address(host) else None
    return Reach.ALLOWED if _spelled(name.strip("[]")) == host else None


def _bare(entry: str) -> str:
    """Strip an address in brackets, whose colons do not separate ports."""
    return entry.rpartition("]")[2] if entry.startswith("[") else entry


def _spelled(host: str) -> str:
    return str(ipaddress.ip_address(host)) if _is_address(host) else host


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
