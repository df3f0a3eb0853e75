"""The picture, the tree and the list of layers in docs/architecture.md name every package."""

import re
import tomllib
from xml.etree import ElementTree

from tests.support.pages import ROOT, Page

PAGE = Page(ROOT / "docs/architecture.md")
SOURCE = ROOT / "src/forge"
PACKAGES = {path.parent.name for path in SOURCE.glob("*/__init__.py")} | {"cli", "app", "config", "errors"}
TREE, LAYERS = (block.text for block in PAGE.blocks if block.kind == "text")


def test_picture_contains_every_package():
    picture = ElementTree.parse(ROOT / "docs/pictures/layers.svg")
    named = {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert named >= PACKAGES
    assert {name for name in named if name and re.fullmatch(r"[a-z]+", name)} == PACKAGES


def test_tree_contains_every_package():
    entries = re.findall(r"^  (\S.*?)(?:  |$)", TREE, re.MULTILINE)
    assert {name.removesuffix(".py").rstrip("/") for line in entries for name in line.split()} == PACKAGES


def test_layers_match_the_import_contract():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if "kernel" in contract.get("layers", ())]
    documented = [sorted(line.split(" · ")) for line in LAYERS.splitlines()]
    assert documented == [sorted(line.split(" | ")) for line in layers]
