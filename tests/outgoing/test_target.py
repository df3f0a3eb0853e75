"""Parsing of URLs and validation of headers."""

import pytest

from forge.errors import ForgeError
from forge.outgoing.client import check_headers
from forge.outgoing.errors import Refused, Unsendable
from forge.outgoing.target import Target, parse_url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://Example.com", Target("https", "example.com", 443, "/")),
        ("http://example.com.:80/a b?q=ä#part", Target("http", "example.com", 80, "/a%20b?q=%C3%A4")),
        ("http://bücher.example/", Target("http", "xn--bcher-kva.example", 80, "/")),
        ("http://[2606:4700::1]:8080/x", Target("http", "2606:4700::1", 8080, "/x")),
    ],
)
def test_url_is_parsed_and_normalized(text: str, expected: Target):
    assert parse_url(text) == expected


def test_sent_target_equals_parsed_target():
    target = parse_url("http://example.com:8080/a%2Fb/../c?x=%0d%0a&y=1")
    assert target.authority == "example.com:8080"
    assert target.at("192.0.2.1").raw_path.decode() == target.path
    assert str(target.at("2001:db8::1")).startswith("http://[2001:db8::1]:8080/")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "ftp://example.com/",
            "file:///etc/passwd",
            "gopher://x/",
            "example.com",
            "//example.com",
            "javascript:1",
        ),
        *("http://me:secret@example.com/", "http://me@example.com/", "http://example.com\\@127.0.0.1/"),
        *("http://example.com:25/", "http://example.com:6379/", "https://example.com:22/"),
    ],
)
def test_unsupported_destination_is_refused(text: str):
    with pytest.raises((Refused, Unsendable)):
        parse_url(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "http://",
            "http:///path",
            "http://exa mple.com/",
            "http://a\r\nb/",
            "http://a/\nX: y",
            "http://a\0b/",
        ),
        *("http://a:0/", "http://a:65536/", "http://a:-1/", "http://[::1", "http://[fe80::1%25eth0]/"),
        *("http://" + "a" * 300 + ".com/", "http://a/" + "x" * 9000, "http://\uff11\uff12\uff17.0.0.1/"),
    ],
)
def test_invalid_url_is_refused(text: str):
    with pytest.raises(ForgeError) as raised:
        parse_url(text)
    assert raised.value.message


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "other.example"},
        {"content-length": "1"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "upgrade"},
        {"Proxy-Authorization": "x"},
        {"Accept-Encoding": "br"},
        {"X": "a\r\nEvil: 1"},
        {"X": "a\nEvil: 1"},
        {"X": "a\0"},
        {"X": "Ω"},
        {"X\r\nEvil": "1"},
        {"X: y": "1"},
        {"": "1"},
        {"X": "a" * 8001},
        {f"x{number}": "a" for number in range(51)},
        {f"x{number}": "a" * 7000 for number in range(5)},
    ],
)
def test_reserved_headers_are_refused(headers: dict[str, str]):
    with pytest.raises(Unsendable):
        check_headers(headers)


def test_caller_headers_are_normalized_and_sent():
    assert check_headers({"Authorization": "Bearer x", "X-Name": " Zoë "}) == {
        "authorization": "Bearer x",
        "x-name": "Zoë",
    }
