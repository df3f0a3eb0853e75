"""Registry gateway in front of a local registry: allowed, refused and hidden data."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2
import pytest
from tests.support.timeouts import PATIENCE_S

from forge.sandbox.registry_gateway.gateway import Gateway
from forge.sandbox.registry_gateway.upstreams import Upstream, Upstreams

WHEEL = b"wheel" * 1000
TARBALL = b"tarball" * 1000


@dataclass
class Registry:
    """Serves one project of each kind and records the requests."""

    port: int = 0
    html: bool = False
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, path: str) -> tuple[int, str, bytes]:
        page = {"name": "six", "files": [{"filename": "six-1.whl", "url": "/files/six-1.whl", "hashes": {}}]}
        link = '<a href="../../files/six-1.whl#sha256=ab" data-requires-python="&gt;=3">six-1.whl</a>'
        package = {"name": "pad", "versions": {"1": {"dist": {"tarball": f"{self.url}/npm/pad/-/pad-1.tgz"}}}}
        pages = {
            "/simple/six/": ("text/html", link.encode()) if self.html else _json(page),
            "/files/six-1.whl": ("x/y", WHEEL),
            "/files/six-1.whl.metadata": ("x/y", b"Name: six"),
            "/npm/pad": _json(package),
            "/npm/@me%2fpad": _json(package),
            "/npm/pad/-/pad-1.tgz": ("x/y", TARBALL),
            "/secret": ("text/plain", b"secret"),
        }
        kind, body = pages.get(path, ("text/plain", b"no"))
        return (200 if path in pages else 404), kind, body

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        self.asked.append((method, path, headers))
        status, kind, body = self.answer(path)
        head = (
            f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close"
        )
        writer.write(f"{head}\r\n\r\n".encode() + (body if method == "GET" else b""))
        await writer.drain()
        writer.close()


def _json(value: object) -> tuple[str, bytes]:
    return "application/vnd.pypi.simple.v1+json", json.dumps(value).encode()


@dataclass(frozen=True)
class Open:
    registry: Registry
    gateway: Gateway
    env: dict[str, str]
    port: int
    get: Callable[..., Awaitable[httpx2.Response]]


@asynccontextmanager
async def opened(registry: Registry) -> AsyncIterator[Open]:
    server = await asyncio.start_server(registry.handle, "127.0.0.1", 0)
    registry.port = server.sockets[0].getsockname()[1]
    index = Upstream(f"{registry.url}/simple", "Basic hush")
    upstreams = Upstreams((index,), Upstream(f"{registry.url}/npm", "Bearer hush"))
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    async with server, Gateway(upstreams) as gateway, httpx2.AsyncClient(trust_env=False) as client:
        env = gateway.env(port)
        await gateway.serve(listener)
        yield Open(registry, gateway, env, port, client.get)


@pytest.fixture
async def there() -> AsyncIterator[Open]:
    async with opened(Registry()) as found:
        yield found


async def test_wheel_is_fetched_through_index_page(there: Open):
    page = (await there.get(f"{there.env['PIP_INDEX_URL']}six/")).json()
    url = page["files"][0]["url"]
    assert url.startswith(there.env["PIP_INDEX_URL"])
    assert (await there.get(url)).content == WHEEL
    assert (await there.get(f"{url}.metadata")).text == "Name: six"
    assert there.gateway.fetched == ("six-1.whl", "six-1.whl.metadata")


async def test_html_index_is_supported():
    async with opened(Registry(html=True)) as there:
        page = (await there.get(f"{there.env['PIP_INDEX_URL']}six/")).text
        url = page.split('href="')[1].split('"')[0]
        assert url.endswith("/six-1.whl#sha256=ab")
        assert 'data-requires-python="&gt;=3"' in page
        assert (await there.get(url)).content == WHEEL


@pytest.mark.parametrize("name", ["pad", "@me%2fpad"])
async def test_tarball_is_fetched_through_package_metadata(there: Open, name: str):
    package = (await there.get(f"{there.env['npm_config_registry']}{name}")).json()
    url = package["versions"]["1"]["dist"]["tarball"]
    assert url.startswith(there.env["npm_config_registry"])
    assert (await there.get(url)).content == TARBALL
    assert there.gateway.fetched == ("pad-1.tgz",)


async def test_tarball_from_lock_file_is_fetched(there: Open):
    assert (await there.get(f"{there.env['npm_config_registry']}pad/-/pad-1.tgz")).content == TARBALL


async def test_credentials_are_sent_upstream_only(there: Open):
    response = await there.get(f"{there.env['PIP_INDEX_URL']}six/", headers={"Authorization": "Basic mine"})
    _, _, headers = there.registry.asked[-1]
    assert headers["authorization"] == "Basic hush"
    assert "hush" not in response.text + str(response.headers) + str(there.env)


async def test_request_headers_are_not_forwarded(there: Open):
    await there.get(f"{there.env['PIP_INDEX_URL']}six/", headers={"X-Loot": "loot", "Cookie": "loot"})
    assert "loot" not in str(there.registry.asked)


async def raw(port: int, request: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode())
    await writer.drain()
    answer = (await asyncio.wait_for(reader.read(), PATIENCE_S)).decode()
    writer.close()
    return answer.split("\r\n")[0]


@pytest.mark.parametrize(
    "request_line",
    [
        "POST {base}/npm/pad HTTP/1.1",
        "PUT {base}/npm/pad HTTP/1.1",
        "DELETE {base}/npm/pad HTTP/1.1",
        "CONNECT example.com:443 HTTP/1.1",
        "GET http://example.com/ HTTP/1.1",
        "GET / HTTP/1.1",
        "GET /guess/npm/pad HTTP/1.1",
        "GET {base}/secret HTTP/1.1",
        "GET {base}/npm/../secret HTTP/1.1",
        "GET {base}/npm/%2e%2e/secret HTTP/1.1",
        "GET {base}/npm/pad?leak=loot HTTP/1.1",
        "GET {base}/npm/-/npm/v1/security/audits HTTP/1.1",
        "GET {base}/npm/-/whoami HTTP/1.1",
        "GET {base}/pip/0/six/../../secret HTTP/1.1",
        "GET {base}/pip/7/six/ HTTP/1.1",
        "GET {base}/npm/file/000000000000000000000000/x HTTP/1.1",
        "GET {base}/npm/pad HTTP/1.1\r\nContent-Length: 4",
        "GET {base}/npm/pad HTTP/1.1\r\nTransfer-Encoding: chunked",
        "GET {base}/npm/pad",
        "nonsense",
        "GET " + "x" * 20_000 + " HTTP/1.1",
    ],
)
async def test_other_requests_are_refused_without_upstream_call(there: Open, request_line: str):
    base = (
        there.env["npm_config_registry"].removeprefix(f"http://127.0.0.1:{there.port}").removesuffix("/npm/")
    )
    status = await raw(there.port, request_line.format(base=base) + "\r\nHost: x\r\n\r\n")
    assert status.split(" ")[1].startswith("4")
    assert there.registry.asked == []


async def test_unreachable_registry_returns_bad_gateway():
    async with opened(Registry()) as there:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            nobody = taken.getsockname()[1]
        there.gateway._upstreams = Upstreams((Upstream(f"http://127.0.0.1:{nobody}"),), None)
        assert (await there.get(f"{there.env['PIP_INDEX_URL']}six/")).status_code == 502
        assert (await there.get(f"{there.env['npm_config_registry']}pad")).status_code == 404


def test_upstream_credentials_are_hidden_in_repr():
    assert "hush" not in repr(Upstream("https://x", "Basic hush"))


def test_credentials_are_not_sent_to_other_hosts():
    upstream = Upstream("https://index.example/simple", "Basic hush")
    assert upstream.headers_for("https://files.example/six.whl") == {}
    assert upstream.headers_for("http://index.example/six.whl") == {}
    assert upstream.headers_for("https://index.example/six.whl") == {"Authorization": "Basic hush"}
