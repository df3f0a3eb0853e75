"""Fetch skills from git repositories: one commit is fetched into a temporary folder and read from its objects.

Nothing is checked out, so filters, hooks and attributes of a repository have no effect. git gets the checked address, so a
second name lookup cannot lead it elsewhere.
"""

import asyncio
import os
import shlex
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from forge.errors import Invalid, TooLarge, Unavailable
from forge.outgoing.addresses import Address
from forge.skills.format.contents import MAX_ANY_BYTES
from forge.skills.format.zip_archive import MAX_UNPACKED
from forge.skills.installation.repository_address import (
    RepositoryAddress,
    checked_ref,
    normalize_source,
    parse_address,
)
from forge.skills.installation.server_folders import AllowedFolders
from forge.skills.installation.skill_finder import FoundSkill, find_skills, skill_folders
from forge.skills.models import GitSource, SkillProblem
from forge.workspace.git.git_runner import GitRunner, git_version
from forge.workspace.observed.errors import GitTooOld

MAX_FETCHED = 256 << 20
"""Size of what git fetches, packed."""
MAX_READ = MAX_UNPACKED
"""Total size of the files of all skills in it."""
MAX_ENTRIES = 200_000
LOOK_EVERY_S = 0.2
FETCH_S = 280.0
"""Less than the client's own timeout."""
PINNING = (2, 37)
"""The first git version with http.curloptResolve; older ones ignore the setting and resolve names themselves."""

HostCheck = Callable[[str, int], Awaitable[Sequence[Address]]]
"""Return the allowed addresses of a host. Raises Denied or Unavailable if there is none."""

_FETCHED = "refs/forge/fetched"
_WHY_SLOW = "The repository is large or the connection slow: try again, or install from a zip of the skills."
_LINK, _FILES = "120000", ("100644", "100755", "100664")
_LARGE_FILE = b"version https://git-lfs.github.com/spec/"
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "credential.helper": "",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "20",
    "http.proxy": "",
    "maintenance.auto": "false",
    "protocol.version": "2",
    "submodule.recurse": "false",
    "transfer.bundleURI": "false",
}


@dataclass(frozen=True)
class FetchedRepository:
    source: GitSource
    """With the fetched commit."""
    skills: list[FoundSkill]


@dataclass(frozen=True)
class _Entry:
    mode: str
    object: str
    size: int


class Repositories:
    """`folder` is where git may write while it fetches."""

    def __init__(self, folder: Path, check_host: HostCheck, roots: AllowedFolders) -> None:
        self._folder = folder
        self._check_host = check_host
        self._roots = roots

    async def fetch(self, wanted: GitSource) -> FetchedRepository:
        """Fetch every skill below the requested path. Raises Invalid, Denied, TooLarge or Unavailable."""
        source = normalize_source(wanted)
        remote = parse_address(source.url)
        ref = checked_ref(source.ref)
        env = await self._environment(remote)
        async with self._temporary_repository() as git:
            await _receive(git, self._address(remote), ref, env)
            commit = (await git.run("rev-parse", "--verify", f"{_FETCHED}^{{commit}}")).decode().strip()
            skills = await _read_skills(git, commit, source.path)
        return FetchedRepository(source.model_copy(update={"commit": commit}), skills)

    def _address(self, remote: RepositoryAddress) -> str:
        if remote.scheme != "file":
            return remote.address
        return f"file://{self._roots.repository(remote.folder)}"

    async def _environment(self, remote: RepositoryAddress) -> dict[str, str]:
        """Return an environment that restricts git to one protocol and one address."""
        settings = dict(_SETTINGS)
        more: dict[str, str] = {}
        if remote.scheme != "file":
            addresses = await self._check_host(remote.host, remote.port)
            if remote.scheme == "https":
                await _check_pins()
                settings["http.curloptResolve"] = _pinned(remote, addresses)
            else:
                more["GIT_SSH_COMMAND"] = _ssh_command(remote, addresses[0])
                more["GIT_SSH_VARIANT"] = "ssh"
        return _as_environment(settings) | more | {"GIT_ALLOW_PROTOCOL": remote.scheme}

    @asynccontextmanager
    async def _temporary_repository(self) -> AsyncGenerator[GitRunner]:
        await asyncio.to_thread(self._folder.mkdir, mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=self._folder) as made:
            place = Path(made)
            _lay_out(place)
            descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                yield GitRunner(place, place, descriptor)
            finally:
                os.close(descriptor)


def _lay_out(place: Path) -> None:
    """Create an empty repository, without the hooks of a template."""
    (place / "objects").mkdir()
    (place / "refs").mkdir()
    (place / "HEAD").write_text("ref: refs/heads/main\n")


async def _check_pins() -> None:
    found = await git_version()
    if found is None or found < PINNING:
        needed = ".".join(map(str, PINNING))
        raise GitTooOld(
            "The server's git cannot be restricted to the checked address.",
            hint=f"Install git {needed} or newer on the server, or use an ssh address or a zip.",
        )


async def _receive(git: GitRunner, address: str, ref: str, env: Mapping[str, str]) -> None:
    options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    words = ("fetch", *options, "--", address, f"+{ref}:{_FETCHED}")
    asking = asyncio.create_task(git.ask(*words, env=env, timeout_s=FETCH_S, why_slow=_WHY_SLOW))
    try:
        while not asking.done():
            await asyncio.wait({asking}, timeout=LOOK_EVERY_S)
            if await asyncio.to_thread(_size_of, git.git_dir) > MAX_FETCHED:
                raise TooLarge(
                    f"The repository is larger than {MAX_FETCHED >> 20} MB.",
                    hint="Install from a zip of the skills.",
                )
    finally:
        if not asking.done():
            asking.cancel()
            await asyncio.wait({asking})
    said = asking.result()
    if said.code != 0:
        raise Unavailable(
            f"{address[:200]} could not be fetched: {_last_line(said.stderr)}",
            hint="Check the address and the branch, tag or commit. A repository that is not public needs an ssh "
            "address, a key of the server's user and a line in its known_hosts.",
        )


