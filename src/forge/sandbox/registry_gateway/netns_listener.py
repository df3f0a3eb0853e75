"""Open a listening socket inside the network namespace of another process and pass it back.

Run by path with `python -I -S`, in a process of its own: a namespace can only be entered by a single thread.
"""

import ctypes
import fcntl
import os
import socket
import sys

NS_GET_USERNS = 0xB701
NEW_USER, NEW_NET = 0x10000000, 0x40000000
IP_FREEBIND = 15
BACKLOG = 64


def main(pid: int, port: int, answer_fd: int) -> None:
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    owner = fcntl.ioctl(network, NS_GET_USERNS)
    if os.fstat(owner).st_ino != os.stat("/proc/self/ns/user").st_ino:  # noqa: PTH116
        _enter(owner, NEW_USER)
    _enter(network, NEW_NET)
    with socket.socket() as listener, socket.socket(fileno=answer_fd) as answer:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)  # its loopback may not be up yet
        listener.bind(("127.0.0.1", port))
        listener.listen(BACKLOG)
        socket.send_fds(answer, [b"."], [listener.fileno()])


def _enter(namespace: int, kind: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, kind):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
