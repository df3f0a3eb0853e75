"""Labeled cases of A9: small projects and the exact findings. Each is a mistake that occurred in practice."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from forge.audits.checks.a9_dependencies import CHECK
from forge.audits.engine.check_runner import verdict_of
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity

REQUESTS = {"requirements.txt": "requests\n"}
NONE = {"requirements.txt": ""}


@dataclass(frozen=True)
class Case:
    name: str
    files: Mapping[str, str | bytes]
    found: tuple[str, ...] = ()
    """Return findings that fail or warn as `path:line subject`; empty means PASS."""
    rule: str = "undeclared"


def python(
    name: str, code: str, manifest: Mapping[str, str | bytes], *found: str, rule: str = "undeclared"
) -> Case:
    return Case(name, {"app.py": code, **manifest}, tuple(f"app.py:{one}" for one in found), rule)


def requirements(name: str, code: str, text: str, *found: str, rule: str = "undeclared") -> Case:
    return python(name, code, {"requirements.txt": text}, *found, rule=rule)


def pyproject(name: str, code: str, text: str, *found: str, rule: str = "undeclared") -> Case:
    return python(name, code, {"pyproject.toml": text}, *found, rule=rule)


def script(
    name: str, code: str, package: str = "{}", *found: str, more: dict[str, str] | None = None
) -> Case:
    files: dict[str, str | bytes] = {"src/a.ts": code, "package.json": package, **(more or {})}
    return Case(name, files, tuple(f"src/a.ts:{one}" for one in found))


SPEC = [
    python("several modules of the standard library in one line", "import os, sys\n", NONE),
    python("the future", "from __future__ import annotations\n", NONE),
    python("prose that begins with from", '"""Rows\nfrom the database.\n"""\nimport os\n', NONE),
    requirements("a look-alike is not the package", "import requests\n", "requests-mock\n", "1 requests"),
    python("an indented import", "def f():\n    import requests\n", NONE, "2 requests"),
    Case("a sibling module", {**NONE, "app.py": "import helpers\n", "helpers.py": ""}),
    requirements("a module below a shared name", "import google.protobuf\n", "protobuf\n"),
    script("an undeclared import of TypeScript", 'import pad from "left-pad";\n', "{}", "1 left-pad"),
]

PYTHON = [
    requirements("names are compared by PEP 503", "import flask_sqlalchemy\n", "Flask_SQLAlchemy==3\n"),
    requirements("another capital", "import PIL\n", "Pillow>=10\n"),
    requirements("a well-known other name", "import yaml, bs4, cv2\n", "PyYAML\nbeautifulsoup4\nopencv-python-headless\n"),
    requirements("names of Windows", "import servicemanager, win32ts, isapi, adodbapi, win32evtlog\n", "pywin32\n"),
    requirements("names of macOS", "import AppKit, Foundation, objc\nfrom Quartz import CGImage\n", "pyobjc\n"),
    requirements("one framework of macOS", "import AppKit, Quartz\n", "pyobjc-framework-Cocoa\n", "1 Quartz"),
    requirements("names of a directory", "import ldap, ldif, ldapurl, slapdtest\n", "python-ldap\n"),
    requirements("names of science", "import pywt, shapefile, qiskit, stl_x\n", "PyWavelets\npyshp\nqiskit-terra\nstl-x\n"),
    requirements("names of vendors", "import appium, office365.runtime, delta, impala\n", "Appium-Python-Client\nOffice365-REST-Python-Client\ndelta-spark\nimpyla\n"),
    requirements("names of vendors, none of them declared", "import appium, delta\n", "pyspark\n", "1 appium", "1 delta"),
    requirements("the compiler of a checker", "import mypyc.build\n", "mypy\n"),
    requirements("a comment declares nothing", "import requests\n", "# requests\nflask  # not requests\n", "1 requests"),
    requirements("a part of a name is not a name", "import aio\n", "aiohttp\n", "1 aio"),
    requirements("a binary variant", "import psycopg2\n", "psycopg2-binary\n"),
    requirements("a declared django-redis is not redis", "import redis\n", "django-redis\n", "1 redis"),
    requirements("a plugin is not its host", "import flask\n", "flask-cors\n", "1 flask"),
    requirements("python- before an unknown name", "import frobnicate\n", "python-frobnicate\n"),
    requirements("py before an unknown name", "import frobnicate\n", "pyfrobnicate\n"),
    requirements("-py behind an unknown name", "import frobnicate\n", "frobnicate-py\n"),
    requirements("no guess for a known name", "import redis\n", "pyredis\n", "1 redis"),
    requirements("extras and markers", "import requests\n", "requests[socks]>=2 ; python_version >= '3.8'\n"),
    requirements("hashes over several lines", "import requests\n", "requests==2 \\\n  --hash=sha256:aa \\\n  --hash=sha256:bb\n"),
    requirements("a repository with an egg", "import shop_client\n", "git+https://host/x.git@v1#egg=shop-client\n"),
    requirements("a repository without one", "import shopclient\n", "git+ssh://git@host/team/shopclient.git\n"),
    requirements("a direct reference", "import shop\n", "shop @ https://host/shop-1.0.zip\n"),
    requirements("a wheel in a folder", "import shop\n", "./wheels/shop-1.0-py3-none-any.whl\n"),
    requirements("options are no packages", "import extra\n", "--extra-index-url https://x/extra\n-i https://y\n", "1 extra"),
    python("an included file", "import requests\n", {"requirements.txt": "-r more/base.txt\n", "more/base.txt": "requests\n"}),
    python(
        "files that include each other",
        "import requests, flask\n",
        {"requirements.txt": "-r a.txt\n", "a.txt": "-r b.txt\nflask\n", "b.txt": "-r a.txt\n"},
        "1 requests",
    ),
    python("constraints declare nothing", "import requests\n", {"requirements.txt": "-c constraints.txt\n", "constraints.txt": "requests==2\n"}, "1 requests"),
    python("an include that leaves the project", "import requests\n", {"requirements.txt": "-r ../../etc/passwd\n"}, "1 requests"),
    python("a file of PowerShell", "import requests\n", {"requirements.txt": "requests==2\r\n".encode("utf-16")}),
    python("requirements.in beside its result", "import requests\n", {"requirements.in": "requests\n", "requirements.txt": "urllib3\n"}),
    python("a folder of requirements", "import requests\n", {"requirements/base.txt": "requests\n"}),
    requirements("an optional import", "try:\n    import ujson\nexcept ImportError:\n    ujson = None\n", ""),
    requirements("the way out of an optional import", "try:\n    import tomllib\nexcept ImportError:\n    import tomli as tomllib\n", ""),
    requirements(
        "used where it is known to be there",
        "try:\n    import simplejson\nexcept ImportError:\n    simplejson = None\nif simplejson:\n    from simplejson import loads\n",
        "",
    ),
    requirements("optional here does not help there", "import os\nimport ujson\n", "", "2 ujson"),
    requirements("suppressed", "from contextlib import suppress\nwith suppress(ImportError):\n    import ujson\n", ""),
    requirements("another error is caught", "try:\n    import ujson\nexcept ValueError:\n    pass\n", "", "2 ujson"),
    requirements("for type checkers only", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas\n", ""),
    requirements("an alias", "import requests as r, flask as f\n", "requests\n", "1 flask"),
    requirements("in parentheses", "from flask import (\n    Flask,\n    request,\n)\n", "", "1 flask"),
    requirements("in a class", "class A:\n    from attr import s\n", "", "2 attr"),
    requirements("behind a semicolon", "import os; import requests\n", "", "1 requests"),
    requirements("after a backslash", "from os import path; \\\nimport requests\n", "", "2 requests"),
    requirements("in a string", 'CODE = """\nimport requests\n"""\n', ""),
    requirements("in a comment", "# import requests\n", ""),
    requirements("by importlib", "import importlib\nimportlib.import_module('requests.adapters')\n", "", "2 requests"),
    requirements("by __import__", "__import__('requests')\n", "", "1 requests"),
    requirements("by a name nobody knows before", "import importlib, sys\nimportlib.import_module(sys.argv[1])\n", ""),
    requirements("a module that has left the standard library", "import imp, distutils, asyncore, cgi\n", ""),
    requirements("a module that has come to it", "import tomllib, zoneinfo\nimport annotationlib\n", ""),
    requirements("a module of Python 2", "import urllib2, ConfigParser\n", ""),
    requirements("cloud packages one by one", "from google.cloud import storage, bigquery\n", "google-cloud-storage\n", "1 google.cloud.bigquery"),
    requirements("a cloud package with a version", "from google.cloud.firestore_v1 import Client\n", "google-cloud-firestore\n"),
    requirements("a cloud package with a dash more", "from google.cloud import secretmanager\n", "google-cloud-secret-manager\n"),
    requirements("a cloud package that is not declared", "import google.auth\n", "google-cloud-storage\n", "1 google.auth"),
    requirements("azure", "from azure.storage.blob import X\nfrom azure.identity import Y\n", "azure-storage-blob\n", "2 azure.identity"),
    requirements("ruamel", "from ruamel.yaml import YAML\n", "ruamel.yaml<1\n"),
    requirements("backports", "import backports.zoneinfo\n", "backports.zoneinfo\n"),
    requirements("telemetry", "from opentelemetry import trace\nfrom opentelemetry.sdk.trace import X\n", "opentelemetry-sdk\n"),
    requirements("a relative import", "from . import x\nfrom .y import z\n", ""),
    requirements("brought along is not declared", "import starlette\n", "fastapi\n", "1 starlette"),
    requirements("once per package, at its first line", "import flask\nfrom flask import g\nimport flask.cli\n", "", "1 flask"),
    Case("an own package", {**NONE, "shop/__init__.py": "", "shop/a.py": "import shop.b\n", "shop/b.py": "", "run.py": "from shop import a\n"}),
    Case("an own package below src", {**NONE, "src/shop/__init__.py": "", "tests/test_a.py": "import shop\n"}),
    Case("an own package without __init__", {**NONE, "src/shop/a.py": "", "src/shop/b.py": "from shop import a\nimport shop.a\n"}),
    Case("a folder of settings is not a package", {**NONE, "alembic/env.py": "from alembic import context\n", "alembic/versions/x.py": ""}, ("alembic/env.py:1 alembic",)),
    Case("own by decree", {**NONE, "forge.json": '{"audit": {"first_party": ["made_pb"]}}', "app.py": "import made_pb.x\n"}),
    Case("a name by decree", {"requirements.txt": "acme-sdk\n", "forge.json": '{"audit": {"import_names": {"rocket": "acme_sdk"}}}', "app.py": "import rocket\n"}),
    Case("a decree that is not declared", {**NONE, "forge.json": '{"audit": {"import_names": {"rocket": "acme_sdk"}}}', "app.py": "import rocket\n"}, ("app.py:1 rocket",)),
    Case("left alone by decree", {**NONE, "forge.json": '{"audit": {"ignore": ["gen/**"]}}', "gen/x.py": "import rocket\n", "app.py": ""}),
    Case("the manifest of another folder", {"a/requirements.txt": "flask\n", "b/requirements.txt": "", "b/app.py": "import flask\n"}, ("b/app.py:1 flask",)),
    Case("the manifest of a folder above", {"pyproject.toml": '[project]\nname="x"\ndependencies=["flask"]\n', "b/requirements.txt": "", "b/app.py": "import flask\n"}),
    Case("a manifest beside the sources", {"deploy/requirements.txt": "flask\n", "src/app.py": "import flask\n"}),
    Case("the manifest forge.json names", {"forge.json": '{"backend": {"dependency_file": "deploy/prod.txt"}}', "deploy/prod.txt": "flask\n", "app.py": "import flask\n"}),
    Case("tests may use what is for development", {"requirements.txt": "", "requirements-dev.txt": "pytest\n", "tests/test_a.py": "import pytest\n"}),
    Case("a test plugin brings its host", {"requirements-dev.txt": "pytest-cov\n", "tests/test_a.py": "import pytest\n"}),
    Case("an undeclared import of a test", {"requirements.txt": "", "tests/test_a.py": "import freezegun\n"}, ("tests/test_a.py:1 freezegun",)),
    Case("a module that a test makes", {**NONE, "tests/test_a.py": "def test(tmp):\n    (tmp / 'made_app.py').touch()\n    import made_app\n"}),
    Case("a module that a test finds by the path", {**NONE, "tests/apps/cli/made_app.py": "", "tests/test_a.py": "import made_app\n"}),
    Case("a folder of tests is no package of the index", {**NONE, "tests/unit/redis/test_x.py": "", "tests/test_a.py": "import redis\n"}, ("tests/test_a.py:1 redis",)),
    Case("a module that is called like what it imports", {**NONE, "shop/__init__.py": "", "shop/celery.py": "from celery import Celery\n"}, ("shop/celery.py:1 celery",)),
    Case("a script beside its module in a package", {**NONE, "shop/__init__.py": "", "shop/run.py": "import priceless\n", "shop/priceless.py": ""}),
    Case("setup.py is built by setuptools", {"setup.py": "from setuptools import setup\nimport pkg_resources\nsetup(name='x')\n"}),
    Case("what builds is not what runs", {"pyproject.toml": '[project]\nname="x"\ndependencies=[]\n[build-system]\nrequires=["setuptools", "cython"]\n', "setup.py": "import Cython\n", "x.py": "import Cython\n"}, ("x.py:1 Cython",)),
    Case("nox is run by nox", {**NONE, "noxfile.py": "import nox\n"}),
    Case("a script with its own requirements", {**NONE, "tools/x.py": '# /// script\n# dependencies = ["rich>=1"]\n# ///\nimport rich\nimport flask\n'}, ("tools/x.py:5 flask",)),
    Case("vendored code", {**NONE, "shop/_vendor/x.py": "import rocket\n", "app.py": ""}),
    Case("what vendored code brings", {**NONE, "shop/__init__.py": "", "shop/_vendor/packaging/tags.py": "", "shop/a.py": "from packaging import tags\nimport lark\n"}, ("shop/a.py:2 lark",)),
    Case("input of tests", {**NONE, "tests/data/case.py": "import rocket\n", "tests/fixtures/project/app.py": "import flask\n", "app.py": ""}),
    Case("fixtures of tests are code", {**NONE, "tests/fixtures/db.py": "import sqlalchemy\n"}, ("tests/fixtures/db.py:1 sqlalchemy",)),
    Case("what tox installs is for tests", {**NONE, "tox.ini": "[testenv]\ndeps =\n    pytest>=8\n    py311: mock\n    -r more.txt\n", "more.txt": "faker\n", "tests/test_a.py": "import pytest, mock, faker\n", "app.py": "import mock\n"}, ("app.py:1 mock",), rule="dev-dependency"),
    Case("a template of code", {**NONE, "{{cookiecutter.name}}/x.py": "import rocket\n", "app.py": ""}),
]  # fmt: skip

OPENSSL = (
    "try:\n    from urllib3.contrib import pyopenssl\nexcept ImportError:\n    pyopenssl = None\nelse:\n"
    "    import OpenSSL\n    import cryptography\n"
)

GUARDS = [
    requirements("behind a module that is always there", "try:\n    import json\nexcept ImportError:\n    pass\nelse:\n    import simplejson\n", "", "6 simplejson"),
    requirements("behind a package that may be missing", OPENSSL, "urllib3\n"),
    requirements("at the end in any case", "try:\n    import ujson\nexcept ImportError:\n    pass\nfinally:\n    import pandas\n", "", "6 pandas"),
    requirements("another part of the same package", "try:\n    from yaml import CLoader as L\nexcept ImportError:\n    from yaml import Loader as L\n", "", "2 yaml"),
    requirements("another part of a declared package", "try:\n    from yaml import CLoader as L\nexcept ImportError:\n    from yaml import Loader as L\n", "pyyaml\n"),
    requirements("another package, then nothing", "try:\n    import ujson as json\nexcept ImportError:\n    try:\n        import orjson as json\n    except ImportError:\n        raise\n", ""),
    requirements("caught and raised again", "try:\n    import pandas\nexcept ImportError:\n    raise\n", "", "2 pandas"),
    requirements("caught and explained", "try:\n    import pandas\nexcept ImportError as e:\n    raise RuntimeError('install pandas') from e\n", "", "2 pandas"),
    requirements("caught and ended", "import sys\ntry:\n    import requests\nexcept ImportError:\n    sys.exit('install requests')\n", "", "3 requests"),
    requirements("a feature that explains itself", "def f():\n    try:\n        import pandas\n    except ImportError as e:\n        raise RuntimeError('install x[pandas]') from e\n", ""),
    requirements("a feature with an extra", "try:\n    import httpx\nexcept ImportError:\n    raise RuntimeError('install httpx')\n", "httpx\n"),
    requirements("a test that is skipped", "import unittest\ntry:\n    import numpy\nexcept ImportError:\n    raise unittest.SkipTest('no numpy')\n", ""),
    requirements("looked for", "import importlib.util\nif importlib.util.find_spec('torch') is not None:\n    import torch\n", ""),
    requirements("looked for before", "from importlib.util import find_spec\nHAS_TORCH = find_spec('torch') is not None\nif HAS_TORCH:\n    import torch.nn\n", ""),
    requirements("something else was looked for", "from importlib.util import find_spec\nif find_spec('torch'):\n    import pandas\n", "", "3 pandas"),
    requirements("looked for and not found", "from importlib.util import find_spec\nif not find_spec('torch'):\n    import torch\n", "", "3 torch"),
]  # fmt: skip

DOUBTS = [
    requirements("a vendor's name for an unknown module", "import frob\n", "Frob-REST-Python-Client\n", "1 frob", rule="unsure"),
    requirements("a vendor's name with a word more", "import frob_kit.x\n", "frob-kit-spark\n", "1 frob_kit", rule="unsure"),
    requirements("a vendor's name that brings something else", "import frob\nimport frob_client\n", "frob-client\n", "1 frob"),
    requirements("a vendor's name that brings something else, if it is there", "import frob\ntry:\n    import frob_client\nexcept ImportError:\n    pass\n", "frob-client\n", "1 frob"),
    Case("a vendor's name that brings something else elsewhere", {"requirements.txt": "frob-client\n", "a.py": "import frob\n", "b.py": "import frob_client\n"}, ("a.py:1 frob",)),
    requirements("a companion is no doubt", "import frob\n", "frob-stubs\nfrob-mock\npytest-frob\n", "1 frob"),
    requirements("the word is not the first", "import frob\n", "acme-frob-client\n", "1 frob"),
    requirements("the word is a part of another", "import frob\n", "frobber-client\n", "1 frob"),
    requirements("no doubt about a known module", "import requests, flask\n", "requests-mock\nrequests-rest-client\nflask-python-client\n", "1 flask", "1 requests"),
    requirements("no doubt about a part of a shared name", "from google.cloud import bigquery\n", "google-cloud-bigquery-storage\n", "1 google.cloud.bigquery"),
    requirements("the tests of Python itself", "from test.support import captured_stdout\nimport test.support.os_helper\n", ""),
]  # fmt: skip

MANIFESTS = [
    pyproject("project.dependencies", "import requests\n", '[project]\nname="x"\ndependencies=["requests (>=2)"]\n'),
    pyproject("an extra for users", "import rich\n", '[project]\nname="x"\n[project.optional-dependencies]\ncolor=["rich"]\n'),
    pyproject("an extra for developers", "import rich\n", '[project]\nname="x"\n[project.optional-dependencies]\ndev=["rich"]\n', "1 rich", rule="dev-dependency"),
    pyproject("a group", "import rich\n", '[project]\nname="x"\n[dependency-groups]\nmore=["rich"]\n', "1 rich", rule="dev-dependency"),
    pyproject("a group of a group", "import rich\n", '[project]\nname="x"\n[dependency-groups]\na=["rich"]\nb=[{include-group="a"}]\n[tool.deptry]\nnon_dev_dependency_groups=["b"]\n'),
    pyproject("Poetry", "import requests, rich\n", '[tool.poetry.dependencies]\npython="^3.9"\nrequests="^2"\nrich={version="1",optional=true}\n'),
    pyproject("a group of Poetry", "import pytest\n", '[tool.poetry]\nname="x"\n[tool.poetry.group.test.dependencies]\npytest="*"\n', "1 pytest", rule="dev-dependency"),
    pyproject("python is no package", "import python\n", '[tool.poetry.dependencies]\npython="^3.9"\n', "1 python"),
    pyproject("PDM", "import rich\n", '[project]\nname="x"\n[tool.pdm.dev-dependencies]\nlint=["rich"]\n', "1 rich", rule="dev-dependency"),
    pyproject("uv", "import rich\n", '[project]\nname="x"\n[tool.uv]\ndev-dependencies=["rich"]\n', "1 rich", rule="dev-dependency"),
    pyproject("Hatch", "import rich\n", '[project]\nname="x"\n[tool.hatch.envs.lint]\ndependencies=["rich"]\n', "1 rich", rule="dev-dependency"),
    pyproject("the project's own name", "import made_of_rust\n", '[project]\nname="made-of-rust"\n'),
    python("dynamic dependencies", "import requests\n", {"pyproject.toml": '[project]\nname="x"\ndynamic=["dependencies"]\n[tool.setuptools.dynamic]\ndependencies={file=["needs.txt"]}\n', "needs.txt": "requests\n"}),
    python("settings of tools are no manifest", "import requests\n", {"pyproject.toml": "[tool.black]\nline-length=99\n", "requirements.txt": "requests\n"}),
    python("setup.cfg", "import requests, rich\n", {"setup.cfg": "[options]\ninstall_requires =\n    requests>=2; python_version>'3'\n[options.extras_require]\ncli = rich\n"}),
    python("setup.py, as it is written", "import requests, rich\n", {"setup.py": "from setuptools import setup\nNEEDS = ['requests>=2']\nsetup(name='y', install_requires=NEEDS + ['rich'])\n"}),
    python("setup.py with extras", "import rich, pytest\n", {"setup.py": "from setuptools import setup\nsetup(install_requires=[], extras_require={'rich': ['rich'], 'test': ['pytest']})\n"}, "1 pytest", rule="dev-dependency"),
    python("setup.py that reads a file", "import requests\n", {"setup.py": "from setuptools import setup\nwith open('reqs/main.txt') as f:\n    need = f.read().splitlines()\nsetup(install_requires=need)\n", "reqs/main.txt": "requests\n"}),
    Case("setup.py that speaks of something else", {"app.py": "import rich\n", "setup.py": "from setuptools import setup\nsetup(install_requires=['flask'], keywords=['rich'])\n"}, ("app.py:1 rich",)),
    python("Pipfile", "import requests, rich\n", {"Pipfile": '[packages]\nrequests = "*"\n[dev-packages]\nrich = "*"\n'}, "1 rich", rule="dev-dependency"),
    python("conda", "import torch, requests, yaml\n", {"environment.yml": "name: x\ndependencies:\n  - python=3.11\n  - pytorch::pytorch>=2\n  - pyyaml=6\n  - pip:\n    - requests\n"}),
    pyproject("deptry's own words", "import toml, foo\nimport bar  # deptry: ignore[DEP001]\n", '[project]\nname="x"\ndependencies=["foo-lib"]\n[tool.deptry.per_rule_ignores]\nDEP001=["toml"]\n[tool.deptry.package_module_name_map]\nfoo-lib="foo"\n'),
]  # fmt: skip

SCRIPTS = [
    script("a scope", 'import x from "@scope/pkg/sub";\n', '{"dependencies": {"@scope/pkg": "1"}}'),
    script("another package of the scope", 'import x from "@scope/other";\n', '{"dependencies": {"@scope/pkg": "1"}}', "1 @scope/other"),
    script("a path into a package", 'import x from "lodash/fp";\n', '{"dependencies": {"lodash": "4"}}'),
    script("lodash.get is not lodash", 'import x from "lodash";\n', '{"dependencies": {"lodash.get": "4"}}', "1 lodash"),
    script("what Node brings", 'import fs from "fs";\nimport "node:test";\nimport p from "fs/promises";\nconst x = require("path");\n'),
    script("a package with the name of a folder of Node's", 'import b from "buffer/";\n', "{}", "1 buffer"),
    script("for development", 'import x from "vite";\n', '{"devDependencies": {"vite": "6"}}'),
    script("of a peer", 'import x from "react";\n', '{"peerDependencies": {"react": "*"}}'),
    script("relative", 'import a from "./a";\nimport b from "../b.js";\nimport "./x.css";\nimport i from "./i.svg?raw";\n'),
    script("addresses and virtual modules", 'import a from "https://esm.sh/x";\nimport b from "virtual:pwa";\nimport c from "bun:test";\nimport d from "npm:chalk@5";\n'),
    script("a loader", 'import x from "!!raw-loader!./x.txt";\nimport y from "raw-loader!left-pad";\n', "{}", "2 left-pad"),
    script("an alias of tsconfig", 'import x from "@app/x";\n', "{}", more={"tsconfig.json": '{"compilerOptions": {"paths": {"@app/*": ["./src/*"]}}} // hi'}),
    script("an alias of a bundler", 'import x from "@components/x";\nimport y from "@/y";\n', "{}", more={"vite.config.ts": "export default { resolve: { alias: { '@components': '/src/c' } } }"}),
    script("an alias of jest", 'import x from "test-utils";\nimport y from "lib/y";\nimport z from "core/z";\nimport "left-pad";\n', '{"jest": {"moduleNameMapper": {"^test-utils$": "<rootDir>/src/tu.js", "^lib/(.*)$": "<rootDir>/src/$1", "^(core|ui)/(.*)$": ["<rootDir>/$1/$2"]}}}', "4 left-pad"),
    script("an alias of jest for one module", 'import x from "test-utils/x";\n', '{"jest": {"moduleNameMapper": {"^test-utils$": "<rootDir>/src/tu.js"}}}', "1 test-utils"),
    script("jest maps a package to a package", 'import x from "uuid";\nimport "bootstrap/x.css";\n', '{"jest": {"moduleNameMapper": {"^uuid$": "uuid-old", "\\\\.css$": "<rootDir>/style.js", "^bootstrap": "<rootDir>/node_modules/x"}}}', "1 uuid", "2 bootstrap"),
    script("folders of jest", 'import x from "util-x/h";\nimport y from "kit";\nimport z from "other/h";\n', '{"jest": {"modulePaths": ["<rootDir>/src"], "moduleDirectories": ["node_modules", "shared"]}}', "3 other", more={"src/util-x/h.js": "", "shared/kit.ts": ""}),
    script("a root of jest", 'import y from "kit";\n', '{"jest": {"rootDir": "src", "projects": [{"rootDir": "shared", "roots": ["<rootDir>"]}]}}', more={"shared/kit.ts": ""}),
    script("jest.config.json", 'import x from "test-utils";\n', "{}", more={"jest.config.json": '{"moduleNameMapper": {"^test-utils$": "./src/tu"}}'}),
    script("nonsense for jest", 'import x from "left-pad";\n', '{"jest": {"moduleNameMapper": {"(((": "./x", "": "./y", "^(.*)$": "<rootDir>/src/$1", "[": 3}, "modulePaths": {"a": 1}, "roots": 5, "projects": "x"}}', "1 left-pad"),
    script("imports of the package itself", 'import x from "#db";\nimport y from "web/util";\n', '{"name": "web", "imports": {"#db": "./db.js"}}'),
    script("types only, with types", 'import type { X } from "express";\n', '{"devDependencies": {"@types/express": "5"}}'),
    script("types do not run", 'import express from "express";\n', '{"devDependencies": {"@types/express": "5"}}', "1 express"),
    script("required", 'const x = require("left-pad");\n', "{}", "1 left-pad"),
    script("imported when it is needed", 'const x = await import("left-pad");\n', "{}", "1 left-pad"),
    script("exported from", 'export * from "left-pad";\nexport { a } from "left-pad";\n', "{}", "1 left-pad"),
    script("in a comment and in a text", '// import x from "left-pad";\nconst s = \'import x from "left-pad"\';\n'),
    script("an alias of npm", 'import x from "pad";\n', '{"dependencies": {"pad": "npm:left-pad@1"}}'),
    Case("a package of the workspace", {"package.json": '{"workspaces": ["packages/*"]}', "packages/a/package.json": '{"name": "@x/a"}', "packages/b/package.json": '{"name": "@x/b"}', "packages/b/i.ts": 'import a from "@x/a";\n'}),
    Case("the root of the workspace", {"package.json": '{"devDependencies": {"vitest": "3"}}', "packages/b/package.json": "{}", "packages/b/i.ts": 'import a from "vitest";\nimport z from "zod";\n'}, ("packages/b/i.ts:2 zod",)),
    Case("minified and vendored", {"package.json": "{}", "x.min.js": 'require("rocket")', "vendor/x.js": 'require("rocket")', "a.js": ""}),
    Case("written for any loader", {"package.json": "{}", "a.js": "(function(f){if(typeof define==='function'&&define.amd){define(['jquery'],f)}else{f(require('jquery'))}})(1)\n"}),
]  # fmt: skip


CASES = [*SPEC, *PYTHON, *GUARDS, *DOUBTS, *MANIFESTS, *SCRIPTS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_has_expected_findings(case: Case):
    examination = CHECK.examine(snapshot_of(case.files))
    told = [found for found in examination.found if found.severity is not Severity.NOTE]
    assert tuple(f"{found.path}:{found.line} {found.subject}" for found in told) == case.found
    assert {found.rule for found in told} <= {case.rule}
    expected = ("WARN" if case.rule in ("dev-dependency", "unsure") else "FAIL") if case.found else "PASS"
    assert verdict_of(CHECK, examination) == expected


def test_case_names_are_unique():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names) >= 60
