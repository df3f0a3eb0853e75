"""Rewrite package pages of a registry, so that every link points to the gateway."""

import hashlib
import json
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

MAX_LINKS = 500_000
KEPT_ATTRIBUTES = ("data-requires-python", "data-yanked", "data-dist-info-metadata", "data-core-metadata")


class Links:
    """URLs found in registry pages; nothing else can be fetched."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def add(self, url: str) -> str:
        """Store a URL and return its path at the gateway."""
        bare = urldefrag(url).url
        key = hashlib.sha256(bare.encode()).hexdigest()[:24]
        if len(self._known) < MAX_LINKS:
            self._known[key] = bare
        return f"{key}/{urlsplit(bare).path.rpartition('/')[2]}"

    def find(self, key: str, name: str) -> str | None:
        """Return the URL of a file or of its `.metadata` file."""
        url = self._known.get(key)
        if url and name == urlsplit(url).path.rpartition("/")[2] + ".metadata":
            return f"{url}.metadata"
        return url


Rewrite = Callable[[str], str]
"""Maps a URL at the registry to one at the gateway."""


def rewrite_index_json(body: bytes, page: str, rewrite: Rewrite) -> bytes:
    page_data: dict[str, Any] = json.loads(body)
    for file in page_data.get("files", []):
        file["url"] = rewrite(urljoin(page, file["url"]))
    return json.dumps(page_data).encode()


def rewrite_index_html(body: bytes, page: str, rewrite: Rewrite) -> bytes:
    reader = _Anchors()
    reader.feed(body.decode(errors="replace"))
    lines = [_anchor(attributes, text, page, rewrite) for attributes, text in reader.found]
    return "\n".join(["<!DOCTYPE html><html><body>", *lines, "</body></html>"]).encode()


def rewrite_package(body: bytes, rewrite: Rewrite) -> bytes:
    """Rewrite the npm metadata of a package or of one version."""
    page_data: dict[str, Any] = json.loads(body)
    versions: dict[str, Any] = page_data.get("versions", {})
    for version in (page_data, *versions.values()):
        if "tarball" in version.get("dist", {}):
            version["dist"]["tarball"] = rewrite(version["dist"]["tarball"])
    return json.dumps(page_data).encode()


def _anchor(attributes: dict[str, str | None], text: str, page: str, rewrite: Rewrite) -> str:
    url, fragment = urldefrag(urljoin(page, attributes.get("href") or ""))
    href = f"{rewrite(url)}#{fragment}" if fragment else rewrite(url)
    kept = [f'{name}="{escape(attributes[name] or "")}"' for name in KEPT_ATTRIBUTES if name in attributes]
    attributes_kept = " ".join([f'href="{escape(href)}"', *kept])
    return f"<a {attributes_kept}>{escape(text)}</a><br>"


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[dict[str, str | None], str]] = []
        self._open: dict[str, str | None] | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self._open, self._text = dict(attrs), ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._open and self._open.get("href"):
            self.found.append((self._open, self._text.strip()))
            self._open = None
