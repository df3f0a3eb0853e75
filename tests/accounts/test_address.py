import pytest

from forge.accounts.address import OwnAddress, canonical_origin


def both(host: str) -> frozenset[str]:
    return frozenset({f"http://{host}", f"https://{host}"})


LOCAL = OwnAddress("127.0.0.1", 8000, "forgehost")
EVERYWHERE = OwnAddress("0.0.0.0", 8000, "ForgeHost")
PUBLIC = OwnAddress("0.0.0.0", 8000, "forgehost", "https://forge.example.com:443/base")
PRIVILEGED = OwnAddress("192.168.1.5", 80, "forgehost")
NONE: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("address", "host", "allowed"),
    [
        (LOCAL, "localhost:8000", both("localhost:8000")),
        (LOCAL, "LOCALHOST:8000", both("localhost:8000")),
        (LOCAL, "127.0.0.1:8000", both("127.0.0.1:8000")),
        (LOCAL, "[::1]:8000", both("[::1]:8000")),
        (LOCAL, "localhost:3000", NONE),
        (LOCAL, "localhost", NONE),
        (LOCAL, "192.168.1.5:8000", NONE),
        (LOCAL, "forgehost:8000", NONE),
        (LOCAL, "evil.example:8000", NONE),
        (LOCAL, "localhost:8000@evil.example", NONE),
        (LOCAL, "user@localhost:8000", NONE),
        (LOCAL, "localhost:8000/x", NONE),
        (LOCAL, "[::1", NONE),
        (LOCAL, "localhost:port", NONE),
        (LOCAL, "", NONE),
        (LOCAL, None, NONE),
        (EVERYWHERE, "192.168.1.5:8000", both("192.168.1.5:8000")),
        (EVERYWHERE, "192.168.1.5:9000", both("192.168.1.5:9000")),
        (EVERYWHERE, "[fe80::1]:8000", both("[fe80::1]:8000")),
        (EVERYWHERE, "forgehost:8000", both("forgehost:8000")),
        (EVERYWHERE, "localhost:9000", both("localhost:9000")),
        (EVERYWHERE, "evil.example:8000", NONE),
        (EVERYWHERE, "forgehost.evil.example:8000", NONE),
        (PUBLIC, "evil.example", {"https://forge.example.com"}),
        (PUBLIC, "forge.example.com", {"https://forge.example.com"}),
        (PUBLIC, "192.168.1.5:8000", {"https://forge.example.com"}),
        (PUBLIC, "localhost:8000", {"https://forge.example.com"} | both("localhost:8000")),
        (PRIVILEGED, "192.168.1.5", both("192.168.1.5")),
        (PRIVILEGED, "192.168.1.5:80", {"http://192.168.1.5", "https://192.168.1.5:80"}),
    ],
)
def test_only_own_host_names_are_allowed_origins(
    address: OwnAddress, host: str | None, allowed: frozenset[str]
):
    assert address.allowed_origins(host) == allowed


@pytest.mark.parametrize(
    ("given", "compared"),
    [
        (None, None),
        ("http://localhost:8000", "http://localhost:8000"),
        ("HTTPS://Forge.Example.com:443", "https://forge.example.com"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("http://[::1", "http://[::1"),
        ("null", "://"),
    ],
)
def test_origin_is_normalized_before_comparison(given: str | None, compared: str | None):
    assert canonical_origin(given) == compared


@pytest.mark.parametrize(
    ("address", "host", "url"),
    [
        (LOCAL, None, "http://127.0.0.1:8000"),
        (LOCAL, "localhost:8000", "http://localhost:8000"),
        (LOCAL, "evil.example", "http://127.0.0.1:8000"),
        (EVERYWHERE, None, "http://127.0.0.1:8000"),
        (EVERYWHERE, "192.168.1.5:9000", "http://192.168.1.5:9000"),
        (OwnAddress("::1", 8000, "forgehost"), None, "http://[::1]:8000"),
        (PUBLIC, "localhost:8000", "https://forge.example.com:443/base"),
    ],
)
def test_login_url_uses_a_reachable_address(address: OwnAddress, host: str | None, url: str):
    assert address.url(host) == url
