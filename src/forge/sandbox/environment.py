"""The variables a command gets. Nothing is inherited from the platform."""

from collections.abc import Mapping

PATH = "/usr/local/bin:/usr/bin:/bin"

_FIXED = {
    "PATH": PATH,
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "USER": "sandbox",
    "LOGNAME": "sandbox",
    "CI": "1",
    "NO_COLOR": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PYTHONUNBUFFERED": "1",
}


def build_env(given: Mapping[str, str], *, home: str, tmp: str) -> dict[str, str]:
    return {**_FIXED, "HOME": home, "TMPDIR": tmp, **given}
