"""All manifest formats: names, groups, locations, includes and problems."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.audits.dependencies.manifests.discovery import Format, ManifestAnalyzer, Manifests, format_of
from forge.audits.dependencies.manifests.models import (
    Declared,
    Group,
    Include,
    Manifest,
    Problem,
    is_dev_name,
)
from forge.audits.dependencies.manifests.requirement_name import requirement_name
from forge.audits.memory import snapshot_of

RUNTIME, OPTIONAL, DEV, BUILD = Group.RUNTIME, Group.OPTIONAL, Group.DEV, Group.BUILD


def read(form: Format, text: str | bytes) -> Manifest:
    return ManifestAnalyzer(form)("", text.encode() if isinstance(text, str) else text)


def groups(manifest: Manifest) -> dict[str, str]:
    return {one.name: one.group.value for one in manifest.declared}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("requests", "requests"),
        ("Flask_SQLAlchemy[extra] >=3,<4 ; python_version < '3.12'", "flask-sqlalchemy"),
        ("zope.interface==5.*", "zope-interface"),
        ("shop @ git+https://host/shop.git", "shop"),
        ("shop @ file:///opt/shop", "shop"),
        ("git+https://host/team/shop.git@main#egg=shop-core&subdirectory=x", "shop-core"),
        ("git+https://${TOKEN}@host/team/shop-kit.git@v1.0", "shop-kit"),
        ("https://host/files/Shop_Kit-1.0-py3-none-any.whl", "shop-kit"),
        ("./wheels/shop-1.0.tar.gz", "shop"),
        ("../shop_core[dev]", "shop-core"),
        ("pytz>dev", "pytz"),
        ("old==1.0-beta-3_x", "old"),
        ("name>=1.0,", "name"),
        (".", None),
        ("", None),
        ("!!!", None),
        ("<<<<<<< HEAD", None),
        ("{{ cookiecutter.name }}", None),
        ("x" * 5000, None),
    ],
)
def test_requirement_name_is_extracted(text: str, name: str | None):
    assert requirement_name(text) == name


def test_requirements_file_is_read_like_pip():
    text = (
        "\ufeff# comment\n-i https://index/simple\n--find-links ./wheels\nrequests==2.32 \\\n    --hash=sha256:abc \\\n"
        "    --hash=sha256:def  # note\n-r base.txt\n--requirement=more.in\n-c limits.txt\n-e ./libs/shop_core\n"
        "-e git+https://host/x.git#egg=tools\n\nurllib3 # why\nfoo#bar\n=====\n"
    )
    assert read(Format.REQUIREMENTS, text) == Manifest(
        declared=(
            Declared("requests", RUNTIME, "", 4),
            Declared("shop-core", RUNTIME, "", 10),
            Declared("tools", RUNTIME, "", 11),
            Declared("urllib3", RUNTIME, "", 13),
        ),
        includes=(Include("base.txt", None, 7), Include("more.in", None, 8)),
        problems=(
            Problem("'foo#bar' is not a requirement", 14, is_fatal=False),
            Problem("'=====' is not a requirement", 15, is_fatal=False),
        ),
    )


def test_pyproject_is_read_with_tool_sections():
    text = """
