"""Build the web app from web/ into the Python package if its sources have changed."""

from collections.abc import Iterator
from pathlib import Path

from node import Node
from stamps import Stamp, digest
from steps import Failed, run, step

NOT_SOURCES = {"node_modules", "openapi.json", "coverage", "dist"}


def has_sources(root: Path) -> bool:
    return (root / "web/package.json").is_file()


def built_page(root: Path) -> Path:
    return root / "src/forge/web/index.html"


def is_fresh(root: Path) -> bool:
    """Return whether both the npm packages and the built app match the sources."""
    return _packages_are_fresh(root) and _app_is_fresh(root)


def refresh(root: Path, node: Node) -> None:
    refresh_packages(root, node)
    if not _app_is_fresh(root):
        with step("web app"), _app_stamp(root).renewed(_app_digest(root)):
            _build(root, node)


def refresh_packages(root: Path, node: Node) -> None:
    if not _packages_are_fresh(root):
        with step("npm packages"), _packages_stamp(root).renewed(_packages_digest(root)):
            run([node.npm, "ci", "--no-audit", "--no-fund"], root / "web", node.env)


def _build(root: Path, node: Node) -> None:
    output = run([node.npm, "run", "build"], root / "web", node.env)
    if not built_page(root).is_file():
        raise Failed(f"`npm run build` did not create {built_page(root).relative_to(root)}:\n{output}")


def _packages_are_fresh(root: Path) -> bool:
    return _packages_stamp(root).matches(_packages_digest(root))


def _app_is_fresh(root: Path) -> bool:
    return built_page(root).is_file() and _app_stamp(root).matches(_app_digest(root))


def _packages_digest(root: Path) -> str:
    files = (root / "web" / name for name in ("package.json", "package-lock.json", ".npmrc"))
    return digest(file for file in files if file.is_file())


def _app_digest(root: Path) -> str:
    return digest(_sources(root / "web"))


def _sources(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.name in NOT_SOURCES:
            continue
        if entry.is_dir():
            yield from _sources(entry)
        else:
            yield entry


def _packages_stamp(root: Path) -> Stamp:
    """The stamp is inside node_modules, so that it is removed together with that folder."""
    return Stamp(root / "web/node_modules/.forge/packages")


def _app_stamp(root: Path) -> Stamp:
    return Stamp(root / "web/node_modules/.forge/app")
