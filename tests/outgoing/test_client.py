"""Requests to real servers on this machine, which the settings must allow."""

import asyncio
import datetime
import gzip
import ipaddress
import ssl
import zlib
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.outgoing.servers import Asked, Served, plain, redirect, serving
from tests.support.timeouts import PATIENCE_S

from forge.errors import ForgeError
from forge.outgoing.addresses import Address
from forge.outgoing.client import Outgoing
from forge.outgoing.errors import Refused, TooLate, TooLong, Unreachable, Unsendable
from forge.outgoing.models import Method, Reach, Request

HERE = ipaddress.ip_address("127.0.0.1")


def to(*served: Served) -> Outgoing:
    return Outgoing(tuple(one.place for one in served))


class Names:
    """A name server that returns one answer after the other, and then repeats the last one."""

    def __init__(self, *answers: list[Address] | Address) -> None:
        self.answers = [answer if isinstance(answer, list) else [answer] for answer in answers]
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[Address]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


async def test_request_is_sent_unchanged():
    async with serving(plain(b"made", "201 Created", content_type="text/plain", x_two="b")) as served:
        asked = Request(f"{served.url}/a?b=c", Method.POST, {"X-Key": "k"}, b"body")
        response = await to(served).request(asked)
    assert (response.status, response.body, response.url) == (201, b"made", f"{served.url}/a?b=c")
    assert response.headers == {"content-type": "text/plain", "x-two": "b"}
    [arrived] = served.asked
    assert arrived == Asked(
        "POST /a?b=c HTTP/1.1",
        {
            "accept": "*/*",
            "user-agent": "Forge",
            "x-key": "k",
            "host": served.place,
            "accept-encoding": "gzip",
            "connection": "close",
            "content-length": "4",
        },
        b"body",
    )


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "017700000001",
    ],
)
async def test_loopback_is_refused_in_every_spelling(host: str):
    async with serving(plain()) as served:
        with pytest.raises((Refused, Unreachable)) as raised:
            await Outgoing().request(Request(f"http://{host}:{served.port}/"))
    assert served.asked == []
    if isinstance(raised.value, Refused):
        assert "FORGE_HTTP_ALLOW=" in str(raised.value.hint)


async def test_only_allowed_port_is_reachable():
    async with serving(plain()) as allowed, serving(plain()) as other:
        assert (await to(allowed).request(Request(allowed.url))).status == 200
        with pytest.raises(Refused):
            await to(allowed).request(Request(other.url))
    assert other.asked == []


async def test_public_reach_ignores_allow_list():
    async with serving(plain()) as served:
        with pytest.raises(Refused):
            await to(served).request(Request(served.url, reach=lambda _host, _port: Reach.PUBLIC))
    assert served.asked == []


async def test_name_is_resolved_only_once():
    """Rebinding: the first answer is checked, and the connection goes there."""
    names = Names(HERE, ipaddress.ip_address("10.0.0.1"))
    async with serving(plain()) as served:
        outgoing = Outgoing((f"app.example:{served.port}",), resolve=names)
        response = await outgoing.request(Request(f"http://app.example:{served.port}/"))
        assert (response.status, names.asked) == (200, ["app.example"])
        assert served.asked[0].headers["host"] == f"app.example:{served.port}"


@pytest.mark.parametrize(
    "second", ["127.0.0.1", "169.254.169.254", "10.0.0.1", "::ffff:127.0.0.1", "fd00::1"]
)
async def test_public_name_with_private_address_is_refused(second: str):
    async with serving(plain()) as served:
        outgoing = Outgoing(resolve=Names(ipaddress.ip_address(second)))
        with pytest.raises(Refused, match="not on the public internet"):
            await outgoing.request(Request(f"http://app.example:{served.port}/"))
    assert served.asked == []


async def test_first_reachable_address_is_used():
    async with serving(plain()) as served:
        names = Names([ipaddress.ip_address("127.0.0.2"), ipaddress.ip_address("10.9.9.9"), HERE])
        outgoing = Outgoing(("127.0.0.0/8",), resolve=names)
        response = await outgoing.request(Request(f"http://app.example:{served.port}/", timeout_s=20))
    assert response.status == 200


