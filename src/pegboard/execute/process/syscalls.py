"""What a process in the sandbox may not ask of the kernel, as a program for seccomp.

No namespace keeps these apart: keys of the session are handed on to every descendant, and the rest
has little use for a tool and a history of holes. What is refused fails with EPERM.
"""

import struct
from typing import NamedTuple

_X86_64, _ARM64 = 0, 1

REFUSED: dict[str, tuple[int, int]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pivot_root": (155, 41),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setns": (308, 268),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
"""By name, with the numbers for x86-64 and for 64-bit ARM."""

_ARCHITECTURES = {"x86_64": (_X86_64, 0xC000003E), "aarch64": (_ARM64, 0xC00000B7)}
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
_OTHER_ABI = 0x40000000
"""Numbers from here on are those of x32, a second name for every call."""


class _Step(NamedTuple):
    code: int
    yes: int
    no: int
    value: int


def syscall_filter(machine: str) -> bytes:
    """Nothing for a machine whose numbers are not known here."""
    if machine not in _ARCHITECTURES:
        return b""
    column, architecture = _ARCHITECTURES[machine]
    numbers = sorted(each[column] for each in REFUSED.values())
    last = len(numbers)
    steps = [
        _Step(_LOAD, 0, 0, _ARCHITECTURE),
        _Step(_EQUAL, 0, last + 3, architecture),
        _Step(_LOAD, 0, 0, _NUMBER),
        _Step(_AT_LEAST, last + 1, 0, _OTHER_ABI),
        *(_Step(_EQUAL, last - at, 0, number) for at, number in enumerate(numbers)),
        _Step(_RETURN, 0, 0, _ALLOW),
        _Step(_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
