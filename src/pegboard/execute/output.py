"""What a process writes, kept from its beginning and its end however much it is."""

from collections.abc import Callable

EDGE = 16_384
"""More than is shown is kept on both sides of a cut: a secret there must be whole to be known."""

Hide = Callable[[str], str]


class Output:
    def __init__(self, most: int) -> None:
        self._most = most
        self._part = most // 2 + EDGE
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = self._part - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._part:
            del self._tail[: -self._part]

    @property
    def cut(self) -> bool:
        return self.size > self._most

    def text(self, hide: Hide) -> str:
        """Without secrets, and cut in the middle if it is too long."""
        if self.size == len(self._head) + len(self._tail):
            return _cut(hide((self._head + self._tail).decode("utf-8", "replace")), self._most)
        # Behind each edge may lie the rest of a secret, so what is next to it is never shown.
        head = hide(self._head.decode("utf-8", "replace"))[:-EDGE]
        tail = hide(self._tail[-self._part :].decode("utf-8", "replace"))[EDGE:]
        half = self._most // 2
        return _joined(head[:half], tail[-half:] if half else "", self.size - 2 * half)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return _joined(text[:half], text[-half:] if half else "", len(text) - 2 * half)


def _joined(head: str, tail: str, missing: int) -> str:
    return f"{head}\n... {missing:,} characters left out ...\n{tail}"
