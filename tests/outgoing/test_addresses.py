"""Public addresses and parsing of FORGE_HTTP_ALLOW."""

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.config import load_settings
from forge.errors import ConfigError
from forge.outgoing.addresses import AllowList, is_own, is_public


@pytest.mark.parametrize(
    "text",
    [
        *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"),
        *("168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1"),
        *("192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1"),
        *("255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8"),
        *("64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1"),
        *("5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "4000::1"),
    ],
)
def test_non_internet_addresses_are_not_public(text: str):
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700::1111", "2a00:1450::1"])
def test_internet_addresses_are_public(text: str):
    assert is_public(ipaddress.ip_address(text))


@given(st.ip_addresses(v=6))
def test_addresses_with_embedded_ipv4_are_not_public(address: ipaddress.IPv6Address):
    if is_public(address):
        assert address.ipv4_mapped is None
        assert address.sixtofour is None
        assert address.teredo is None
        assert not address.is_private
        assert not address.is_multicast


def test_address_of_this_machine_is_recognized():
    assert is_own(ipaddress.ip_address("127.0.0.1"))
    assert not is_own(ipaddress.ip_address("203.0.113.7"))
    here = {entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    assert all(is_own(ipaddress.ip_address(address)) for address in here)


@pytest.mark.parametrize(
    ("entry", "host", "address", "port", "holds"),
    [
        ("127.0.0.1:8080", "127.0.0.1", "127.0.0.1", 8080, True),
        ("127.0.0.1:8080", "sneaky.example", "127.0.0.1", 8081, False),
        ("127.0.0.1", "127.0.0.1", "127.0.0.1", 81, True),
        ("127.0.0.1", "127.0.0.2", "127.0.0.2", 81, False),
        ("[::1]:8080", "::1", "::1", 8080, True),
        ("[::1]:8080", "::1", "::1", 80, False),
        ("::1", "::1", "::1", 80, True),
        ("10.1.0.0/16", "db.lan", "10.1.255.255", 5000, True),
        ("10.1.0.0/16", "db.lan", "10.2.0.0", 5000, False),
        ("10.1.0.0/16", "db.lan", "::ffff:10.1.0.1", 5000, False),
        ("Ollama.LAN:11434", "ollama.lan", "192.168.7.7", 11434, True),
        ("ollama.lan:11434", "evil-ollama.lan", "192.168.7.7", 11434, False),
        ("ollama.lan", "ollama.lan.evil.example", "192.168.7.7", 80, False),
        ("ollama.lan", "ollama.lan", "169.254.169.254", 80, False),
        ("169.254.169.254", "ollama.lan", "169.254.169.254", 80, True),
    ],
)
def test_entry_allows_exactly_its_destinations(entry: str, host: str, address: str, port: int, holds: bool):
    assert AllowList([entry]).allows(host, ipaddress.ip_address(address), port) is holds


@pytest.mark.parametrize(
    "entry",
    ["", "a b", "http://x", "x:0", "x:65536", "x:port", "10.1.0.0/33", "10.0.0.1/8", "*", "[::1", "a/b"],
)
def test_invalid_entry_raises_config_error(entry: str):
    with pytest.raises(ConfigError, match="FORGE_HTTP_ALLOW"):
        AllowList(["127.0.0.1", entry])


def test_setting_is_comma_separated(monkeypatch: pytest.MonkeyPatch):
    assert load_settings().http_allow == ()
    monkeypatch.setenv("FORGE_HTTP_ALLOW", "127.0.0.1:8080, 10.1.0.0/16,")
    assert load_settings().http_allow == ("127.0.0.1:8080", "10.1.0.0/16")
