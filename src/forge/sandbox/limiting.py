"""Limits as the kernel takes them, never above what this process has itself."""

import resource

from forge.sandbox.models import Limits

MEMLOCK = 1 << 16

KernelLimits = dict[str, tuple[int, int]]
"""Soft and hard, by their names in `resource`."""


def kernel_limits(limits: Limits, processes: int) -> KernelLimits:
    wanted = {
        "RLIMIT_NPROC": (processes, processes),
        "RLIMIT_FSIZE": (limits.file_bytes, limits.file_bytes),
        "RLIMIT_NOFILE": (limits.open_files, limits.open_files),
        "RLIMIT_DATA": (limits.memory_bytes, limits.memory_bytes),
        "RLIMIT_CPU": (limits.cpu_s, limits.cpu_s + 1),  # the signal that can be told from others comes first
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_MEMLOCK": (MEMLOCK, MEMLOCK),
    }
    return {name: _at_most(getattr(resource, name), *pair) for name, pair in wanted.items()}


def _at_most(what: int, soft: int, hard: int) -> tuple[int, int]:
    most = resource.getrlimit(what)[1]
    cap = hard if most == resource.RLIM_INFINITY else min(hard, most)
    return min(soft, cap), cap
