"""Keeps the head and the tail of a stream in bounded memory."""

from forge.sandbox.models import Output


class Capture:
    """The first half of the limit is kept as it comes; the second half is the latest there was."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit // 2
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self._head_limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        if len(self._tail) > 2 * self._tail_limit:
            self._shorten()

    def output(self) -> Output:
        self._shorten()
        left_out = self.total - len(self._head) - len(self._tail)
        if not left_out:
            text = (self._head + self._tail).decode(errors="replace")
            return Output(text, self.total, truncated=False)
        head, tail = _whole_end(self._head), _whole_start(self._tail)
        left_out = self.total - len(head) - len(tail)
        middle = f"\n[... {left_out} bytes left out ...]\n"
        text = head.decode(errors="replace") + middle + tail.decode(errors="replace")
        return Output(text, self.total, truncated=True)

    def _shorten(self) -> None:
        if (excess := len(self._tail) - self._tail_limit) > 0:
            del self._tail[:excess]


def _whole_end(data: bytearray) -> bytearray:
    """Without the first bytes of a character that was cut."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if wanted > back else data
    return data


def _whole_start(data: bytearray) -> bytearray:
    """Without the last bytes of a character that was cut."""
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]
