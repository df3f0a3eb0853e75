"""Propose a first forge.json from the project's language, tests and frontend."""

import re
from collections import Counter

from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import Language, language_of
from forge.audits.files.lenient_readers import read_json, read_text, table
from forge.audits.imports.modules import Modules
from forge.audits.snapshot import Snapshot

_SCREENS = ("react", "vue", "svelte", "next", "nuxt", "@angular/core", "solid-js", "preact", "astro", "vite")
_DEPENDENCY_FILES = ("requirements.txt", "pyproject.toml", "setup.cfg", "setup.py", "Pipfile")
_TEST = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$|\.(test|spec)\.[cm]?[jt]sx?$")
_ASIDE = re.compile(r"(^|/)(tests?|docs?|examples?|fixtures|benchmarks?|scripts|vendor|node_modules)/")
_MANAGERS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}


def propose_forge_json(snapshot: Snapshot, environment: str | None = None) -> dict[str, object]:
    """Propose a forge.json. `environment` is the Python environment, which git ignores."""
    screens = frontend_folder(snapshot)
    language = _language(snapshot, screens)
    return {
        "project_name": snapshot.name,
        "backend": {
            "language": language,
            "entry_module": _entry(snapshot) if language == "python" else None,
            "test_framework": _test_framework(snapshot, language),
            "test_dir": _test_folder(snapshot),
            "dependency_file": _dependency_file(snapshot, language),
            **({"venv_path": environment} if environment and language == "python" else {}),
        },
        "frontend": _frontend(snapshot, screens),
    }


def _language(snapshot: Snapshot, screens: str | None) -> str | None:
    """Return the most used language, without the frontend."""
    count: Counter[str] = Counter()
    for path in snapshot.tree.entries:
        if screens is None or not path.startswith(f"{screens}/".lstrip("/")) or path.endswith(".py"):
            language = language_of(path)
            if language is Language.PYTHON:
                count["python"] += 1
            elif language is Language.SCRIPT:
                count["typescript" if path.endswith(("ts", "tsx")) else "javascript"] += 1
            elif path.endswith(".go"):
                count["go"] += 1
    return max(sorted(count), key=lambda name: count[name], default=None)


def _entry(snapshot: Snapshot) -> str | None:
    """Return the module that creates the application, else a typical entry module."""
    modules = Modules.of(snapshot)
    facts = facts_of(snapshot)
    apps = [path for path in sorted(facts) if any(router.is_app for router in facts[path].routers)]
    usual = [
        p for p in sorted(facts) if p.rpartition("/")[2] in ("main.py", "app.py", "__main__.py", "manage.py")
    ]
    for found in (apps, usual):
        real = [path for path in found if not _ASIDE.search(path) and path.endswith(".py")]
        if real:
            first = min(real, key=lambda path: (path not in usual, path.count("/"), path))
            return _without_main(modules.module_of(first))
    return None


def _without_main(module: str | None) -> str | None:
    """Replace `__main__` by its package, as importing `__main__` would run it."""
    return (module or "").removesuffix("__main__").rstrip(".") or None


def _test_framework(snapshot: Snapshot, language: str | None) -> str | None:
    if language == "go":
        return "go test"
    if language in ("typescript", "javascript"):
        manifest = read_json(read_text(snapshot, "package.json"))
        used = {**table(manifest.get("dependencies")), **table(manifest.get("devDependencies"))}
        return next((name for name in ("vitest", "jest", "mocha", "ava", "tap") if name in used), None)
    names = (*_DEPENDENCY_FILES, "requirements-dev.txt", "pytest.ini", "tox.ini")
    if any("pytest" in (read_text(snapshot, name) or "") for name in names):
        return "pytest"
    tests = [path for path in snapshot.tree.entries if path.endswith(".py") and _TEST.search(path)]
    if any(path.endswith("conftest.py") for path in tests):
        return "pytest"
    return "unittest" if tests else None


def _test_folder(snapshot: Snapshot) -> str | None:
    folders = {path.partition("/")[0] for path in snapshot.tree.entries if "/" in path}
    if found := next((name for name in ("tests", "test", "__tests__") if name in folders), None):
        return found
    inside = sorted(
        {p.rpartition("/")[0] for p in snapshot.tree.entries if p.endswith(".py") and _TEST.search(p)}
    )
    return min(inside, key=lambda folder: (folder.count("/"), folder), default=None) or None


def _dependency_file(snapshot: Snapshot, language: str | None) -> str | None:
    names = {"go": ("go.mod",), "typescript": ("package.json",), "javascript": ("package.json",)}
    wanted = names.get(language or "", _DEPENDENCY_FILES)
    found = [p for p in snapshot.tree.entries if p.rpartition("/")[2] in wanted and not _ASIDE.search(p)]
    return min(found, key=lambda p: (p.count("/"), wanted.index(p.rpartition("/")[2]), p), default=None)


def frontend_folder(snapshot: Snapshot) -> str | None:
    """Return the folder of the first package.json with a UI framework; empty for the project root."""
    for path in sorted(snapshot.tree.entries, key=lambda p: (p.count("/"), p)):
        folder, _, name = path.rpartition("/")
        if name == "package.json" and not _ASIDE.search(path):
            manifest = read_json(read_text(snapshot, path))
            used = {**table(manifest.get("dependencies")), **table(manifest.get("devDependencies"))}
            if any(screen in used for screen in _SCREENS):
                return folder
    return None


def _frontend(snapshot: Snapshot, folder: str | None) -> dict[str, object]:
    if folder is None:
        return {"enabled": False, "dir": "web", "build_cmd": None, "test_cmd": None}
    prefix = f"{folder}/" if folder else ""
    scripts = table(read_json(read_text(snapshot, f"{prefix}package.json")).get("scripts"))
    locks = [_MANAGERS[name] for name in _MANAGERS if f"{prefix}{name}" in snapshot.tree.entries]
    manager = locks[0] if locks else "npm"
    return {
        "enabled": True,
        "dir": folder or ".",
        "build_cmd": f"{manager} run build" if "build" in scripts else None,
        "test_cmd": f"{manager} test" if "test" in scripts else None,
    }
