"""How much memory a call took: the most this process had in between, where the kernel lets it ask."""

import os

RESET_PEAK = b"5"


class Meter:
    def __init__(self) -> None:
        """Opens what it will read: afterwards nothing can be opened."""
        self._reset = _open("/proc/self/clear_refs", os.O_WRONLY)
        self._status = _open("/proc/self/status", os.O_RDONLY)
        self._before = 0

    def start(self) -> None:
        if self._reset is not None:
            os.pwrite(self._reset, RESET_PEAK, 0)
            self._before = self._read().get(b"VmRSS", 0)

    def peak(self) -> int | None:
        """Bytes on top of what there was at the start."""
        if self._reset is None:
            return None
        return max(0, self._read().get(b"VmHWM", 0) - self._before)

    def _read(self) -> dict[bytes, int]:
        if self._status is None:
            return {}
        lines = (line.partition(b":") for line in os.pread(self._status, 4096, 0).splitlines())
        return {name: int(value.split()[0]) << 10 for name, _, value in lines if value.endswith(b" kB")}


def _open(path: str, flags: int) -> int | None:
    try:
        return os.open(path, flags | os.O_CLOEXEC)
    except OSError:
        return None
