"""What a process writes, kept from its beginning and its end however much it is."""

from collections.abc import Callable
from os.path import commonprefix

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
            return _cut(_hidden(bytes(self._head + self._tail), hide), self._most)
        head, tail = bytes(self._head), bytes(self._tail[-self._part :])
        first = _shared(_hidden(head[:-EDGE], hide), _hidden(head, hide))
        last = _shared(_hidden(tail[EDGE:], hide)[::-1], _hidden(tail, hide)[::-1])[::-1]
        return _joined(first, last, self.size - 2 * (self._most // 2))


def _hidden(data: bytes, hide: Hide) -> str:
    return hide(data.decode("utf-8", "replace"))


def _shared(short: str, long: str) -> str:
    """How both begin: where a secret is cut, one shows a part of it and the other hides it."""
    if long.startswith(short):
        return short
    return commonprefix([short, long])  # noqa: RUF071 - character by character is what we want


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return _joined(text[:half], text[-half:] if half else "", len(text) - 2 * half)


def _joined(head: str, tail: str, missing: int) -> str:
    return f"{head}\n... {missing:,} characters left out ...\n{tail}"
