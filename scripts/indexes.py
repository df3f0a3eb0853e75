"""Pass pip's configuration on to uv, which does not read it."""

import ast
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from steps import run

PASSED_ON = {
    "index-url": "UV_DEFAULT_INDEX",
    "cert": "SSL_CERT_FILE",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
}
# The same order as in pip: later sections take precedence.
SECTIONS = ("global", "install", ":env:")


def uv_env(python: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables to add for uv, without those that are already set."""
    listed = run([python, "-m", "pip", "config", "list"], python.parent)
    return to_uv(parse_pip_config(listed), environ)


def parse_pip_config(listed: str) -> dict[str, str]:
    """Parse the `section.key='value'` lines of `pip config list`; ignore other output, such as warnings."""
    found: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for line in listed.splitlines():
        name, equals, value = line.partition("=")
        section, dot, key = name.rpartition(".")
        if equals and dot and section in found:
            found[section][key] = str(ast.literal_eval(value))
    return {key: value for section in SECTIONS for key, value in found[section].items()}


def to_uv(pip: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    env = {variable: pip[key] for key, variable in PASSED_ON.items() if pip.get(key)}
    extra = [url for url in pip.get("extra-index-url", "").split() if _is_there(url)]
    if extra:
        env["UV_INDEX"] = " ".join(extra)
        # As in pip, any index may have the requested version. Safe, because every install is verified by hash.
        env["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return {variable: value for variable, value in env.items() if variable not in environ}


def _is_there(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme != "file" or Path(url2pathname(parts.path)).is_dir()