async def test_redirect_target_is_checked_before_following():
    async with serving(plain(b"there")) as last, serving(redirect(f"{last.url}/end")) as first:
        response = await to(first, last).request(Request(first.url))
        assert (response.body, response.url) == (b"there", f"{last.url}/end")
        with pytest.raises(Refused, match="not on the public internet"):
            await to(first).request(Request(first.url))
        assert len(last.asked) == 1


@pytest.mark.parametrize(
    "location",
    [
        *("http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "//127.0.0.1/", "http://[::1]/"),
        *(
            "file:///etc/passwd",
            "ftp://127.0.0.1/",
            "http://a:b@127.0.0.1/",
            "http://127.0.0.1:22/",
            "http://0/",
        ),
    ],
)
async def test_redirect_to_private_address_is_refused(location: str):
    async with serving(redirect(location)) as served:
        with pytest.raises(Refused):
            await to(served).request(Request(served.url))


async def test_caller_rule_is_applied_to_each_redirect():
    def rule(_host: str, port: int) -> Reach:
        if port != first.port:
            raise Unsendable(f"not to {port}")
        return Reach.ALLOWED

    async with serving(plain()) as last, serving(redirect(last.url)) as first:
        with pytest.raises(Unsendable, match=f"not to {last.port}"):
            await to(first, last).request(Request(first.url, reach=rule))
    assert last.asked == []


async def test_credentials_are_not_sent_to_another_host():
    keys = {"Authorization": "Bearer k", "Cookie": "a=b", "X-Api-Key": "k", "Accept": "text/html"}
    async with serving(plain()) as last, serving(redirect(last.url, "307 Temporary Redirect")) as first:
        await to(first, last).request(Request(first.url, Method.POST, keys, b"body"))
        assert {"authorization", "cookie", "x-api-key"} <= first.asked[0].headers.keys()
        assert not {"authorization", "cookie", "x-api-key"} & last.asked[0].headers.keys()
        assert last.asked[0].headers["accept"] == "text/html"
        assert (last.asked[0].line, last.asked[0].body) == ("POST / HTTP/1.1", b"body")


async def test_post_becomes_get_after_302():
    async with serving(plain()) as last, serving(redirect(last.url)) as first:
        sent = Request(first.url, Method.POST, {"Content-Type": "text/plain"}, b"body")
        await to(first, last).request(sent)
    assert (last.asked[0].line, last.asked[0].body) == ("GET / HTTP/1.1", b"")
    assert "content-type" not in last.asked[0].headers


async def test_redirects_are_limited_and_cookies_are_not_kept():
    answer = plain(b"", "302 Found", location="/again", set_cookie="a=b")
    async with serving(answer) as served:
        with pytest.raises(Refused, match="5 redirects"):
            await to(served).request(Request(served.url))
    assert len(served.asked) == 6
    assert not any("cookie" in asked.headers for asked in served.asked)


async def test_endless_body_is_limited():
    async def endless(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    async with serving(endless) as served:
        with pytest.raises(TooLong, match="larger than 100,000 bytes"):
            await to(served).request(Request(served.url, max_bytes=100_000))


async def test_slow_body_times_out():
    async def drip(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with serving(drip) as served:
        with pytest.raises(TooLate, match=r"within 0\.3 seconds"):
            async with asyncio.timeout(PATIENCE_S):
                await to(served).request(Request(served.url, timeout_s=0.3))


async def test_endless_headers_are_limited():
    async def headers(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"x-a: " + b"b" * 1000 + b"\r\n")
            await writer.drain()

    async with serving(headers) as served:
        with pytest.raises(Unreachable):
            await to(served).request(Request(served.url, timeout_s=10))


async def test_slow_name_resolution_times_out():
    async def slow(_host: str, _port: int) -> list[Address]:
        await asyncio.sleep(60)
        return []

    with pytest.raises(TooLate):
        await Outgoing(resolve=slow).request(Request("http://app.example/", timeout_s=0.1))


async def test_compression_bomb_is_limited():
    bomb = gzip.compress(b"\0" * 200_000_000, 9)
    async with serving(plain(bomb, content_encoding="gzip")) as served:
        with pytest.raises(TooLong):
            await to(served).request(Request(served.url))


async def test_empty_compressed_blocks_are_limited():
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    nothing = packing.compress(b"") + b"".join(packing.flush(zlib.Z_FULL_FLUSH) for _ in range(3))

    async def answer(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + nothing)
        while True:
            writer.write(b"\x00\x00\x00\xff\xff" * 10_000)
            await writer.drain()

    async with serving(answer) as served:
        with pytest.raises(TooLong):
            await to(served).request(Request(served.url, timeout_s=20))


async def test_compressed_body_is_decompressed():
    packed = gzip.compress(b"hello" * 1000)
    async with serving(plain(packed, content_encoding="GZIP")) as served:
        response = await to(served).request(Request(served.url))
    assert response.body == b"hello" * 1000
    assert "content-encoding" not in response.headers


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"not packed", "gzip"),
        (gzip.compress(b"x" * 1000, mtime=0)[:-4], "gzip"),
        (b"x", "br"),
        (b"x", "gzip, gzip"),
    ],
)
async def test_invalid_compression_is_reported(body: bytes, encoding: str):
    async with serving(plain(body, content_encoding=encoding)) as served:
        with pytest.raises(Unreachable):
            await to(served).request(Request(served.url))


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort",
        b"",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 302 Found\r\nlocation: http://[\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nlocation: \xff\xfe\r\ncontent-length: 0\r\n\r\n",
    ],
)
async def test_invalid_response_is_reported(raw: bytes):
    async def answer(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)

    async with serving(answer) as served:
        with pytest.raises(ForgeError):
            await to(served).request(Request(served.url, timeout_s=5))


