"""Requests of skills to real servers."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.outgoing.servers import plain, redirect, serving
from tests.skills.host.hosts import error_of, host_for, parts_for

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
def test_a_grant_covers_the_hosts_it_names(granted: str, host: str, port: int, expected: Reach | None):
    assert reach_of([granted], host, port) == expected
    assert reach_of([], host, port) is None
    if expected is Reach.ALLOWED:
        assert reach_of(["*", f"*:{port}", granted], host, port) is Reach.ALLOWED


def host_with(folder: Path, grants: Mapping[Capability, Scope], *places: str) -> Host:
    return host_for(parts_for(folder, outgoing=Outgoing(places)), grants)


async def test_an_answer_is_given_as_text(tmp_path: Path):
    async with serving(plain("é".encode("latin-1"), content_type="text/plain; charset=ISO-8859-1")) as served:
        host = host_with(tmp_path, {Capability.HTTP_GET: Scope(hosts=[served.place])}, served.place)
        given = await host.call(
            "http", {"url": f"{served.url}/x", "headers": {"X-Key": "k"}, "method": "get"}
        )
    assert given == {
        "status": 200,
        "headers": {"content-type": "text/plain; charset=ISO-8859-1"},
        "body": "é",
    }
    assert served.asked[0].headers["x-key"] == "k"
    assert host.used == {Capability.HTTP_GET: 1}


@pytest.mark.parametrize("charset", ["punycode", "idna", "zlib", "unicode_escape", "nonsense", "utf-8"])
async def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path, charset: str):
    async with serving(plain(b"\xff\x00a", content_type=f"text/plain; charset={charset}")) as served:
        host = host_with(tmp_path, {Capability.HTTP_POST: Scope(hosts=[served.place])}, served.place)
        given = await host.call("http", {"url": served.url, "method": "POST", "body": "héllo"})
    assert isinstance(given, dict)
    assert given["body"] == "\ufffd\0a"
    assert served.asked[0].body == "héllo".encode()


async def test_a_host_that_was_not_granted_is_an_error_with_its_way_out(tmp_path: Path):
    async with serving(plain()) as served:
        host = host_with(tmp_path, {Capability.HTTP_GET: Scope(hosts=["a.example"])}, served.place)
        told = await error_of(host, "http", url=served.url)
    assert told.endswith(f"forge skill grant weather http_get=a.example,{served.place}")
    assert served.asked == []


async def test_a_redirect_does_not_lead_past_the_grant(tmp_path: Path):
    async with serving(plain()) as last, serving(redirect(last.url)) as first:
        grants = {Capability.HTTP_GET: Scope(hosts=[first.place])}
        host = host_with(tmp_path, grants, first.place, last.place)
        assert f"{last.place} is not a granted host" in await error_of(host, "http", url=first.url)
        assert last.asked == []
        grants = {Capability.HTTP_GET: Scope(hosts=[first.place, last.place])}
        given = await host_with(tmp_path, grants, first.place, last.place).call("http", {"url": first.url})
        assert isinstance(given, dict)
        assert given["status"] == 200


async def test_a_grant_for_all_public_hosts_does_not_reach_our_own_network(tmp_path: Path):
    async with serving(plain()) as served:
        grants = {Capability.HTTP_GET: Scope(hosts=["*", f"*:{served.port}"])}
        assert "not on the public internet" in await error_of(
            host_with(tmp_path, grants, served.place), "http", url=served.url
        )
        named = {Capability.HTTP_GET: Scope(hosts=[served.place])}
        told = await error_of(host_with(tmp_path, named), "http", url=served.url)
        assert f"FORGE_HTTP_ALLOW={served.place}" in told
    assert served.asked == []


async def test_what_goes_wrong_is_an_error_the_skill_may_catch(tmp_path: Path):
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