[build-system]
requires = ["hatchling"]
[project]
name = "Shop.Kit"
dependencies = ["requests>=2"]
[project.optional-dependencies]
color = ["rich"]
test = ["pytest"]
[dependency-groups]
lint = ["ruff", {include-group = "types"}]
types = ["mypy"]
[tool.poetry.dependencies]
python = "^3.11"
httpx = "*"
[tool.poetry.group.docs.dependencies]
sphinx = "*"
[tool.pdm.dev-dependencies]
x = ["-e file:///${PROJECT_ROOT}/sub#egg=sub-kit"]
[tool.hatch.envs.default]
dependencies = ["coverage"]
[tool.hatch.build.hooks.custom]
dependencies = ["jinja2"]
[tool.uv]
dev-dependencies = ["nox"]
[tool.flit.metadata]
requires = ["click"]
[tool.pixi.dependencies]
numpy = "*"
[tool.setuptools.dynamic]
dependencies = {file = "needs.txt"}
optional-dependencies.dev = {file = ["dev.txt"]}
"""
    manifest = read(Format.PYPROJECT, text)
    assert groups(manifest) == {
        "requests": "runtime",
        "rich": "optional",
        "pytest": "dev",
        "ruff": "dev",
        "mypy": "dev",
        "httpx": "runtime",
        "sphinx": "dev",
        "sub-kit": "dev",
        "coverage": "dev",
        "nox": "dev",
        "click": "runtime",
        "numpy": "runtime",
        "hatchling": "build",
        "jinja2": "build",
    }
    assert manifest.declared[0] == Declared("requests", RUNTIME, "[project] dependencies", 6)
    assert manifest.names == ("shop-kit",)
    assert [(one.path, one.group) for one in manifest.includes] == [("needs.txt", RUNTIME), ("dev.txt", DEV)]


def test_pyproject_with_only_tool_settings_is_not_declaring():
    assert (
        read(Format.PYPROJECT, '[build-system]\nrequires=["x"]\n[tool.ruff]\nline-length=99\n').is_declaring
        is False
    )
    assert read(Format.PYPROJECT, '[project]\nname="x"\n').is_declaring is True


def test_setup_py_is_read_without_executing_it():
    text = """
import os
from setuptools import setup
os.abort()
base = ["requests>=2", "rich; python_version > '3'"]
base.append("httpx")
if True:
    base += ["attrs"]
