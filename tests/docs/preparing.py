"""What the pages of the documentation take for granted: projects, skills, bots that are already there."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.support.page_reader import Reader
from tests.support.pages import ROOT, Page
from tests.support.repositories import Repository, make_repository

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


def do(reader: Reader, *commands: str) -> None:
    for command in commands:
        said = reader.type(command)
        assert said.code == 0, f"{command}\n{said.out}{said.err}"


def with_bots(*names: str) -> Callable[[Reader], None]:
    """Who answer from a script."""

    def prepare(reader: Reader) -> None:
        do(reader, "forge models demo", *(f"forge bots create {name}" for name in names))

    return prepare


def newest(path: str) -> Callable[[Reader], str]:
    """The id of the first thing of a list."""
    return lambda reader: reader.server.call("GET", f"/api/v1{path}")[0]["id"]


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def instructions(name: str, version: str = "1.0.0") -> str:
    return (
        f"---\nname: {name}\ndescription: Knows {name}.\nmetadata:\n  version: {version}\n---\n\nRead it.\n"
    )


def in_a_project(reader: Reader) -> None:
    """A repository that is one commit ahead of its origin, with a change that is not committed."""
    origin = make_repository(reader.home / "origin", {"README.md": "Basket\n"})
    reader.folder = reader.home / "projects/basket"
    reader.folder.parent.mkdir()
    origin.git("clone", "--quiet", str(origin.path), str(reader.folder))
    Repository(reader.folder).commit(CART, "Add up what is in the basket")


def with_a_change(reader: Reader) -> None:
    in_a_project(reader)
    write(reader.folder, {"app/count.py": "def count(visits):\n    return len(visits)\n"})
    test = CART["tests/test_cart.py"].replace("app.cart import total", "app.count import count")
    write(reader.folder, {"tests/test_count.py": test.replace("total([1, 2]), 3", "count([1, 2]), 2")})


def with_a_broken_calculator(reader: Reader) -> None:
    do(reader, "forge models demo")
    write(reader.home / "code/basket", {"calc.py": "def add(a, b):\n    return a - b\n"})
    write(reader.folder, {"task.md": "Please fix calc.py.\n"})


def edit_soul(reader: Reader) -> None:
    soul = reader.data_dir / "bots/atlas/SOUL.md"
    soul.write_text(soul.read_text() + "\nIt likes trains.\n")


def break_identity(reader: Reader) -> None:
    identity = reader.data_dir / "bots/atlas/IDENTITY.md"
    identity.write_text(identity.read_text().replace("temperature: 0.3", "temperature: warm"))


def mend_identity(reader: Reader) -> None:
    identity = reader.data_dir / "bots/atlas/IDENTITY.md"
    identity.write_text(identity.read_text().replace("temperature: warm", "temperature: 0.3"))
    edit_soul(reader)


def keep_a_copy_of_atlas(reader: Reader) -> None:
    shutil.copytree(reader.data_dir / "bots/atlas", reader.home / "bots/atlas")


def begin_a_draft(reader: Reader) -> None:
    """And leave in the middle of it."""
    reader.type('forge new "a bot that is not finished"', "1\n")


def with_a_soul(reader: Reader) -> None:
    with_bots("Atlas")(reader)
    do(reader, "forge models demo --off")
    soul = next(
        block.text for block in Page(ROOT / "docs/reference/bot-files.md").blocks if "tone:" in block.text
    )
    write(reader.folder, {"SOUL.md": soul})


def with_skills_around(reader: Reader) -> None:
    """In the library, in a folder, in a repository and in a registry."""
    with_bots("Atlas")(reader)
    write(reader.data_dir / "skills/weather", WEATHER)
    write(reader.data_dir / "skills/frost-dates", {"SKILL.md": instructions("frost-dates", "0.1.0")})
    for name in ("pdf", "my-skill"):
        write(reader.folder / name, {"SKILL.md": instructions(name)})
    names = ("docx", "pdf", "sheets")
    files = {f"skills/{name}/SKILL.md": instructions(name) for name in names}
    make_repository(reader.home / "shelf/skills", files).git("tag", "v1")
    offer(reader.home / "shelf", {"letters": {"SKILL.md": instructions("letters")}, "weather": WEATHER})


def offer(shelf: Path, files: Mapping[str, Mapping[str, str]]) -> None:
    """An index of skills, and the skills."""
    offers: list[dict[str, str]] = []
    for name, some in files.items():
        write(shelf / name, some)
        zipped = pack(read_folder(shelf / name).files, below=name)
        (shelf / f"{name}.zip").write_bytes(zipped)
        known = {"name": name, "version": "1.0.0", "description": f"Knows {name}.", "kind": "prompt"}
        offers.append({**known, "url": f"{name}.zip", "sha256": hashlib.sha256(zipped).hexdigest()})
    write(shelf, {"skills.json": json.dumps({"forge_registry": 1, "name": "acme", "skills": offers})})


def with_a_script(reader: Reader) -> None:
    page = Page(ROOT / "docs/guides/scripted-models.md")
    script = next(block.text for block in page.blocks if block.kind == "yaml")
    write(reader.folder, {"my-script.yaml": script})


def fill_shop(reader: Reader) -> None:
    shop = next((reader.data_dir / "workspaces").glob("*/tree"))
    write(shop, {"src/app.py": "def first_handler():\n    return 1\n"})


def with_projects(reader: Reader) -> None:
    with_bots("Atlas")(reader)
    write(reader.home / "projects/shop", {"shop.py": "prices = []\n"})
    do(reader, f"forge workspaces create shop --path {reader.home}/projects/shop")


def with_the_check_installed(reader: Reader) -> None:
    """As an installer would: the file of the guide, and what says where it is."""
    in_a_project(reader)
    page = Page(ROOT / "docs/guides/write-a-check.md")
    code = next(block.text for block in page.blocks if block.kind == "python")
    about = "Metadata-Version: 2.1\nName: house-checks\nVersion: 1\n"
    points = "[forge.checks]\nbreakpoints = house_checks:CHECK\n"
    site, info = reader.home / "site", "house_checks-1.dist-info"
    write(site, {"house_checks.py": code, f"{info}/METADATA": about, f"{info}/entry_points.txt": points})
    write(reader.folder, {"app/debug.py": "# breakpoint()\n\ndef f():\n    breakpoint()\n"})
    reader.environment["PYTHONPATH"] = f"{site}:{reader.environment.get('PYTHONPATH', '')}"


def begin_a_run(reader: Reader) -> None:
    do(reader, "forge runs start self_test")


def add_the_webhook(reader: Reader) -> None:
    """The second of the triggers that the guide shows."""
    page = Page(ROOT / "docs/guides/workflows.md")
    triggers = next(block.text for block in page.blocks if block.text.startswith("triggers:"))
    webhook = re.search(r"  - type: webhook\n(    .*\n)+", triggers)
    assert webhook
    with (reader.folder / "morning.yaml").open("a") as file:
        file.write(f"triggers:\n{webhook[0]}")
