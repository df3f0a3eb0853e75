"""Compare A9 with deptry on a project for every situation in deptry's own fixtures.

deptry asks installed packages for their modules; here nothing is installed, as after a clone. Each difference is
documented with its reason in docs/reference/dependencies.md.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from forge.audits.checks.a9_dependencies import CHECK
from forge.audits.memory import snapshot_of

RUN = """
import contextlib, io, json, os, sys
from importlib import metadata
import deptry.cli

@classmethod
def nothing_is_installed(cls, name):
    raise metadata.PackageNotFoundError(name)

metadata.Distribution.from_name = nothing_is_installed
for folder, arguments in json.load(sys.stdin):
    os.chdir(folder)
    with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
        deptry.cli.cli.main([*arguments, "--json-output", "deptry-said.json"])
"""
RULES = {"DEP001": "undeclared", "DEP003": "undeclared", "DEP004": "dev-dependency"}
MAIN = "import os\nfrom pathlib import Path\n\nimport black\nimport click\nimport white as w\nfrom urllib3 import contrib\n"


@dataclass(frozen=True)
class Project:
    name: str
    files: dict[str, str]
    arguments: tuple[str, ...] = (".",)
    deptry_only: tuple[str, ...] = ()
    """Findings that only deptry reports, as `rule module`."""
    forge_only: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    """Files that git ignores: present in the folder but not in the snapshot."""


def project(dependencies: str, more: str = "") -> str:
    return f'[project]\nname = "foo"\nversion = "1"\ndependencies = [{dependencies}]\n{more}'


PROJECTS = [
    Project(
        "standard tables",
        {
            "pyproject.toml": project(
                '"arrow==1", "click", "urllib3"',
                '[project.optional-dependencies]\ndev = ["black"]\nplot = ["matplotlib"]\n'
                '[dependency-groups]\nfoo = ["certifi"]\nbar = ["idna"]\nall = [{include-group = "foo"}, "packaging"]\n'
                '[tool.deptry]\nnon_dev_dependency_groups = ["bar"]\noptional_dependencies_dev_groups = ["dev"]\n',
            ),
            "src/main.py": MAIN + "import certifi, idna, packaging, matplotlib\n",
        },
    ),
    Project(
        "PDM",
        {
            "pyproject.toml": project(
                '"urllib3"',
                '[project.optional-dependencies]\nbaz = ["click"]\n[tool.pdm.dev-dependencies]\nlint = ["black"]\n'
                'test = ["pytest", "pytest-cov"]\n',
            ),
            "src/main.py": MAIN + "import pytest, pytest_cov\n",
        },
    ),
    Project(
        "Poetry",
        {
            "pyproject.toml": '[tool.poetry]\nname = "foo"\nversion = "1"\n[tool.poetry.dependencies]\npython = ">=3.10"\n'
            'urllib3 = "2"\nclick = {version = "8", optional = true}\n[tool.poetry.extras]\nfoo = ["click"]\n'
            '[tool.poetry.group.lint.dependencies]\nblack = "25"\n[tool.poetry.dev-dependencies]\npytest = "8"\n',
            "src/main.py": MAIN + "import pytest\n",
        },
    ),
    Project(
        "Poetry with standard tables",
        {
            "pyproject.toml": project(
                '"requests"',
                '[tool.poetry.dependencies]\nrequests = {version = "2"}\n[project.optional-dependencies]\nfoo = ["click"]\n'
                'bar = ["urllib3"]\n[tool.poetry.group.test.dependencies]\nblack = "25"\n',
            ),
            "src/main.py": MAIN + "import requests\n",
        },
    ),
    Project(
        "uv",
        {
            "pyproject.toml": project('"urllib3", "click"', '[tool.uv]\ndev-dependencies = ["black"]\n'),
            "src/main.py": MAIN,
        },
    ),
    Project(
        "requirement files",
        {
            "requirements.txt": "-r requirements-from-other.txt\nclick==8\n",
            "requirements-from-other.txt": "isort\n",
            "requirements-2.txt": "urllib3==2\n",
            "requirements-dev.txt": "black==26\n",
            "src/main.py": MAIN + "import isort\n",
        },
        (".", "--requirements-files", "requirements.txt,requirements-2.txt"),
    ),
    Project(
        "requirements.in and its result",
        {
            "requirements.in": "click\nurllib3\n",
            "requirements.txt": "click==8\ncertifi==1  # via urllib3\nurllib3==2\n",
            "requirements-dev.txt": "black\n",
            "src/main.py": MAIN + "import certifi\n",
        },
        (".", "--requirements-files", "requirements.in"),
        deptry_only=("undeclared certifi",),
    ),
    Project(
        "dynamic dependencies of setuptools",
        {
            "pyproject.toml": '[project]\nname = "foo"\nversion = "1"\ndynamic = ["dependencies", "optional-dependencies"]\n'
            '[tool.setuptools.dynamic]\ndependencies = {file = ["a.txt", "b.txt"]}\n'
            '[tool.setuptools.dynamic.optional-dependencies]\ncli = {file = "cli.txt"}\ndev = {file = ["dev.txt"]}\n'
            '[tool.deptry]\noptional_dependencies_dev_groups = ["dev"]\n'
            '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n',
            "a.txt": "arrow\n",
            "b.txt": "urllib3\n",
            "cli.txt": "click\n",
            "dev.txt": "black\n",
            "src/main.py": MAIN,
        },
    ),
    Project(
        "a package below src",
        {
            "pyproject.toml": project('"click", "urllib3"', '[project.optional-dependencies]\ndev = ["black"]\n'),
            "src/foo/__init__.py": "",
            "src/foo/a.py": MAIN,
            "src/foo/b.py": "from foo.a import x\nimport foo\n",
            "src/top.py": "",
            "src/other.py": "import top\n",
        },
        ("src",),
        forge_only=("dev-dependency black",),
    ),
    Project(
        "a namespace package",
        {
            "pyproject.toml": project(
                "",
                '[project.optional-dependencies]\ndev = ["flake8"]\n[tool.deptry]\noptional_dependencies_dev_groups = ["dev"]\n',
            ),
            "foo/api/http.py": "",
            "foo/database/bar.py": "import flake8\nimport white\nfrom foo import api\nimport foo.api.http\n",
        },
        (".", "--experimental-namespace-package"),
    ),
    Project(
        "several folders of sources",
        {
            "pyproject.toml": project('"arrow"'),
            "src/__init__.py": "",
            "src/foo.py": "import httpx\nfrom foobar import x\n",
            "src/foobar.py": "",
            "worker/__init__.py": "",
            "worker/foo.py": "import celery\nfrom foobaz import x\n",
            "worker/foobaz.py": "",
        },
        ("src", "worker"),
    ),
    Project(
        "the manifest in another folder",
        {
            "a_sub_directory/pyproject.toml": project('"click", "urllib3"', '[dependency-groups]\ndev = ["black"]\n'),
            "src/pkg/__init__.py": "",
            "src/pkg/a.py": MAIN,
            "src/pkg/b.py": "from pkg.a import x\n",
        },
        ("src", "--config", "a_sub_directory/pyproject.toml"),
    ),
    Project(
        "files that git ignores",
        {
            ".git/HEAD": "ref: refs/heads/main",
            ".gitignore": "/build\nfoobar.py\n/src/barfoo.py\n",
            "pyproject.toml": project('"click"'),
            "src/foo.py": "import click\nimport isort\n",
            "src/foobar.py": "import mypy\n",
            "src/barfoo.py": "import hello\n",
        },
        ignored=("src/foobar.py", "src/barfoo.py", ".git/HEAD"),
    ),
    Project(
        "comments that say to leave it",
        {
            "pyproject.toml": project(
                '"click"',
                '[project.optional-dependencies]\ndev = ["black"]\n[tool.deptry]\noptional_dependencies_dev_groups = ["dev"]\n',
            ),
            "src/main.py": "import black  # deptry: ignore[DEP004]\nimport click\nimport white  # deptry: ignore[DEP001]\n"
            "import gray  # deptry: ignore[DEP003]\nimport orange  # noqa: F401  # deptry: ignore[DEP001]\n"
            "import red  # deptry: ignore\nimport blue  # deptry: ignore[DEP004]\n",
        },
        deptry_only=("undeclared gray",),
    ),
    Project(
        "settings of deptry",
        {
            "pyproject.toml": project(
                '"foo-bar"',
                '[tool.deptry]\nknown_first_party = ["made"]\n[tool.deptry.per_rule_ignores]\nDEP001 = ["toml"]\n'
                '[tool.deptry.package_module_name_map]\nfoo-bar = "quux"\n',
            ),
            "src/main.py": "import toml\nimport made\nimport quux\nimport white\n",
        },
    ),
    Project(
        "old settings of deptry",
        {
            "pyproject.toml": project(
                "",
                '[project.optional-dependencies]\ndev = ["black"]\n[tool.deptry]\npep621_dev_dependency_groups = ["dev"]\n',
            ),
            "src/main.py": "import black\n",
        },
    ),
    Project(
        "all kinds of imports",
        {
            "pyproject.toml": project('"numpy", "pandas"'),
            "src/main.py": "import typing\nimport typing as t\nfrom typing import TYPE_CHECKING\nimport importlib\n"
            "from importlib import import_module as im\nimport numpy as np, pandas\nfrom numpy.random import sample\n"
            "from . import foo\nx = 1\nif x:\n    import httpx\nelif x:\n    from baz import Bar\nelse:\n    import foobar\n"
            "if TYPE_CHECKING:\n    import mypy_boto3_s3\nif t.TYPE_CHECKING:\n    import mypy_boto3_sagemaker\n"
            "try:\n    import click\nexcept ImportError:\n    import not_click\n"
            "def f():\n    import module_in_func\nclass C:\n    def g(self):\n        import module_in_class\n"
            "importlib.import_module('polars')\nim('uvicorn')\nim('http.server')\n",
        },
        deptry_only=("undeclared click", "undeclared not_click"),
    ),
    Project(
        "names that differ from the package's",
        {
            "pyproject.toml": project('"opencv-python", "PyYAML", "psycopg2-binary", "google-cloud-storage", "Flask_Login"'),
            "src/main.py": "import cv2, yaml, psycopg2, flask_login\nfrom google.cloud import storage\nimport requests\n",
        },
        deptry_only=("undeclared cv2", "undeclared google", "undeclared psycopg2", "undeclared yaml"),
    ),
    Project(
        "a declared look-alike",
        {"pyproject.toml": project('"requests-mock", "types-requests"'), "src/main.py": "import requests\n"},
        deptry_only=(),
    ),
    Project(
        "a script with its own requirements",
        {
            "pyproject.toml": project('"click"'),
            "src/tool.py": '# /// script\n# dependencies = ["rich"]\n# ///\nimport rich\nimport white\n',
        },
        deptry_only=("undeclared rich",),
    ),
    Project(
        "a notebook",
        {
            "pyproject.toml": project('"click"'),
            "src/main.py": "import click\n",
            "src/book.ipynb": json.dumps(
                {"cells": [{"cell_type": "code", "source": ["import white\n"], "metadata": {}, "outputs": []}], "nbformat": 4}
            ),
        },
        deptry_only=("undeclared white",),
    ),
    Project(
        "a package of a workspace that another one imports",
        {
            "pyproject.toml": project('"click"', '[tool.uv.workspace]\nmembers = ["packages/*"]\n'),
            "packages/bar/pyproject.toml": project('"httpx"').replace("foo", "bar"),
            "packages/bar/src/bar/__init__.py": "import httpx\nimport white\n",
            "foo/__init__.py": "import click\nimport bar\n",
        },
        deptry_only=("undeclared bar", "undeclared httpx"),
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Run deptry for all projects in one process, and return its findings."""
    top = tmp_path_factory.mktemp("deptry")
    folders: dict[str, Path] = {}
    for number, one in enumerate(PROJECTS):
        folders[one.name] = top / str(number)
        for path, text in one.files.items():
            (folders[one.name] / path).parent.mkdir(parents=True, exist_ok=True)
            (folders[one.name] / path).write_text(text)
    given = json.dumps([(str(folders[one.name]), one.arguments) for one in PROJECTS])
    done = subprocess.run(
        [sys.executable, "-c", RUN], input=given, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return {name: _said(folder / "deptry-said.json") for name, folder in folders.items()}


def _said(path: Path) -> set[str]:
    issues = json.loads(path.read_text())
    return {
        f"{RULES[issue['error']['code']]} {issue['module']}"
        for issue in issues
        if issue["error"]["code"] in RULES
    }


@pytest.mark.parametrize("one", PROJECTS, ids=lambda one: one.name)
def test_findings_differ_from_deptry_only_as_documented(one: Project, told: dict[str, set[str]]):
    files = {path: text for path, text in one.files.items() if path not in one.ignored}
    ours = {
        f"{found.rule} {found.subject}"
        for found in CHECK.examine(snapshot_of(files)).found
        if found.rule in ("undeclared", "dev-dependency")
    }
    theirs = told[one.name]
    assert (sorted(theirs - ours), sorted(ours - theirs)) == (sorted(one.deptry_only), sorted(one.forge_only))