async def _read_skills(git: GitRunner, commit: str, below: str) -> list[FoundSkill]:
    entries = await _list(git, commit)
    folders = set(skill_folders(entries, below=below))
    if not folders:
        where = f"Below {below!r} in the repository" if below else "In the repository"
        raise Invalid(f"{where} no folder contains a SKILL.md.", hint="Use the path of another folder.")
    wanted = {path: entry for path, entry in entries.items() if _is_below(path, folders)}
    refused = {path: reason for path, entry in wanted.items() if (reason := _reason(entry))}
    readable = {path: entry for path, entry in wanted.items() if path not in refused}
    if sum(entry.size for entry in readable.values()) > MAX_READ:
        raise TooLarge(
            f"The skills in the repository are larger than {MAX_READ >> 20} MB.",
            hint="Use the path of a folder with fewer skills.",
        )
    files = await _read(git, readable)
    return [_with_pointers(found) for found in find_skills(files, refused=refused, below=below)]


async def _list(git: GitRunner, commit: str) -> dict[str, _Entry]:
    listed = await git.run("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    found: dict[str, _Entry] = {}
    for line in listed.split(b"\x00")[:-1]:
        head, _, raw = line.partition(b"\t")
        mode, _, name, size = head.decode("ascii").split()
        found[raw.decode("utf-8", "backslashreplace")] = _Entry(mode, name, int(size) if size != "-" else 0)
    if len(found) > MAX_ENTRIES:
        raise TooLarge(f"The repository has more than {MAX_ENTRIES:,} files.")
    return found


async def _read(git: GitRunner, entries: Mapping[str, _Entry]) -> dict[str, bytes]:
    """Read each object once, in a single git call."""
    objects = list(dict.fromkeys(entry.object for entry in entries.values()))
    asked = "".join(f"{name}\n" for name in objects).encode()
    said = await git.ask("cat-file", "--batch", "--buffer", stdin=asked, limit=MAX_READ + 100 * len(objects))
    if said.code != 0:
        raise Unavailable(f"The fetched objects cannot be read: {_last_line(said.stderr)}")
    contents: dict[str, bytes] = {}
    place = 0
    for name in objects:
        end = said.out.index(b"\n", place)
        size = int(said.out[place:end].split()[2])
        contents[name] = said.out[end + 1 : end + 1 + size]
        place = end + 1 + size + 1
    return {path: contents[entry.object] for path, entry in entries.items()}


def _reason(entry: _Entry) -> str | None:
    """Return why the entry is refused; None if it is accepted."""
    if entry.mode == _LINK:
        return "it is a link; a skill must contain its files."
    if entry.mode not in _FILES:
        return "it is a submodule, which is not fetched."
    if entry.size > MAX_ANY_BYTES:
        return f"it is larger than {MAX_ANY_BYTES >> 20} MB."
    return None


def _with_pointers(found: FoundSkill) -> FoundSkill:
    """Add warnings for Git LFS pointers, whose content is not fetched."""
    pointers = [path for path, data in found.files.items() if data.startswith(_LARGE_FILE)]
    more = [
        SkillProblem(message=f"{path[:200]} is stored in Git LFS and is not fetched.", is_warning=True)
        for path in pointers
    ]
    return FoundSkill(found.name, found.path, found.files, [*found.problems, *more])


def _is_below(path: str, folders: set[str]) -> bool:
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        if folder in folders:
            return True
    return False


def _pinned(remote: RepositoryAddress, addresses: Sequence[Address]) -> str:
    shown = [f"[{address}]" if address.version == 6 else str(address) for address in addresses]
    return f"{remote.host}:{remote.port}:{','.join(shown)}"


def _ssh_command(remote: RepositoryAddress, address: Address) -> str:
    """Return an ssh command without configuration or prompts, for known hosts only."""
    alias = remote.host if remote.port == 22 else f"[{remote.host}]:{remote.port}"
    options = {
        "BatchMode": "yes",
        "CheckHostIP": "no",
        "ClearAllForwardings": "yes",
        "ConnectTimeout": "15",
        "ForwardAgent": "no",
        "HostKeyAlias": alias,
        "HostName": str(address),
        "PermitLocalCommand": "no",
        "ProxyCommand": "none",
        "StrictHostKeyChecking": "yes",
    }
    given = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    return shlex.join(["ssh", "-F", os.devnull, *given])


def _as_environment(settings: Mapping[str, str]) -> dict[str, str]:
    found = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        found |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return found


def _size_of(folder: Path) -> int:
    total = 0
    for at, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(at) / name).lstat().st_size
            except FileNotFoundError:
                continue  # git renames what is complete
    return total


def _last_line(complaint: str) -> str:
    """Return the last line of git's error output, printable: it may contain text of the remote server."""
    lines = [line for line in complaint.splitlines() if line.strip()]
    said = next((line for line in reversed(lines) if line.startswith("fatal:")), lines[-1] if lines else "")
    shown = "".join(character if character.isprintable() else " " for character in said)
    return shown.removeprefix("fatal:").strip()[:300] or "git gave no reason"
