"""No test talks to anybody beyond this machine. One that needs no server talks to none, and one
that needs no other program starts none.

Python tells of every connection before it is made, and of every start of a program. What the
programs do that tests start is seen where there is no network at all: CONTRIBUTING.md says how.
"""

import ipaddress
import re
import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from needing import is_quick

HERE = {"", "localhost", "localhost.", "0.0.0.0", "::"}
"""Names that need nobody to be asked, and addresses to listen at."""
NOBODY = ".invalid"
"""Below this there is nobody, by agreement: the answer is known without asking."""
NAME = re.compile(r"[\w.-]+")


class Watch:
    """What the running test did with sockets, and what it started."""

    WITH_ADDRESS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"})
    WITH_NAME = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})
    STARTS = frozenset({"subprocess.Popen", "os.fork", "os.posix_spawn"})

    def __init__(self) -> None:
        self.outside: list[str] = []
        self.spoken: list[str] = []
        self.started: list[str] = []

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if event in self.WITH_ADDRESS:
            self._addressed(event, args[0], args[1])
        elif event in self.WITH_NAME and args[0] is not None and must_be_asked_for(args[0]):
            if _said(args[0]).endswith(NOBODY):
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            self._refuse(f"{event} {args[0]!r}")
        elif event in self.STARTS:
            self.started.append(f"{event} {args[:2]!r}")

    def _addressed(self, event: str, by: socket.socket, address: Any) -> None:
        if by.family not in (socket.AF_INET, socket.AF_INET6):
            return
        if by.type == socket.SOCK_STREAM:
            self.spoken.append(f"{event} {address!r}")
        if event != "socket.bind" and not is_here(address[0]):
            self._refuse(f"{event} {address!r}")

    def _refuse(self, what: str) -> None:
        self.outside.append(what)
        raise ConnectionRefusedError(f"tests stay on this machine: {what}")

    def ended(self) -> tuple[list[str], list[str], list[str]]:
        """What was seen since the last time: outside, spoken to, started."""
        seen = self.outside, self.spoken, self.started
        self.outside, self.spoken, self.started = [], [], []
        return seen


def is_here(host: str | bytes) -> bool:
    number = _number(_said(host))
    return _said(host) in HERE or (number is not None and number.is_loopback)


def must_be_asked_for(host: str | bytes) -> bool:
    """Whether others have to be asked where that is. No resolver asks for what is no name."""
    name = _said(host)
    return name not in HERE and _number(name) is None and NAME.fullmatch(name) is not None


def _said(host: str | bytes) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes) else host


def _number(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


WATCH = Watch()
sys.addaudithook(WATCH)


@pytest.fixture(autouse=True)
def nobody_outside(request: pytest.FixtureRequest) -> Iterator[None]:
    WATCH.ended()  # what was done to find the tests is not this one's doing
    yield
    outside, spoken, started = WATCH.ended()
    assert not outside, "it wants to leave this machine"
    if is_quick(request.config):
        assert not spoken, "it talks to a server: mark it with pytest.mark.server"
        assert not started, "it starts a program: mark it with pytest.mark.program"
