"""The paths an archive may contain. Anything else is rejected, because it could replace or redirect Forge's own files."""

import re
import tarfile
from pathlib import PurePosixPath

MANIFEST = "manifest.json"
VAULT_KEY = "vault.key"
SQLITE_FILE = "database/forge.db"
DATA = "data"
SETTINGS_FILE = "forge.toml"

MAX_PATH_CHARS = 4096

EXCLUDED = frozenset(
    {
        "lock",
        "server.json",
        "credentials.json",  # of this user for other servers
        "vault.key",
        "logs",
        "wasm",
        "registries",
        "skill-staging",
        "audit/facts.db",
        "audit/facts.db-wal",
        "audit/facts.db-shm",
    }
)
"""Belongs to a process or a machine, or is created again when missing. All other files are included, also unknown ones."""
EXCLUDED_PREFIXES = ("forge.db", "restore-", ".restore-", "before-restore-", ".vault.key.", ".server.json.")
"""Of top-level names. The database, with the copies made before migrations, is backed up separately."""

_DATABASE = re.compile(r"database/(forge\.db|(forge|engine)/\w{1,63}\.copy)", re.ASCII)


def is_included(path: PurePosixPath) -> bool:
    """Return whether backups contain this path of the data directory.

    Names that differ in case only are the same on some file systems.
    """
    folded = PurePosixPath(str(path).casefold())
    return not any(str(part) in EXCLUDED for part in (folded, *folded.parents)) and not folded.parts[
        0
    ].startswith(EXCLUDED_PREFIXES)


def may_be_link(path: PurePosixPath) -> bool:
    """Return whether this path of the data directory may be a link: only files of workspaces, `workspaces/ID/tree/…`.

    Workspaces never follow links to the outside. Everywhere else a link would redirect what Forge reads and writes.
    """
    return len(path.parts) > 3 and path.parts[0] == "workspaces" and path.parts[2] == "tree"


def check_member(member: tarfile.TarInfo) -> PurePosixPath:
    """Return the path of a member, or raise TarError if no backup contains such a member."""
    name, path = member.name, PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        raise tarfile.TarError(f"it contains a path outside the archive: {name!r}")
    if name != str(path):
        raise tarfile.TarError(f"it contains a path in an unusual form: {name!r}")
    if max(len(name), len(member.linkname)) > MAX_PATH_CHARS or "\0" in name:
        raise tarfile.TarError("it contains a path that is too long")
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE):
        raise tarfile.TarError(f"it contains a member that is not a file, folder or link: {name!r}")
    if not _is_expected(path, member):
        raise tarfile.TarError(f"backups never contain {name!r} as a {_kind(member)}")
    return path


def _is_expected(path: PurePosixPath, member: tarfile.TarInfo) -> bool:
    if path.parts[:1] == (DATA,) and len(path.parts) > 1:
        inside = PurePosixPath(*path.parts[1:])
        if inside.parts[0].casefold() == SETTINGS_FILE:
            return str(inside) == SETTINGS_FILE and member.isreg()
        return is_included(inside) and (not member.issym() or may_be_link(inside))
    return member.isreg() and (str(path) in (MANIFEST, VAULT_KEY) or bool(_DATABASE.fullmatch(str(path))))


def _kind(member: tarfile.TarInfo) -> str:
    return "link" if member.issym() else "folder" if member.isdir() else "file"
