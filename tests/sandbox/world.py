"""Targets of attacks: a home with secrets, Forge's data, another workspace, sockets, another process."""

import ctypes
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOOKED_FOR = [
    *("/etc/shadow", "/etc/ssl/private", "/etc/machine-id", "/etc/cron.d"),
    *("/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/proc/sysrq-trigger", "/proc/kcore"),
    *("/sys/kernel/uevent_helper", "/var/run/docker.sock", "/run/containerd/containerd.sock"),
    "/run/dbus/system_bus_socket",
]
ROOT = Path("/").stat().st_dev
FAMILIES = (31, 38, 40)
"""Bluetooth, kernel crypto, virtual machines."""
DECOY = "import time; word = 'x' * 50; print(id(word), flush=True); time.sleep(600)"
FILES = ("home/.ssh/id_ed25519", "home/.aws/credentials", "home/.netrc", ".env", "sibling/notes")
DATA = ("data/forge.db", "data/vault.key")
VICTIMS = ("victim", "to-delete", "to-rename")


@dataclass
class World:
    folder: Path
    token: str
    decoy: "subprocess.Popen[bytes]"
    decoy_address: int
    listeners: dict[str, socket.socket]
    marker: str
    ipc: dict[str, int | str]
    touched: set[str] = field(default_factory=set)

    @property
    def workdir(self) -> Path:
        return self.folder / "work"

    def told(self) -> str:
        """What the attacks know about the world."""
        places = {name: str(self.folder / name) for name in ("home", "data", "outside", "sibling")}
        tcp6 = self.listeners.get("tcp6")
        return json.dumps(
            {
                **places,
                "token": self.token,
                "decoy": self.decoy.pid,
                "decoy_address": self.decoy_address,
                "tmp_marker": self.marker,
                "ipc": self.ipc,
                "exists": {path: os.access(path, os.R_OK) for path in LOOKED_FOR},
                "families": [number for number in FAMILIES if _has_family(number)],
                "real_home_file": _file_in_home(),
                "address": _address(),
                "disk": _disk(),
                "disk_number": [os.major(ROOT), os.minor(ROOT)],
                "tcp": self.listeners["tcp"].getsockname()[1],
                "tcp6": tcp6.getsockname()[1] if tcp6 else None,
                "udp": self.listeners["udp"].getsockname()[1],
                "unix": str(self.folder / "unix"),
                "unix_datagram": str(self.folder / "unix-datagram"),
            }
        )

    def give_work_tree_to(self, owner: int) -> None:
        self.folder.chmod(0o755)
        for path in (self.workdir, *self.workdir.rglob("*")):
            os.chown(path, owner, owner)

    def escapes(self) -> set[str]:
        """Effects observed outside, independent of what the attack reports."""
        found: set[str] = set()
        with suppress(BlockingIOError):
            self.listeners["udp"].recv(1)
            found.add("udp_to_loopback")
        if (self.folder / "above").exists():
            found.add("write_above")
        if (shared := Path("/dev/shm") / self.token).exists():
            shared.unlink()
            found.add("fill_shared_memory")
        return found


@contextmanager
def world() -> Iterator[World]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="forge-world-"))).resolve()
        marker = stack.enter_context(tempfile.NamedTemporaryFile(dir="/tmp", prefix="forge-marker-"))
        token = secrets.token_hex(12)
        _build(folder, token)
        listeners = {name: stack.enter_context(each) for name, each in _listeners(folder, token).items()}
        argv = [sys.executable, "-I", "-S", "-c", DECOY, token[::-1]]
        decoy = stack.enter_context(
            subprocess.Popen(argv, env={"T": token}, cwd=folder / "data", stdout=subprocess.PIPE)
        )
        stack.callback(decoy.kill)
        assert decoy.stdout
        address = int(decoy.stdout.readline())
        ipc = stack.enter_context(_ipc(token))
        yield World(folder, token, decoy, address, listeners, Path(marker.name).name, ipc)


@contextmanager
def visitor(workdir: Path) -> Iterator[None]:
    """Connect from outside to every port that an attack reports to listen on."""
    ends = threading.Event()

    def visit() -> None:
        while not ends.wait(0.02):
            with suppress(OSError, ValueError):
                port = int((workdir / "port").read_text())
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                time.sleep(0.1)

    thread = threading.Thread(target=visit)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


@contextmanager
def _ipc(token: str) -> Iterator[dict[str, int | str]]:
    """Create shared memory, a queue and a semaphore that every process of this user can reach, and a named queue if
    supported."""
    if sys.platform != "linux":
        yield {"memory": -1, "key": 0, "named": ""}
        return
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    key = int(token[:7], 16)
    create = 0o1600
    memory, queue, semaphore = (
        libc.shmget(key, 4096, create),
        libc.msgget(key, create),
        libc.semget(key, 1, create),
    )
    ctypes.memmove(libc.shmat(memory, None, 0), token.encode(), len(token))
    named = libc.mq_open(f"/{token}".encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
    try:
        yield {"memory": memory, "key": key, "named": token if named >= 0 else ""}
    finally:
        libc.shmctl(memory, 0, None)
        libc.msgctl(queue, 0, None)
        libc.semctl(semaphore, 0, 0)
        if named >= 0:
            os.close(named)
            libc.mq_unlink(f"/{token}".encode())


def _build(folder: Path, token: str) -> None:
    for name in (*FILES, *DATA, *(f"outside/{victim}" for victim in VICTIMS)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{token}\n")
        path.chmod(0o600)
    shutil.copy(Path(__file__).with_name("attacks.py"), _folder(folder / "work"))
    _folder(folder / "work/.git/hooks")
    (folder / "work/.git/config").write_text("[core]\n")
    (folder / "work/.git/HEAD").write_text("ref: refs/heads/main\n")


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _listeners(folder: Path, token: str) -> dict[str, socket.socket]:
    stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    wanted: dict[str, tuple[int, int, Any]] = {
        "tcp": (socket.AF_INET, stream, ("0.0.0.0", 0)),
        "tcp6": (socket.AF_INET6, stream, ("::1", 0)),
        "udp": (socket.AF_INET, datagram, ("0.0.0.0", 0)),
        "unix": (socket.AF_UNIX, stream, str(folder / "unix")),
        "unix-datagram": (socket.AF_UNIX, datagram, str(folder / "unix-datagram")),
        "abstract": (socket.AF_UNIX, stream, f"\0{token}"),
    }
    found: dict[str, socket.socket] = {}
    for name, (family, kind, address) in wanted.items():
        with suppress(OSError):
            listener = socket.socket(family, kind)
            listener.setblocking(False)
            listener.bind(address)
            if kind == stream:
                listener.listen()
            found[name] = listener
    return found


def _has_family(number: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW):
        with suppress(OSError):
            socket.socket(number, kind).close()
            return True
    return False


def _file_in_home() -> str | None:
    found = (path for path in Path.home().glob(".*") if path.is_file() and os.access(path, os.R_OK))
    return next((str(path) for path in found), None)


def _address() -> str | None:
    """This machine's address on its network; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking, suppress(OSError):
        asking.connect(("10.255.255.255", 9))
        return asking.getsockname()[0]
    return None


def _disk() -> str | None:
    about = Path(f"/sys/dev/block/{os.major(ROOT)}:{os.minor(ROOT)}/uevent")
    with suppress(OSError):
        for line in about.read_text().splitlines():
            path = f"/dev/{line.removeprefix('DEVNAME=')}"
            if line.startswith("DEVNAME=") and Path(path).exists():
                return path
    return None