async def test_refused_connection_is_reported():
    async with serving(plain()) as served:
        pass
    with pytest.raises(Unreachable, match="cannot be reached"):
        await to(served).request(Request(served.url))
    with pytest.raises(Unreachable, match="cannot be resolved"):
        await Outgoing().request(Request("http://no-such-host.invalid/"))


async def test_head_response_has_no_body():
    async def answer(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\ncontent-encoding: gzip\r\n\r\n")

    async with serving(answer) as served:
        assert (await to(served).request(Request(served.url, Method.HEAD))).body == b""


async def test_oversized_request_body_is_refused():
    async with serving(plain()) as served:
        with pytest.raises(TooLong):
            await to(served).request(Request(served.url, Method.POST, body=b"x" * 11, max_sent_bytes=10))
    assert served.asked == []


async def test_proxy_environment_variables_are_ignored(monkeypatch: pytest.MonkeyPatch):
    async with serving(plain(b"proxy")) as proxy, serving(plain(b"server")) as served:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert (await to(served).request(Request(served.url))).body == b"server"
    assert proxy.asked == []


def certificate(folder: Path, host: str) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{host}.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return path


async def test_certificate_is_verified_against_host_name(tmp_path: Path):
    file = certificate(tmp_path, "app.example")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    seen: list[str | None] = []
    server.sni_callback = lambda _socket, name, _context: seen.append(name)
    trust = ssl.create_default_context(cafile=file)
    async with serving(plain(), tls=server) as served:
        outgoing = Outgoing(("127.0.0.1",), resolve=Names(HERE), tls=trust)
        assert (await outgoing.request(Request(f"https://app.example:{served.port}/"))).status == 200
        assert seen == ["app.example"]
        with pytest.raises(Unreachable, match=r"(?i)certificate"):
            await outgoing.request(Request(f"https://other.example:{served.port}/"))
        with pytest.raises(Unreachable, match=r"(?i)certificate"):
            await Outgoing(("127.0.0.1",)).request(Request(f"https://127.0.0.1:{served.port}/"))


async def test_redirect_from_https_to_http_is_refused(tmp_path: Path):
    file = certificate(tmp_path, "app.example")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    async with serving(plain()) as bare, serving(redirect(bare.url), tls=server) as first:
        outgoing = Outgoing(("127.0.0.1",), resolve=Names(HERE), tls=ssl.create_default_context(cafile=file))
        with pytest.raises(Refused, match="https to http"):
            await outgoing.request(Request(f"https://app.example:{first.port}/"))
    assert bare.asked == []
