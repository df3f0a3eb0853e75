"""Assemble a seccomp filter that denies system calls a command does not need.

Denied are the calls that reach other processes, namespaces, mounts, modules, keys and clocks; memory that no
process is charged for (memfd, SysV); setuid bits; and sockets of all but the named families. Without
namespaces of its own a command would share queues, semaphores and the network with all processes, so those
are denied too.
"""

import errno
import struct
from dataclasses import dataclass
from enum import IntEnum

from forge.errors import Unavailable
from forge.sandbox.backends.syscalls import NUMBERS, STARTING

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16

NEW_NAMESPACE = 0x7E020000
NEW_THREAD = 0x00010000
SETUID_BITS = 0o6000
CREATES = 0o20000100
"""O_CREAT, and the bit that makes O_TMPFILE of O_DIRECTORY."""
FAST_OPEN = 0x20000000
"""MSG_FASTOPEN connects while sending, which Landlock does not control."""
OWN_PROCESS = 0
TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX inject input into a terminal."""

CONDITIONAL = frozenset({"socket", "socketpair", "clone", "clone3", "ioctl", "openat2", "prlimit64"})
MODE_ARGUMENT = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2}
FLAGS_AND_MODE = {"open": (1, 2), "openat": (2, 3)}
SEND_FLAGS = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
OF_NAMESPACES = frozenset(
    {
        *("shmat", "shmctl", "shmdt", "msgget", "msgsnd", "msgrcv", "msgctl"),
        *("semget", "semop", "semtimedop", "semctl", "mq_open", "mq_unlink"),
        "listen",  # can bind to a port implicitly, which Landlock does not control
    }
)
"""System-wide resources, denied unless the command has its own namespaces."""


class Family(IntEnum):
    UNIX = 1
    INET = 2
    INET6 = 10


STREAM = 1
TYPE_MASK = 0xF
PLAIN_TCP = (0, 6)
"""Other stream protocols are not covered by Landlock."""


@dataclass(frozen=True)
class Instruction:
    code: int
    value: int
    if_true: int = 0
    if_false: int = 0

    def packed(self) -> bytes:
        return struct.pack("<HBBI", self.code, self.if_true, self.if_false, self.value)


@dataclass(frozen=True)
class Test:
    """Compares an argument: its lower 32 bits, the only ones that the kernel uses in these calls."""

    argument: int
    code: int
    value: int
    mask: int | None = None


@dataclass(frozen=True)
class Rule:
    """A call whose arguments pass all tests gets this answer; otherwise the next rule applies."""

    number: int
    tests: tuple[Test, ...]
    answer: int


def build_filter(
    machine: str,
    families: tuple[Family, ...],
    *,
    own_namespaces: bool,
    may_start: bool = True,
    allowed: tuple[str, ...] = (),
) -> bytes:
    """Return the filter program in the format of the kernel.

    With `own_namespaces`, a command may use UDP and listen. Without `may_start`, it can start threads but no programs
    or child processes. The calls in `allowed` are allowed although they are denied by default.
    """
    if machine not in NUMBERS:
        raise Unavailable(f"system calls cannot be filtered on {machine}: their numbers are unknown")
    numbers = NUMBERS[machine]
    program = [
        Instruction(LOAD, ARCHITECTURE_AT),
        Instruction(EQUAL, ARCHITECTURES[machine], 1, 0),
        Instruction(RETURN, KILL),
        Instruction(LOAD, NUMBER_AT),
    ]
    if machine == "x86_64":
        program += [Instruction(AT_LEAST, X32_BIT, 0, 1), Instruction(RETURN, KILL)]
    rules = _on_arguments(numbers) + _sockets(numbers, families, datagrams=own_namespaces)
    if not may_start:
        rules += _starting(machine)
    denied = {name: number for name, number in numbers.items() if name not in allowed}
    for rule in (*rules, *_always(denied, own_namespaces=own_namespaces)):
        program += _assemble(rule)
    program.append(Instruction(RETURN, ALLOW))
    return b"".join(instruction.packed() for instruction in program)


def _assemble(rule: Rule) -> list[Instruction]:
    body: list[Instruction] = []
    for test in rule.tests:
        body.append(Instruction(LOAD, ARGUMENTS_AT + 8 * test.argument))
        if test.mask is not None:
            body.append(Instruction(AND, test.mask))
        body.append(Instruction(test.code, test.value))
    body.append(Instruction(RETURN, rule.answer))
    for at, step in enumerate(body):
        if step.code in {EQUAL, ANY_BIT}:
            body[at] = Instruction(step.code, step.value, 0, len(body) - at - 1)
    if rule.tests:
        body.append(Instruction(LOAD, NUMBER_AT))
    return [Instruction(EQUAL, rule.number, 0, len(body)), *body]


def _on_arguments(numbers: dict[str, int]) -> list[Rule]:
    rules = [Rule(numbers["clone"], (Test(0, ANY_BIT, NEW_NAMESPACE),), _error(errno.EPERM))]
    rules += [
        Rule(numbers["ioctl"], (Test(1, EQUAL, request),), _error(errno.EPERM)) for request in TERMINAL_INPUT
    ]
    rules.append(Rule(numbers["prlimit64"], (Test(0, EQUAL, OWN_PROCESS),), ALLOW))
    rules.append(Rule(numbers["prlimit64"], (), _error(errno.EPERM)))
    for name, at in MODE_ARGUMENT.items():
        if name in numbers:
            rules.append(Rule(numbers[name], (Test(at, ANY_BIT, SETUID_BITS),), _error(errno.EPERM)))
    for name, (flags_at, mode_at) in FLAGS_AND_MODE.items():
        if name in numbers:
            tests = (Test(flags_at, ANY_BIT, CREATES), Test(mode_at, ANY_BIT, SETUID_BITS))
            rules.append(Rule(numbers[name], tests, _error(errno.EPERM)))
    return rules


def _starting(machine: str) -> list[Rule]:
    rules = [Rule(number, (), _error(errno.EPERM)) for number in STARTING[machine].values()]
    children = Test(0, EQUAL, 0, mask=NEW_THREAD)
    return [*rules, Rule(NUMBERS[machine]["clone"], (children,), _error(errno.EPERM))]


def _sockets(numbers: dict[str, int], families: tuple[Family, ...], *, datagrams: bool) -> list[Rule]:
    rules: list[Rule] = []
    for family in families:
        tests = (Test(0, EQUAL, family),)
        if family is Family.UNIX or datagrams:
            rules.append(Rule(numbers["socket"], tests, ALLOW))
            continue
        tests += (Test(1, EQUAL, STREAM, mask=TYPE_MASK),)
        rules += [Rule(numbers["socket"], (*tests, Test(2, EQUAL, plain)), ALLOW) for plain in PLAIN_TCP]
    rules.append(Rule(numbers["socket"], (), _error(errno.EAFNOSUPPORT)))
    rules.append(Rule(numbers["socketpair"], (Test(0, EQUAL, Family.UNIX),), ALLOW))
    rules.append(Rule(numbers["socketpair"], (), _error(errno.EAFNOSUPPORT)))
    for name, at in SEND_FLAGS.items():
        rules.append(Rule(numbers[name], (Test(at, ANY_BIT, FAST_OPEN),), _error(errno.EOPNOTSUPP)))
    return rules


def _always(numbers: dict[str, int], *, own_namespaces: bool) -> list[Rule]:
    """Deny calls regardless of their arguments. `clone3` and `openat2` hide theirs from filters; programs fall back to the
    older calls."""
    rules = [
        Rule(numbers[name], (), _error(errno.ENOSYS)) for name in ("clone3", "openat2", "io_uring_setup")
    ]
    allowed = {*CONDITIONAL, *MODE_ARGUMENT, *FLAGS_AND_MODE, *SEND_FLAGS, "io_uring_setup"}
    allowed |= OF_NAMESPACES if own_namespaces else set()
    return rules + [
        Rule(number, (), _error(errno.EPERM)) for name, number in numbers.items() if name not in allowed
    ]


def _error(number: int) -> int:
    return ERRNO | number
