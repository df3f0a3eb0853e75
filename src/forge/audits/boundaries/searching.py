"""Which files of a layer its text rules are about: all that its globs chose, save what nobody would call code."""

import re
from collections.abc import Iterable, Sequence

from forge.audits.snapshot import Entry

_ASSETS = re.compile(
    r"\.(?:png|jpe?g|gif|webp|avif|bmp|ico|icns|tiff?|psd|heic|mp[34]|m4a|wav|ogg|flac|webm|mov|avi|mkv|woff2?|ttf|otf|eot"
    r"|pdf|docx|xlsx|pptx|od[ts]|zip|t?gz|bz2|xz|zst|7z|rar|tar|[jw]ar|whl|so|dll|dylib|a|o|lib|obj|exe|bin|dat|class|pyc"
    r"|wasm|db|sqlite3?|parquet|feather|np[yz]|pkl|pickle|pth?|onnx|h5|safetensors|gguf|mo|glb|keystore|jks|p12|pfx|der)"
)
_PROSE = frozenset((".md", ".markdown", ".rst", ".adoc", ".asciidoc", ".txt"))
_LOCKS = re.compile(
    r"(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum)$|\.(?:lock|lockb)$"
)


def searched(globs: Sequence[str], entries: Iterable[Entry]) -> list[Entry]:
    """Prose, and the lists of packages that tools write, only where a glob names their suffix; assets never."""
    named = frozenset(_named(globs))
    return [
        entry
        for entry in entries
        if entry.kind.is_file
        and not _ASSETS.fullmatch(entry.suffix)
        and (entry.suffix in named or _is_code(entry))
    ]


def _is_code(entry: Entry) -> bool:
    return entry.suffix not in _PROSE and not _LOCKS.search(entry.path)


def _named(globs: Sequence[str]) -> Iterable[str]:
    """`docs/*.md` names `.md`, `docs/**/*.{md,rst}` both."""
    for glob in globs:
        for piece in glob.rpartition("/")[2].split(".")[1:]:
            yield from (f".{word.lower()}" for word in re.findall(r"\w+", piece))