setup(
    name="Shop",
    classifiers=["Programming Language :: Python"],
    install_requires=base,
    extras_require={"yaml": ["pyyaml"], "test": ["pytest"] + ["mock"]},
    setup_requires=["cython"],
)
"""
    manifest = read(Format.SETUP_PY, text)
    assert groups(manifest) == {
        "requests": "runtime",
        "rich": "runtime",
        "httpx": "runtime",
        "attrs": "runtime",
        "pyyaml": "optional",
        "pytest": "dev",
        "mock": "dev",
        "cython": "build",
    }
    assert manifest.names == ("shop",)


@pytest.mark.parametrize(
    "text",
    [
        "setup(**{'install_requires': ['requests']})",
        "conf = {}\nconf['install_requires'] = ['requests']\nsetup(**conf)",
        "install_requires = ('requests',)\nsetup(install_requires=install_requires)",
        "def need():\n    return ['requests']\nsetup(install_requires=need())",
        "setup(install_requires=sorted({*['requests']}))",
        "setup(install_requires='''\n  requests\n''')",
        "print 'python 2'\nsetup(install_requires=['requests'])",
    ],
)
def test_setup_py_requirements_are_found_in_many_forms(text: str):
    assert groups(read(Format.SETUP_PY, text)) == {"requests": "runtime"}


def test_files_read_by_setup_py_are_included():
    text = "here = 1\ndef load(name):\n    return open(name).read().split()\nsetup(install_requires=load('reqs/base.txt'))\n"
    assert read(Format.SETUP_PY, text).includes == (Include("reqs/base.txt", None, 4),)


def test_setup_cfg_is_read():
    text = (
        "[metadata]\nname = Shop\n[options]\ninstall_requires =\n    requests>=2,<3\n    # note\n    rich ; extra == 'x'\n"
        "tests_require = pytest\n[options.extras_require]\nyaml = pyyaml\ndocs = file: docs/needs.txt\n"
    )
    assert read(Format.SETUP_CFG, text) == Manifest(
        declared=(
            Declared("requests", RUNTIME, "[options] install_requires", 5),
            Declared("rich", RUNTIME, "[options] install_requires", 7),
            Declared("pytest", DEV, "[options] tests_require", 8),
            Declared("pyyaml", OPTIONAL, "[options.extras_require] yaml", 10),
        ),
        includes=(Include("docs/needs.txt", DEV, 11),),
        names=("shop",),
    )


def test_pipfile_is_read():
    text = '[[source]]\nurl = "https://x"\n[packages]\nDjango = "*"\n[dev-packages]\npytest = {version = "*"}\n[docs]\nsphinx = "*"\n'
    assert groups(read(Format.PIPFILE, text)) == {"django": "runtime", "pytest": "dev", "sphinx": "dev"}


def test_conda_environment_is_read_with_pypi_names():
    text = (
        "name: x\nchannels: [conda-forge]\ndependencies:\n  - python>=3.11\n  - conda-forge::pytorch=2.1=cuda*\n  - numpy\n"
        "  - pip:\n    - requests>=2\n    - -r more.txt\n"
    )
    manifest = read(Format.CONDA, text)
    assert groups(manifest) == {"torch": "runtime", "numpy": "runtime", "requests": "runtime"}
    assert manifest.includes == (Include("more.txt", RUNTIME, 9),)


def test_package_json_is_read():
    text = json.dumps(
        {
            "name": "web",
            "dependencies": {"react": "19", "pad": "npm:left-pad@1"},
            "devDependencies": {"vite": "6"},
            "peerDependencies": {"react-dom": "*"},
            "optionalDependencies": {"fsevents": "*"},
            "bundledDependencies": ["own"],
        },
        indent=1,
    )
    assert read(Format.PACKAGE_JSON, text) == Manifest(
        declared=(
            Declared("react", RUNTIME, "dependencies", 4),
            Declared("pad", RUNTIME, "dependencies", 5),
            Declared("react-dom", RUNTIME, "peerDependencies", 11),
            Declared("fsevents", OPTIONAL, "optionalDependencies", 14),
            Declared("vite", DEV, "devDependencies", 8),
            Declared("own", RUNTIME, "bundledDependencies"),
        ),
        names=("web",),
    )


def test_deno_json_with_comments_and_trailing_commas_is_read():
    text = '{\n  // of the registry\n  "imports": {"@std/path": "jsr:@std/path@1",},\n}\n'
    assert read(Format.DENO, text) == Manifest((Declared("@std/path", RUNTIME, "imports"),))


@pytest.mark.parametrize(
    ("form", "data", "problem"),
    [
        (Format.PYPROJECT, b"[project]\nname = \n", ("it is not valid TOML", 2)),
        (Format.PYPROJECT, b"\xff\xfe", ("it is not UTF-8", None)),
        (Format.PYPROJECT, b"a = " + b"[" * 100_000, ("it is nested too deep", None)),
        (Format.PIPFILE, b"[packages\n", ("it is not valid TOML", 1)),
        (Format.PACKAGE_JSON, b'{\n "a": 1,\n}', ("it is not valid JSON", 3)),
        (Format.PACKAGE_JSON, b"[]", ("it is not a JSON object", 1)),
        (Format.PACKAGE_JSON, b'{"dependencies": {"\\ud800": "1"}}', ("it is not valid JSON", None)),
        (Format.PACKAGE_JSON, b"[" * 100_000, ("it is not valid JSON", None)),
        (Format.CONDA, b"a: [\nb: }", ("it is not YAML", 2)),
        (Format.CONDA, b"\x00", ("it is not YAML", None)),
        (Format.CONDA, b"[" * 250_000, ("it is nested too deep", 1)),
        (Format.PIPFILE, b"a = " + b"1" * 5_000, ("it is not valid TOML", None)),
        (Format.SETUP_CFG, b"[a]\nb\n  c\n", ("it cannot be parsed", None)),
        (Format.SETUP_CFG, b"x = 1\n", ("it has no section", 1)),
        (Format.SETUP_CFG, b"[a]\n= 1\n", ("it cannot be parsed", 2)),
        (Format.REQUIREMENTS, b"\xc3\x28", ("it is neither UTF-8", None)),
        (Format.REQUIREMENTS, b"a\x00b", ("it is neither UTF-8", None)),
        (Format.SETUP_PY, b"(" * 100_000, ("it is nested too deep", None)),
    ],
)
def test_broken_manifest_reports_problem_and_line(form: Format, data: bytes, problem: tuple[str, int | None]):
    (found,) = read(form, data).problems
    assert found.is_fatal
    assert found.message.startswith(problem[0])
    assert found.line == problem[1]


@pytest.mark.parametrize("form", list(Format))
@given(data=st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_arbitrary_bytes_are_read_without_error(form: Format, data: bytes):
    assert isinstance(ManifestAnalyzer(form)("", data), Manifest)


TOML = st.recursive(
    st.text("ab[]=,\"'{}\n#-@ .;<>", max_size=12) | st.integers() | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["dependencies", "group", "file", "dev"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(value=TOML)
def test_unexpected_package_json_values_are_read_without_error(value: object):
    text = json.dumps({"dependencies": value, "name": value, "bundledDependencies": value, "engines": value})
    assert isinstance(read(Format.PACKAGE_JSON, text), Manifest)


@pytest.mark.parametrize(
    "where", ["project", "tool.poetry", "tool.pdm", "tool.hatch.envs", "dependency-groups", "tool.deptry"]
)
@pytest.mark.parametrize(
    "value", ["1", "true", '"x"', "[1, [2]]", "[{a = 1}]", '{a = {b = ["c"]}}', "{file = 1}"]
)
def test_unexpected_pyproject_values_are_read_without_error(where: str, value: str):
    for key in (
        "dependencies",
        "optional-dependencies",
        "dev-dependencies",
        "group",
        "per_rule_ignores",
        "name",
    ):
        assert isinstance(read(Format.PYPROJECT, f"[{where}]\n{key} = {value}\n"), Manifest)


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("requirements.txt", Format.REQUIREMENTS),
        ("requirements-dev.txt", Format.REQUIREMENTS),
        ("dev-requirements.in", Format.REQUIREMENTS),
        ("requirements/base.txt", Format.REQUIREMENTS),
        ("requirements_test.txt", Format.REQUIREMENTS),
        ("requirements/extras/mongodb.txt", Format.REQUIREMENTS),
        ("constraints.txt", None),
        ("requirements/constraints.txt", None),
        ("notes.txt", None),
        ("robots.txt", None),
        ("docs/my_requirements_engineering.md", None),
        ("a/pyproject.toml", Format.PYPROJECT),
        ("web/package.json", Format.PACKAGE_JSON),
        ("package-lock.json", None),
    ],
)
def test_manifest_format_is_detected_by_path(path: str, form: Format | None):
    assert format_of(path) == form


def test_installed_packages_are_not_manifests():
    files = {
        "web/node_modules/x/package.json": "{}",
        ".venv/lib/site-packages/y/setup.py": "",
        "package.json": "{}",
    }
    assert [source.path for source in Manifests.of(snapshot_of(files)).sources] == ["package.json"]


def test_view_combines_manifests_of_folder_and_parents():
    manifests = Manifests.of(
        snapshot_of(
            {
                "pyproject.toml": '[project]\nname="x"\ndependencies=["a"]\n',
                "one/requirements.txt": "b\n",
                "two/requirements/dev.txt": "c\n",
                "web/package.json": '{"dependencies": {"d": "1"}}',
            }
        )
    )
    assert set(manifests.view("", python=True).declared) == {"a"}
    assert set(manifests.view("one/deep/down", python=True).declared) == {"a", "b"}
    assert set(manifests.view("two", python=True).declared) == {"a", "c"}
    assert set(manifests.view("web/src", python=False).declared) == {"d"}
    assert set(manifests.view("elsewhere", python=False).declared) == {"d"}


def test_runtime_group_wins_over_dev_group():
    manifests = Manifests.of(
        snapshot_of(
            {
                "requirements-dev.txt": "a\nb\n-r requirements.txt\n",
                "requirements.txt": "a\n-r dev/extra.txt\n",
                "dev/extra.txt": "c\n",
            }
        )
    )
    declared = manifests.view("", python=True).declared
    assert {name: one.group for name, (one, _) in declared.items()} == {"a": RUNTIME, "b": DEV, "c": RUNTIME}


@pytest.mark.parametrize(
    ("name", "is_dev"),
    [
        ("dev", True),
        ("requirements-test", True),
        ("docs_extra", True),
        ("devices", False),
        ("latest", False),
        ("prod", False),
    ],
)
def test_dev_names_are_recognized(name: str, is_dev: bool):
    assert is_dev_name(name) is is_dev


def test_manifest_survives_msgpack_round_trip():
    import msgspec

    manifest = read(
        Format.PYPROJECT, '[project]\nname="x"\ndependencies=["a"]\n[tool.deptry]\nknown_first_party=["b"]\n'
    )
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(manifest), type=Manifest) == manifest
