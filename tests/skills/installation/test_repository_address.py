"""Addresses of repositories: supported forms, and rejection of options, commands and credentials."""

import pytest

from forge.errors import Invalid
from forge.skills.installation.repository_address import checked_ref, normalize_source, parse_address
from forge.skills.models import GitSource


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://Example.com/a/b.git", "https://example.com:443/a/b.git"),
        ("https://example.com:8443/b", "https://example.com:8443/b"),
        ("https://[2001:db8::1]/b", "https://[2001:db8::1]:443/b"),
        ("git@example.com:a/b.git", "ssh://git@example.com:22/a/b.git"),
        ("ssh://ada@example.com:2222/a/b", "ssh://ada@example.com:2222/a/b"),
        ("ssh://example.com/a", "ssh://git@example.com:22/a"),
        ("file:///srv/skills", "file:///srv/skills"),
    ],
)
def test_supported_address_is_normalized(text: str, address: str):
    assert parse_address(text).address == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/srv/skills",
        "../skills",
        "-oProxyCommand=evil",
        "--upload-pack=evil",
        "http://example.com/a",
        "git://example.com/a",
        "ext::sh -c evil",
        "fd::17",
        "ftp://example.com/a",
        "https://example.com",
        "https://ada:secret@example.com/a",
        "https://ada@example.com/a",
        "https://exa mple.com/a",
        "https://example.com/a?b",
        "https://example.com/a#b",
        "https://example.com:0x50/a",
        "ssh://-oProxyCommand=evil/a",
        "ssh://git@-oProxyCommand=evil/a",
        "-evil@example.com:a",
        "git@-example.com:a",
        "git@exa;mple.com:a",
        "git@example.com:",
        "file://host/srv",
        "https://example.com/a\nb",
        "https:\\\\example.com\\a",
    ],
)
def test_unsafe_address_is_rejected(text: str):
    with pytest.raises(Invalid):
        parse_address(text)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.com/a/b", GitSource(url="https://example.com/a/b")),
        (
            "https://example.com/a/b/tree/main/skills/notes",
            GitSource(url="https://example.com/a/b", ref="main", path="skills/notes"),
        ),
        ("https://example.com/a/b/-/tree/v1/", GitSource(url="https://example.com/a/b", ref="v1")),
    ],
)
def test_web_url_of_a_folder_is_normalized(url: str, expected: GitSource):
    assert normalize_source(GitSource(url=url)) == expected


@pytest.mark.parametrize("path", ["../x", "a/../../b", "a\\b", "a\x01b"])
def test_path_outside_the_repository_is_rejected(path: str):
    with pytest.raises(Invalid):
        normalize_source(GitSource(url="https://example.com/a", path=path))


def test_reference_cannot_be_an_option_or_a_refspec():
    assert checked_ref(None) == "HEAD"
    assert checked_ref("feature/x-1.2") == "feature/x-1.2"
    for ref in ("-x", "--upload-pack=x", "a:b", "+a", "a..b", "a b", "a*", "", "a\n", "^a", "a~1", "a.lock"):
        with pytest.raises(Invalid):
            checked_ref(ref)
