"""Build the skill runtimes from runtimes/ into the Python package if their sources have changed.

Each is a WebAssembly component that contains an interpreter and a small shim. The code compiled for this machine is
stored beside them, so that a checkout need not compile it again; a wheel does not contain it.
"""

import hashlib
import json
import shutil
from pathlib import Path

from node import Node
from packages import Environment
from stamps import Stamp, digest
from steps import run, step

WORLD = "runtime"
MANIFEST = "runtimes.json"
SOURCES = ("skill.wit", "runtime.js", "runtime.py", "package.json", "package-lock.json")
MEASURE = "forge.skills.wasm.measurement"


def has_sources(root: Path) -> bool:
    return (root / "runtimes/package.json").is_file()


def built(root: Path) -> Path:
    return root / "src/forge/skills/wasm/built"


def manifest(root: Path) -> Path:
    return built(root) / MANIFEST


def is_fresh(root: Path) -> bool:
    return manifest(root).is_file() and _stamp(root).matches(_digest(root))


def refresh(root: Path, found: Node, python: Path) -> None:
    """Build what is stale. `python` has componentize-py and the engine."""
    if is_fresh(root):
        return
    target = built(root).with_name("built.partial")
    with step("runtimes of skills"), _stamp(root).renewed(_digest(root)):
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        _build_js(root, found, target)
        _build_py(root, python, target)
        _describe(root, python, target)
        shutil.rmtree(built(root), ignore_errors=True)
        target.rename(built(root))


def _build_js(root: Path, found: Node, target: Path) -> None:
    """Build with `npm install` instead of `npm ci`: the tool names packages for platforms that were never published,
    which no lock file contains."""
    folder = root / "runtimes"
    run([found.npm, "install", "--no-save", "--no-audit", "--no-fund"], folder, found.env)
    tool = folder / "node_modules/.bin/componentize-qjs"
    given = ["--wit", "skill.wit", "--js", "runtime.js", "--world", WORLD, "--sync"]
    run([tool, *given, "--output", target / "js.wasm"], folder, found.env)


def _build_py(root: Path, python: Path, target: Path) -> None:
    tool = python.parent / "componentize-py"
    given = ["-d", "skill.wit", "-w", WORLD, "componentize", "runtime", "-p", "."]
    run([tool, *given, "-o", target / "py.wasm"], root / "runtimes", {"PYTHONDONTWRITEBYTECODE": "1"})


def _describe(root: Path, python: Path, target: Path) -> None:
    """Write the manifest, with the memory that each runtime needs by itself, as measured by the engine."""
    runtimes: dict[str, dict[str, object]] = {}
    js = json.loads((root / "runtimes/package.json").read_text())["devDependencies"]
    py = (root / "locks/runtimes.txt").read_text().split()[0]
    made_with = {"js": f"componentize-qjs=={js['componentize-qjs']}", "py": py}
    for language in ("js", "py"):
        file = target / f"{language}.wasm"
        measured = json.loads(
            run(
                [python, "-m", MEASURE, file, target / "compiled"],
                root,
                {"PYTHONPATH": str(root / "src")},
            )
        )
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        runtimes[language] = {
            "file": file.name,
            "sha256": sha256,
            "made_with": made_with[language],
            **measured,
        }
    (target / MANIFEST).write_text(json.dumps(runtimes, indent=1) + "\n")


def _digest(root: Path) -> str:
    files = [root / "runtimes" / name for name in SOURCES]
    engine = root / "src/forge/skills/wasm/engine.py"
    return digest([*files, engine, root / "locks/runtimes.txt", Path(__file__).resolve()])


def _stamp(root: Path) -> Stamp:
    """The stamp is stored beside the files it vouches for."""
    return Stamp(built(root) / ".made-from")


def refresh_in(environment: Environment, found: Node) -> None:
    """Build in a temporary environment with componentize-py, which nothing else needs."""
    with step("what builds them"):
        environment.install_lock("runtimes")
    refresh(environment.root, found, environment.python)
