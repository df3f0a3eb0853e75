"""How well untrusted code can be locked in here. Tried out, not guessed from version numbers."""

import ctypes
import shutil
import subprocess
import sys

from forge.server.checks.check import Check, Situation, ok, warn

TIMEOUT_S = 10
LANDLOCK_CREATE_RULESET = 444
"""The number of the system call, the same on every processor."""
LANDLOCK_VERSION_FLAG = 1

_INSTALL = "Install bubblewrap: apt install bubblewrap (or dnf, pacman)."
_ALLOW = (
    "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
    "and on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0."
)
_ELSEWHERE = "Run Forge on Linux, or in a Linux container or virtual machine, to lock untrusted code in."


def check_sandbox(_: Situation) -> Check:
    if sys.platform != "linux":
        return warn("sandbox", f"none: nothing to isolate with on {sys.platform}", _ELSEWHERE)
    bwrap = shutil.which("bwrap")
    problem = _try_bubblewrap(bwrap) if bwrap else "bubblewrap is not installed"
    if problem is None:
        return ok("sandbox", f"isolated: bubblewrap works ({bwrap})")
    advice = _ALLOW if bwrap else _INSTALL
    if abi := landlock_abi():
        return warn("sandbox", f"partial: {problem}; Landlock (ABI {abi}) guards files only", advice)
    return warn("sandbox", f"none: {problem}, and the kernel has no Landlock", advice)


def _try_bubblewrap(path: str) -> str | None:
    """Why it does not work, or None."""
    try:
        done = subprocess.run(  # noqa: S603  # fixed arguments of a program found on PATH
            [path, "--ro-bind", "/", "/", "--unshare-all", "true"],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"bubblewrap does not run ({error})"
    return f"bubblewrap does not run ({done.stderr.strip()})" if done.returncode else None


def landlock_abi() -> int:
    """The version of Landlock the kernel has; 0 for none."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_VERSION_FLAG))
