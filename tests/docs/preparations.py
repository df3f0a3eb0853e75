"""Prerequisites of documentation pages: projects, skills and bots."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.support.github import open_github
from tests.support.page_runner import PageRunner
from tests.support.pages import ROOT, Page
from tests.support.repositories import Repository, make_repository
from tests.support.server import Server

from forge.skills.format.zip_archive import pack, read_folder

CART = {
    ".gitignore": "__pycache__/\n",
    "pyproject.toml": '[project]\nname = "basket"\nversion = "1"\n',
    "app/__init__.py": "",
    "app/cart.py": "def total(prices):\n    return sum(prices)\n",
    "tests/__init__.py": "",
    "tests/test_cart.py": "import unittest\n\nfrom app.cart import total\n\n\nclass Totals(unittest.TestCase):\n"
    "    def test_it_adds(self):\n        self.assertEqual(total([1, 2]), 3)\n",
}
WEATHER = {
    "SKILL.md": """---
name: weather
description: Tells the weather of a city. Use when somebody asks what it is like outside.
metadata:
  version: 1.2.0
  forge-kind: script
  forge-capabilities: http_get kv
  forge-hosts: api.example.com
---

Call the script with a city.
""",
    "skill.js": "function run() { return kv.get('a'); }\n",
}


def run_commands(runner: PageRunner, *commands: str) -> None:
    for command in commands:
        result = runner.run_command(command)
        assert result.code == 0, f"{command}\n{result.out}{result.err}"


def create_bots(*names: str) -> Callable[[PageRunner], None]:
    """Return a function that creates bots that use the demo model."""

    def prepare(runner: PageRunner) -> None:
        run_commands(runner, "forge models demo", *(f"forge bots create {name}" for name in names))

    return prepare


def first_id(path: str) -> Callable[[PageRunner], str]:
    """Return a function that returns the id of the first item of a list."""
    return lambda runner: runner.server.call("GET", f"/api/v1{path}")[0]["id"]


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def skill_md(name: str, version: str = "1.0.0") -> str:
    return (
        f"---\nname: {name}\ndescription: Knows {name}.\nmetadata:\n  version: {version}\n---\n\nRead it.\n"
    )


def create_project(runner: PageRunner) -> None:
    """Create a repository that is one commit ahead of its origin, and make it the working directory."""
    origin = make_repository(runner.home / "origin", {"README.md": "Basket\n"})
    runner.folder = runner.home / "projects/basket"
    runner.folder.parent.mkdir()
    origin.git("clone", "--quiet", str(origin.path), str(runner.folder))
    Repository(runner.folder).commit(CART, "Add up what is in the basket")


def create_project_with_change(runner: PageRunner) -> None:
    create_project(runner)
    write(runner.folder, {"app/count.py": "def count(visits):\n    return len(visits)\n"})
    test = CART["tests/test_cart.py"].replace("app.cart import total", "app.count import count")
    write(runner.folder, {"tests/test_count.py": test.replace("total([1, 2]), 3", "count([1, 2]), 2")})


def create_broken_calculator(runner: PageRunner) -> None:
    run_commands(runner, "forge models demo")
    write(runner.home / "code/basket", {"calc.py": "def add(a, b):\n    return a - b\n"})
    write(runner.folder, {"task.md": "Please fix calc.py.\n"})


def edit_soul(runner: PageRunner) -> None:
    soul = runner.data_dir / "bots/atlas/SOUL.md"
    soul.write_text(soul.read_text() + "\nIt likes trains.\n")


def break_identity(runner: PageRunner) -> None:
    identity = runner.data_dir / "bots/atlas/IDENTITY.md"
    identity.write_text(identity.read_text().replace("temperature: 0.3", "temperature: warm"))


def repair_identity(runner: PageRunner) -> None:
    identity = runner.data_dir / "bots/atlas/IDENTITY.md"
    identity.write_text(identity.read_text().replace("temperature: warm", "temperature: 0.3"))
    edit_soul(runner)


def copy_atlas(runner: PageRunner) -> None:
    shutil.copytree(runner.data_dir / "bots/atlas", runner.home / "bots/atlas")


def create_unfinished_draft(runner: PageRunner) -> None:
    """Start an interview and leave it after one answer."""
    runner.run_command('forge new "a bot that is not finished"', "1\n")


def write_soul_example(runner: PageRunner) -> None:
    create_bots("Atlas")(runner)
    run_commands(runner, "forge models demo --off")
    soul = next(
        block.text for block in Page(ROOT / "docs/reference/bot-files.md").blocks if "tone:" in block.text
    )
    write(runner.folder, {"SOUL.md": soul})


def create_skill_sources(runner: PageRunner) -> None:
    """Create skills in the library, in a folder, in a repository and in a registry."""
    create_bots("Atlas")(runner)
    write(runner.data_dir / "skills/weather", WEATHER)
    write(runner.data_dir / "skills/frost-dates", {"SKILL.md": skill_md("frost-dates", "0.1.0")})
    for name in ("pdf", "my-skill"):
        write(runner.folder / name, {"SKILL.md": skill_md(name)})
    names = ("docx", "pdf", "sheets")
    files = {f"skills/{name}/SKILL.md": skill_md(name) for name in names}
    make_repository(runner.home / "registry/skills", files).git("tag", "v1")
    write_registry(
        runner.home / "registry", {"letters": {"SKILL.md": skill_md("letters")}, "weather": WEATHER}
    )


def write_registry(registry: Path, files: Mapping[str, Mapping[str, str]]) -> None:
    """Write skills and their index."""
    entries: list[dict[str, str]] = []
    for name, contents in files.items():
        write(registry / name, contents)
        archive = pack(read_folder(registry / name).files, below=name)
        (registry / f"{name}.zip").write_bytes(archive)
        entry = {"name": name, "version": "1.0.0", "description": f"Knows {name}.", "kind": "prompt"}
        entries.append({**entry, "url": f"{name}.zip", "sha256": hashlib.sha256(archive).hexdigest()})
    write(registry, {"skills.json": json.dumps({"forge_registry": 1, "name": "acme", "skills": entries})})


def write_script_example(runner: PageRunner) -> None:
    page = Page(ROOT / "docs/guides/scripted-models.md")
    script = next(block.text for block in page.blocks if block.kind == "yaml")
    write(runner.folder, {"my-script.yaml": script})


def fill_shop(runner: PageRunner) -> None:
    shop = next((runner.data_dir / "workspaces").glob("*/tree"))
    write(shop, {"src/app.py": "def first_handler():\n    return 1\n"})


def create_workspace(runner: PageRunner) -> None:
    create_bots("Atlas")(runner)
    write(runner.home / "projects/shop", {"shop.py": "prices = []\n"})
    run_commands(runner, f"forge workspaces create shop --path {runner.home}/projects/shop")


def install_check(runner: PageRunner) -> None:
    """Install the check of the guide as an installer would, with its metadata and entry point."""
    create_project(runner)
    page = Page(ROOT / "docs/guides/write-a-check.md")
    code = next(block.text for block in page.blocks if block.kind == "python")
    metadata = "Metadata-Version: 2.1\nName: house-checks\nVersion: 1\n"
    entry_points = "[forge.checks]\nbreakpoints = house_checks:CHECK\n"
    site_packages, info = runner.home / "site", "house_checks-1.dist-info"
    write(
        site_packages,
        {"house_checks.py": code, f"{info}/METADATA": metadata, f"{info}/entry_points.txt": entry_points},
    )
    write(runner.folder, {"app/debug.py": "# breakpoint()\n\ndef f():\n    breakpoint()\n"})
    runner.environment["PYTHONPATH"] = f"{site_packages}:{runner.environment.get('PYTHONPATH', '')}"


def start_run(runner: PageRunner) -> None:
    run_commands(runner, "forge runs start self_test")


def add_webhook(runner: PageRunner) -> None:
    """Add the webhook trigger of the guide to the workflow."""
    page = Page(ROOT / "docs/guides/workflows.md")
    triggers = next(block.text for block in page.blocks if block.text.startswith("triggers:"))
    webhook = re.search(r"  - type: webhook\n(    .*\n)+", triggers)
    assert webhook
    with (runner.folder / "morning.yaml").open("a") as file:
        file.write(f"triggers:\n{webhook[0]}")


def serve_github(runner: PageRunner) -> None:
    """Restart Forge with a GitHub double, and write a token of its user to a file."""
    double = runner.resources.enter_context(open_github())
    (runner.folder / "token.txt").write_text(double.add_token("octo", scopes=["repo", "read:org"]).value)
    runner.server.stop()
    runner.server = Server(runner.data_dir, HOME=str(runner.home), FORGE_GITHUB_URL=double.url)
    runner.server.start()
