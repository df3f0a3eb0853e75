"""Attacks on every backend that works on this machine. Successful ones must be known limits."""

import ast
import asyncio
import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.sandbox.conftest import ISOLATING, PYTHON, QUICK, TOOLS, WORKING, make
from tests.sandbox.known_limits import depends_on_machine, known_limits
from tests.sandbox.world import visitor, world

from forge.sandbox.backends.backend import Backend
from forge.sandbox.models import Command, Level, Network
from forge.sandbox.registry_gateway.access import Registries
from forge.sandbox.registry_gateway.upstreams import Upstream, Upstreams
from forge.sandbox.sandboxes import candidates

PROTECTED = (".git", ".protected")


def attacks() -> dict[str, str]:
    """Return every attack with its group, as in the file that is copied into the sandbox."""
    tree = ast.parse(Path(__file__).with_name("attacks.py").read_text())
    return {
        node.name: ast.literal_eval(decorator.args[0])
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
    }


ATTACKS = attacks()
CASES = [(backend, name) for backend in WORKING for name in ATTACKS]


@cache
def results(backend: str, group: str) -> dict[str, str]:
    return attack(backend, group)


def attack(
    backend: str, group: str, owner: int | None = None, network: Network = Network.NONE
) -> dict[str, str]:
    """Run a group of attacks in one process."""
    with world() as there, visitor(there.workdir):
        if owner is not None:
            there.give_work_tree_to(owner)
        limits = replace(QUICK, timeout_s=60)
        argv = ("/usr/bin/python3" if owner else PYTHON, "-I", "attacks.py", group, there.told())
        read_only = () if owner else TOOLS.read_only
        command = Command(argv, there.workdir, limits, network, protected=PROTECTED, read_only=read_only)
        sandbox = make(backend) if network is Network.NONE else with_a_registry(backend)
        outcome = asyncio.run(sandbox.run(command))
        assert outcome.exit_code == 0, outcome
        told: dict[str, str] = json.loads(outcome.stdout.text)
        return told | dict.fromkeys(there.escapes(), "escaped")


def with_a_registry(backend: str) -> Backend:
    """A registry that never responds."""
    registries = Registries(Upstreams((Upstream("http://127.0.0.1:1/simple"),), None))
    return next(each for each in candidates(registries) if each.name == backend).make(Level.PARTIAL)


@pytest.mark.parametrize(("backend", "name"), CASES)
def test_attack_is_blocked_or_a_known_limit(backend: str, name: str):
    found = results(backend, ATTACKS[name])[name]
    if found == "absent":
        pytest.skip("there is nothing to attack on this machine")
    if name not in depends_on_machine(backend):
        assert found == ("escaped" if name in known_limits(backend) else "blocked")


@pytest.mark.parametrize("backend", ISOLATING)
def test_only_the_registry_gateway_is_reachable(backend: str):
    told = attack(backend, "network", network=Network.REGISTRY)
    assert {name for name, found in told.items() if found == "escaped"} == set()


@pytest.mark.skipif(os.getuid() != 0, reason="the others ran as an ordinary user already")
def test_attacks_as_other_owner_are_blocked():
    """If Forge runs as root, commands run as the owner of the work tree."""
    escaped: set[str] = set()
    for group in set(ATTACKS.values()):
        escaped |= {
            name for name, found in attack("bubblewrap", group, owner=4321).items() if found == "escaped"
        }
    assert escaped == set()


def test_attacks_cover_every_group():
    assert len(ATTACKS) >= 75
    assert set(ATTACKS.values()) == {
        *("reads", "writes", "protected", "devices", "proc"),
        *("environment", "processes", "network", "kernel"),
    }
