"""Set up a checkout: Python packages, the web app and, with --dev, everything the tests need.

Requires only Python, does only what is missing, and can be interrupted at any time.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this runs with whatever python3 the machine has
    sys.stderr.write(f"Forge needs Python 3.11 or newer; this is {sys.version.split()[0]}.\n")
    sys.stderr.write("Install a newer one, or select it: make install PYTHON=/path/to/python3\n")
    sys.exit(2)

import argparse
import time
from pathlib import Path

import build_runtimes
import chromium
import node
import web_app
from packages import Environment
from steps import Failed, step

ROOT = Path(__file__).resolve().parent.parent
INTERRUPTED = 130


def install(root: Path, what: str) -> None:
    environment = Environment(root)
    environment.refresh(dev=what in ("tools", "dev"))
    if what == "recall":
        with step("packages for memory search by meaning"):
            environment.install_lock("recall")
    if web_app.has_sources(root):
        refresh_web(environment, what)
    else:
        print("web/package.json is missing, so the web app is not built.")
    if what != "tools" and build_runtimes.has_sources(root):
        refresh_runtimes(environment)
    if what == "dev":
        chromium.ensure(environment)


def refresh_web(environment: Environment, what: str) -> None:
    """Build the web app if it is stale. Checkers and tests need Node even if it is not."""
    root = environment.root
    if what in ("run", "recall") and web_app.is_fresh(root):
        return
    found = node.find(environment.scripts) or install_node(environment)
    if what == "tools":
        web_app.refresh_packages(root, found)
    else:
        web_app.refresh(root, found)


def refresh_runtimes(environment: Environment) -> None:
    """Build the skill runtimes if they are stale, with tools that are installed only for that."""
    if not build_runtimes.is_fresh(environment.root):
        found = node.find(environment.scripts) or install_node(environment)
        build_runtimes.refresh_in(environment, found)


def install_node(environment: Environment) -> node.Node:
    with step(f"Node (PATH has no {node.NEEDED})"):
        environment.install_lock("node")
        return node.require(environment.scripts)


def parse(arguments: list[str]) -> str:
    """Return what to set up: "run", "recall" (also memory search by meaning), "tools" (the web app is not built, so
    that a broken one can be fixed) or "dev"."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    choice = parser.add_mutually_exclusive_group()
    meanings = {
        "recall": "also install the packages for memory search by meaning",
        "tools": "only the checkers, without building the web app",
        "dev": "everything the tests need",
    }
    for what, meaning in meanings.items():
        choice.add_argument(f"--{what}", dest="what", action="store_const", const=what, help=meaning)
    return parser.parse_args(arguments).what or "run"


def main(arguments: list[str]) -> int:
    what = parse(arguments)
    started = time.monotonic()
    try:
        install(ROOT, what)
    except Failed as failure:
        print(f"\n{failure}", file=sys.stderr)
        return failure.exit_code
    except KeyboardInterrupt:
        print("Interrupted. Run it again to continue.", file=sys.stderr)
        return INTERRUPTED
    print(f"Ready in {time.monotonic() - started:.1f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
