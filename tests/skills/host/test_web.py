"""HTTP requests of skills to real servers."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.outgoing.servers import plain, redirect, serving
from tests.skills.host.hosts import error_of, host_for, host_services

from forge.outgoing.client import Outgoing
from forge.outgoing.models import Reach
from forge.skills.host.host import Host
from forge.skills.host.web import reach_of
from forge.skills.models import Capability, Scope


@pytest.mark.parametrize(
    ("granted", "host", "port", "expected"),
    [
        ("api.example.com", "api.example.com", 443, Reach.ALLOWED),
        ("api.example.com", "api.example.com", 80, Reach.ALLOWED),
        ("api.example.com", "api.example.com", 8443, None),
        ("api.example.com", "example.com", 443, None),
        ("api.example.com", "evilapi.example.com", 443, None),
        ("api.example.com", "api.example.com.evil.com", 443, None),
        ("api.example.com:8443", "api.example.com", 8443, Reach.ALLOWED),
        ("api.example.com:8443", "api.example.com", 443, None),
        ("*.example.com", "a.b.example.com", 443, Reach.ALLOWED),
        ("*.example.com", "example.com", 443, None),
        ("*.example.com", "evilexample.com", 443, None),
        ("*.example.com:99", "a.example.com", 99, Reach.ALLOWED),
        ("*.0.1", "127.0.0.1", 80, None),
        ("*", "anything.example", 443, Reach.PUBLIC),
        ("*", "anything.example", 8443, None),
        ("*:8443", "anything.example", 8443, Reach.PUBLIC),
        ("127.0.0.1:8080", "127.0.0.1", 8080, Reach.ALLOWED),
        ("[::1]:8080", "::1", 8080, Reach.ALLOWED),
        ("[::1]", "::1", 80, Reach.ALLOWED),
        ("[0:0::1]", "::1", 80, Reach.ALLOWED),
        ("[::1]", "::1", 1, None),
    ],
)
def test_grant_covers_only_its_hosts(granted: str, host: str, port: int, expected: Reach | None):
    assert reach_of([granted], host, port) == expected
    assert reach_of([], host, port) is None
    if expected is Reach.ALLOWED:
        assert reach_of(["*", f"*:{port}", granted], host, port) is Reach.ALLOWED


def host_with(folder: Path, grants: Mapping[Capability, Scope], *allowed: str) -> Host:
    return host_for(host_services(folder, outgoing=Outgoing(allowed)), grants)


async def test_response_is_decoded_as_text(tmp_path: Path):
    async with serving(plain("é".encode("latin-1"), content_type="text/plain; charset=ISO-8859-1")) as served:
        host = host_with(tmp_path, {Capability.HTTP_GET: Scope(hosts=[served.place])}, served.place)
        response = await host.call(
            "http", {"url": f"{served.url}/x", "headers": {"X-Key": "k"}, "method": "get"}
        )
    assert response == {
        "status": 200,
        "headers": {"content-type": "text/plain; charset=ISO-8859-1"},
        "body": "é",
    }
    assert served.asked[0].headers["x-key"] == "k"
    assert host.used == {Capability.HTTP_GET: 1}


@pytest.mark.parametrize("charset", ["punycode", "idna", "zlib", "unicode_escape", "nonsense", "utf-8"])
async def test_undecodable_body_is_replaced(tmp_path: Path, charset: str):
    async with serving(plain(b"\xff\x00a", content_type=f"text/plain; charset={charset}")) as served:
        host = host_with(tmp_path, {Capability.HTTP_POST: Scope(hosts=[served.place])}, served.place)
        response = await host.call("http", {"url": served.url, "method": "POST", "body": "héllo"})
    assert isinstance(response, dict)
    assert response["body"] == "\ufffd\0a"
    assert served.asked[0].body == "héllo".encode()


async def test_host_without_a_grant_is_an_error_with_the_command_to_grant_it(tmp_path: Path):
    async with serving(plain()) as served:
        host = host_with(tmp_path, {Capability.HTTP_GET: Scope(hosts=["a.example"])}, served.place)
        error = await error_of(host, "http", url=served.url)
    assert error.endswith(f"forge skill grant weather http_get=a.example,{served.place}")
    assert served.asked == []


async def test_redirect_to_a_host_without_a_grant_is_rejected(tmp_path: Path):
    async with serving(plain()) as last, serving(redirect(last.url)) as first:
        grants = {Capability.HTTP_GET: Scope(hosts=[first.place])}
        host = host_with(tmp_path, grants, first.place, last.place)
        assert f"{last.place} is not a granted host" in await error_of(host, "http", url=first.url)
        assert last.asked == []
        grants = {Capability.HTTP_GET: Scope(hosts=[first.place, last.place])}
        response = await host_with(tmp_path, grants, first.place, last.place).call("http", {"url": first.url})
        assert isinstance(response, dict)
        assert response["status"] == 200


async def test_wildcard_grant_does_not_reach_private_addresses(tmp_path: Path):
    async with serving(plain()) as served:
        grants = {Capability.HTTP_GET: Scope(hosts=["*", f"*:{served.port}"])}
        assert "not on the public internet" in await error_of(
            host_with(tmp_path, grants, served.place), "http", url=served.url
        )
        named = {Capability.HTTP_GET: Scope(hosts=[served.place])}
        error = await error_of(host_with(tmp_path, named), "http", url=served.url)
        assert f"FORGE_HTTP_ALLOW={served.place}" in error
    assert served.asked == []


async def test_failed_request_is_a_catchable_error(tmp_path: Path):
    host = host_with(tmp_path, {Capability.HTTP_GET: Scope(hosts=["*"])})
    for url in (
        "ftp://a.example/",
        "http://half-\ud800.example/",
        "http://no-such-host.invalid/",
        "http://[",
        "",
    ):
        assert await error_of(host, "http", url=url)
    assert "omit it" in await error_of(host, "http", url="http://a.example/", headers={"Host": "b"})
