"""A filter on system calls (seccomp): what no program of a model needs is refused by the kernel.

The refused ones fail with EPERM, as Python's OSError or PermissionError, and the program goes on.

Source: Documentation/userspace-api/seccomp_filter.rst of the kernel.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterator
from typing import Final

from pytest_llmeval.sandbox.kernel import (
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    PR_SET_SECCOMP,
    process_control,
)

PROCESSORS: Final = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""By name as in uname: column of `REFUSED`, and the kernel's mark of the calling convention."""

REFUSED: Final[dict[str, tuple[int | None, int | None]]] = {
    # Other processes and programs: a program is one process.
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    # The network; io_uring could do all of the rest unseen.
    "socket": (41, 198),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # Signals to others, and looking into them.
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    # How other processes of the user are scheduled.
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "sched_setaffinity": (203, 122),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # Another view of the file system.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    # Metadata of files, which Landlock leaves open.
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "truncate": (76, 45),
    "mknod": (133, None),
    "mknodat": (259, 33),
    # Memory and queues beyond the limits, some of which outlive the process.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgctl": (71, 187),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    # The machine, for a program that runs as root.
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "acct": (163, 89),
    "syslog": (103, 116),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "personality": (135, 92),
    "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18),
    "vhangup": (153, 58),
}
"""Numbers of the refused calls on x86_64 and aarch64."""

_NEWEST = 451
"""The last number that was looked at; newer calls do not exist for the program."""

_CLONE, _TGKILL, _PRLIMIT, _PRCTL = (56, 220), (234, 131), (302, 261), (157, 167)
_CLONE3, _OPENAT2 = 435, 437

# Commands by which a file's owner is named, who gets a signal of the program's choice when data
# comes: F_SETOWN and F_SETOWN_EX; of sockets also FIOSETOWN and SIOCSPGRP.
_FCNTL, _OWNER_OF_A_FILE = (72, 25), (8, 15)
_IOCTL, _OWNER_OF_A_SOCKET = (16, 29), (0x8901, 0x8902)

_CLONE_THREAD = 0x10000
_FILTER_MODE = 2

# Parts of the filter's machine: operation, jump if true, jump if false, value.
_Step = tuple[int, int, int, int]
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_AT_NUMBER, _AT_CONVENTION, _AT_ARGUMENTS, _AT_COMMAND = 0, 4, 16, 24
_ALLOW: _Step = (_RETURN, 0, 0, 0x7FFF0000)
_KILL: _Step = (_RETURN, 0, 0, 0x80000000)
_REFUSE: _Step = (_RETURN, 0, 0, 0x00050000 | errno.EPERM)
_UNKNOWN: _Step = (_RETURN, 0, 0, 0x00050000 | errno.ENOSYS)


def refuse_system_calls(*, child: int | None = None) -> None:
    """Install the filter for this process, for good.

    Threads stay possible; clone3 does not exist, because its flags are out of a filter's sight, and
    the C library falls back to clone.

    Args:
        child: number of a process that this one started, and may end.

    Raises:
        OSError: the kernel or its processor has no such filter.
    """
    machine = os.uname().machine
    if machine not in PROCESSORS:
        msg = f"the processor {machine} is not known to the filter of system calls"
        raise OSError(errno.ENOSYS, msg)
    steps = list(_steps(*PROCESSORS[machine], process=os.getpid(), child=child))
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    process_control(PR_SET_NO_NEW_PRIVS, 1)
    process_control(PR_SET_SECCOMP, _FILTER_MODE, program)


def _steps(column: int, convention: int, *, process: int, child: int | None) -> Iterator[_Step]:
    """Yield the filter for one processor and the process of this number."""
    yield _LOAD, 0, 0, _AT_CONVENTION
    yield _EQUAL, 1, 0, convention
    yield _KILL
    yield _LOAD, 0, 0, _AT_NUMBER
    yield _AT_LEAST, 0, 1, _NEWEST + 1
    yield _UNKNOWN
    for number in (_CLONE3, _OPENAT2):
        yield _EQUAL, 0, 1, number
        yield _UNKNOWN
    if child is not None and (kill := REFUSED["kill"][column]) is not None:
        yield from _by_argument(kill, (_EQUAL, 0, 1, child), _ALLOW, _REFUSE)
    for numbers in REFUSED.values():
        if (refused := numbers[column]) is not None:
            yield _EQUAL, 0, 1, refused
            yield _REFUSE
    # Calls that depend on their first argument: load it, test it, and end either way.
    yield from _by_argument(_CLONE[column], (_ANY_BIT, 0, 1, _CLONE_THREAD), _ALLOW, _REFUSE)
    yield from _by_argument(_TGKILL[column], (_EQUAL, 0, 1, process), _ALLOW, _REFUSE)
    yield from _by_argument(_PRLIMIT[column], (_EQUAL, 0, 1, 0), _ALLOW, _REFUSE)
    yield from _by_argument(_PRCTL[column], (_EQUAL, 0, 1, PR_SET_PDEATHSIG), _REFUSE, _ALLOW)
    yield from _by_command(_FCNTL[column], _OWNER_OF_A_FILE)
    yield from _by_command(_IOCTL[column], _OWNER_OF_A_SOCKET)
    yield _ALLOW


def _by_command(number: int, refused: tuple[int, ...]) -> Iterator[_Step]:
    """Refuse a call whose second argument is one of `refused`."""
    yield _EQUAL, 0, len(refused) + 3, number
    yield _LOAD, 0, 0, _AT_COMMAND
    for place, command in enumerate(refused):
        yield _EQUAL, len(refused) - place, 0, command
    yield _ALLOW
    yield _REFUSE


def _by_argument(number: int, test: _Step, true: _Step, false: _Step) -> Iterator[_Step]:
    yield _EQUAL, 0, 4, number
    yield _LOAD, 0, 0, _AT_ARGUMENTS
    yield test
    yield true
    yield false
