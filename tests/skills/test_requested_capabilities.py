"""The scopes a skill requests, including those inherited from its parents."""

from forge.skills.capabilities import requested_capabilities, requested_scope
from forge.skills.models import Capability, Manifest, Scope
from forge.skills.views import AskedView

WANTS = Manifest(
    name="wants",
    description="x",
    metadata={
        "forge-capabilities": "log http_get read_file read_env get_secret exec_command http_post",
        "forge-hosts": "API.example.com *.example.org https://no.example/ api.example.com",
        "forge-env": "LANG A=B",
        "forge-secrets": "weather-key",
        "forge-commands": "git /bin/sh",
        "forge-files": "/srv/notes relative/path",
    },
)


def test_each_capability_gets_its_own_scope():
    assert {one: requested_scope(WANTS, one) for one in Capability} == {
        Capability.READ_FILE: Scope(roots=["/srv/notes"]),
        Capability.WRITE_FILE: Scope(roots=["/srv/notes"]),
        Capability.HTTP_GET: Scope(hosts=["api.example.com", "*.example.org"]),
        Capability.HTTP_POST: Scope(hosts=["api.example.com", "*.example.org"]),
        Capability.EXEC_COMMAND: Scope(names=["git"]),
        Capability.READ_ENV: Scope(names=["LANG"]),
        Capability.RECALL_MEMORY: Scope(),
        Capability.GET_SECRET: Scope(names=["weather-key"]),
        Capability.KV: Scope(),
        Capability.LOG: Scope(),
    }


def test_requested_scopes_are_limited():
    many = " ".join(f"h{number}.example" for number in range(200))
    manifest = Manifest(name="many", description="x", metadata={"forge-hosts": many})
    assert len(requested_scope(manifest, Capability.HTTP_GET).hosts) == 50


def summarize(views: list[AskedView]) -> list[tuple[str, list[str], str | None, bool]]:
    return [(one.capability.value, one.scope.hosts, one.from_parent, one.is_needed) for one in views]


def test_requests_of_parents_are_inherited_and_merged():
    child = Manifest(
        name="child",
        description="x",
        metadata={"forge-capabilities": "http_get", "forge-hosts": "a.example"},
    )
    near = Manifest(
        name="near",
        description="x",
        metadata={"forge-capabilities": "http_get kv", "forge-hosts": "b.example"},
    )
    far = Manifest(name="far", description="x", metadata={"forge-capabilities": "log kv"})
    assert summarize(requested_capabilities(child, [near, far])) == [
        ("http_get", ["a.example", "b.example"], None, False),
        ("kv", [], "near", False),
        ("log", [], "far", False),
    ]
    assert all(one.title and one.allows and one.risk for one in requested_capabilities(child, [near]))


def test_program_requires_exec_command():
    program = Manifest(name="p", description="x", metadata={"forge-kind": "local"})
    parent = Manifest(name="near", description="x", metadata={"forge-capabilities": "exec_command"})
    assert summarize(requested_capabilities(program, [])) == [("exec_command", [], None, True)]
    assert summarize(requested_capabilities(program, [parent])) == [("exec_command", [], None, True)]
