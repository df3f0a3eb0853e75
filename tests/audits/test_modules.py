"""Resolution of imports to files: as by Python, TypeScript and bundlers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.audits.facts.models import Import
from forge.audits.files.lenient_readers import read_json
from forge.audits.imports.modules import Modules
from forge.audits.imports.python_modules import PythonModules
from forge.audits.imports.script_modules import ScriptModules
from forge.audits.memory import snapshot_of

Files = dict[str, str]


def python(*paths: str, **texts: str) -> PythonModules:
    return PythonModules.of(snapshot_of({**dict.fromkeys(paths, ""), **texts}))


def whole(module: str) -> Import:
    return Import(module, 1)


def some(module: str, *names: str, level: int = 0) -> Import:
    return Import(module, 1, level, names, is_from=True)


PACKAGE = ("app/__init__.py", "app/api/__init__.py", "app/api/users.py", "app/db.py", "app/repos/__init__.py")


@pytest.mark.parametrize(
    ("files", "path", "module"),
    [
        (PACKAGE, "app/api/users.py", "app.api.users"),
        (PACKAGE, "app/api/__init__.py", "app.api"),
        (("src/pkg/__init__.py", "src/pkg/x.py"), "src/pkg/x.py", "pkg.x"),
        (("src/google/cloud/mine/__init__.py",), "src/google/cloud/mine/__init__.py", "google.cloud.mine"),
        (("app/api/users.py", "app/db.py"), "app/api/users.py", "app.api.users"),
        (("backend/app/__init__.py", "backend/app/main.py"), "backend/app/main.py", "app.main"),
        (("my-service/app/main.py",), "my-service/app/main.py", "app.main"),
        (("services/my-service/tool/main.py",), "services/my-service/tool/main.py", "tool.main"),
        (("run-it.py",), "run-it.py", None),
        (("main.py",), "main.py", "main"),
        (("__init__.py",), "__init__.py", None),
        (("tests/fixtures/x/pyproject.toml", "tests/fixtures/x/a.py"), "tests/fixtures/x/a.py", "a"),
    ],
)
def test_file_has_expected_module_name(files: tuple[str, ...], path: str, module: str | None) -> None:
    assert python(*files).module_of(path) == module


def test_entry_module_defines_source_root() -> None:
    modules = python(
        "be/app/main.py", "be/app/db.py", **{"forge.json": '{"backend": {"entry_module": "app.main"}}'}
    )
    assert modules.module_of("be/app/db.py") == "app.db"


@pytest.mark.parametrize(
    "settings",
    [
        {"pyproject.toml": '[tool.setuptools.package-dir]\n"" = "code"'},
        {"pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["code"]'},
        {"pyproject.toml": '[tool.hatch.build.targets.wheel]\npackages = ["code/ns"]'},
        {"pyproject.toml": '[[tool.poetry.packages]]\ninclude = "ns"\nfrom = "code"'},
        {"pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["code"]'},
        {"pytest.ini": "[pytest]\npythonpath = code\n"},
        {"setup.cfg": "[options]\npackage_dir =\n    = code\n"},
        {"setup.py": 'setup(package_dir={"": "code"})'},
    ],
)
def test_settings_define_source_root(settings: Files) -> None:
    modules = python("code/ns/sub/x.py", "tests/test_x.py", **settings)
    assert modules.module_of("code/ns/sub/x.py") == "ns.sub.x"
    assert modules.resolve("tests/test_x.py", whole("ns.sub.x")) == ("code/ns/sub/x.py",)


@pytest.mark.parametrize(
    ("imp", "paths"),
    [
        (whole("app.db"), ("app/db.py",)),
        (whole("app"), ("app/__init__.py",)),
        (some("app", "db"), ("app/db.py",)),
        (some("app", "db", "VERSION"), ("app/__init__.py", "app/db.py")),
        (some("app", "*"), ("app/__init__.py",)),
        (some("app.db", "connect"), ("app/db.py",)),
        (some("", "users", level=1), ("app/api/users.py",)),
        (some("", "db", level=2), ("app/db.py",)),
        (some("db", "connect", level=2), ("app/db.py",)),
        (some("repos", "users", level=2), ("app/repos/__init__.py",)),
        (some("x", "y", level=9), ()),
        (whole("os.path"), ()),
        (whole("db"), ()),
        (whole("users"), ()),
    ],
)
def test_import_resolves_to_most_specific_file(imp: Import, paths: tuple[str, ...]) -> None:
    assert python(*PACKAGE).resolve("app/api/users.py", imp) == paths


@pytest.mark.parametrize(
    ("files", "importer", "module", "is_own"),
    [
        (("main.py", "helpers.py"), "main.py", "helpers", True),
        (("scripts/run.py", "scripts/tools.py"), "scripts/run.py", "tools", True),
        (("scripts/run.py", "scripts/tools.py", "x.py"), "x.py", "tools", False),
        (
            ("tests/conftest.py", "tests/support.py", "tests/unit/test_a.py"),
            "tests/unit/test_a.py",
            "support",
            True,
        ),
        (("app/__init__.py", "app/redis.py"), "app/redis.py", "redis", False),
        (("alembic/env.py",), "alembic/env.py", "alembic", False),
        (("tests/redis/test_a.py",), "tests/redis/test_a.py", "redis", False),
        (("tests/logging.py", "tests/test_a.py"), "tests/test_a.py", "logging", False),
        (("app/db.py", "app/main.py"), "app/main.py", "app.db", True),
        (("libs/a/pyproject.toml", "libs/a/src/a/__init__.py", "b/x.py"), "b/x.py", "a", True),
        (
            ("tests/data/p/pyproject.toml", "tests/data/p/redis/__init__.py", "b/x.py"),
            "b/x.py",
            "redis",
            False,
        ),
        (("tests/data/p/pyproject.toml", "tests/data/p/q/__init__.py"), "tests/data/p/t.py", "q", True),
        (("src/google/mine/x.py", "src/y.py"), "src/y.py", "google.protobuf", False),
        (("src/google/mine/x.py", "src/y.py"), "src/y.py", "google.mine.x", True),
        (("app/__init__.py",), "app/x.py", "app.generated", True),
    ],
)
def test_own_modules_depend_on_importer(
    files: tuple[str, ...], importer: str, module: str, is_own: bool
) -> None:
    assert python(*files).is_own(importer, module) is is_own


def test_import_from_namespace_folder_is_resolved() -> None:
    modules = python("app/db.py", "app/main.py")
    assert modules.resolve("app/main.py", some("app", "db")) == ("app/db.py",)
    assert modules.resolve("app/main.py", some("app", "missing")) == ()


def script(files: Files) -> ScriptModules:
    return ScriptModules.of(snapshot_of(files))


WEB: Files = {
    "package.json": '{"name": "root", "workspaces": ["packages/*"], "imports": {"#db": "./src/db.ts", "#lib/*": "./src/lib/*.ts"}}',
    "tsconfig.json": '{"extends": "./tsconfig.base", /* c */ "compilerOptions": {"baseUrl": ".",},}',
    "tsconfig.base.json": '{"compilerOptions": {"paths": {"@app/*": ["./src/*"], "one": ["./src/one.tsx"]}}} // end',
    "src/index.ts": "",
    "src/db.ts": "",
    "src/one.tsx": "",
    "src/lib/http.ts": "",
    "src/ui/index.tsx": "",
    "src/style.css": "",
    "packages/a/package.json": '{"name": "@x/a", "exports": {".": {"import": "./dist/index.js"}, "./sub/*": "./src/sub/*.ts"}}',
    "packages/a/src/index.ts": "",
    "packages/a/src/sub/deep.ts": "",
    "packages/b/package.json": '{"name": "b", "main": "lib/main.js"}',
    "packages/b/src/main.ts": "",
}


@pytest.mark.parametrize(
    ("importer", "specifier", "path"),
    [
        ("src/index.ts", "./db", "src/db.ts"),
        ("src/index.ts", "./db.js", "src/db.ts"),
        ("src/index.ts", "./ui", "src/ui/index.tsx"),
        ("src/index.ts", "./style.css?inline", "src/style.css"),
        ("src/ui/index.tsx", "..", "src/index.ts"),
        ("src/ui/index.tsx", "../one", "src/one.tsx"),
        ("src/index.ts", "../../../etc/passwd", None),
        ("src/index.ts", "@app/lib/http", "src/lib/http.ts"),
        ("src/index.ts", "one", "src/one.tsx"),
        ("src/index.ts", "src/db", "src/db.ts"),
        ("src/index.ts", "#db", "src/db.ts"),
        ("src/index.ts", "#lib/http", "src/lib/http.ts"),
        ("src/index.ts", "@/db", "src/db.ts"),
        ("src/index.ts", "@x/a", "packages/a/src/index.ts"),
        ("src/index.ts", "@x/a/sub/deep", "packages/a/src/sub/deep.ts"),
        ("packages/a/src/index.ts", "@x/a/sub/deep", "packages/a/src/sub/deep.ts"),
        ("packages/a/src/index.ts", "b", "packages/b/src/main.ts"),
        ("src/index.ts", "react", None),
        ("src/index.ts", "node:fs", None),
    ],
)
def test_specifier_resolves_to_file(importer: str, specifier: str, path: str | None) -> None:
    assert script(WEB).resolve(importer, whole(specifier)) == ((path,) if path else ())


@pytest.mark.parametrize(
    ("specifier", "is_own"),
    [
        ("./missing", True),
        ("@/missing", True),
        ("#gone", True),
        ("@x/a", True),
        ("@x/c", False),
        ("react", False),
    ],
)
def test_specifier_is_own_or_external(specifier: str, is_own: bool) -> None:
    assert script(WEB).is_own("src/index.ts", specifier) is is_own


def test_modules_resolve_both_languages() -> None:
    modules = Modules.of(snapshot_of({"app/__init__.py": "", "app/x.py": "", "web/a.ts": "", "web/b.ts": ""}))
    assert (modules.module_of("app/x.py"), modules.module_of("web/a.ts")) == ("app.x", "web/a")
    assert modules.resolve("app/x.py", whole("app")) == ("app/__init__.py",)
    assert modules.resolve("web/a.ts", whole("./b")) == ("web/b.ts",)


@given(st.text(alphabet='{}[]",:/*\\ \nab1', max_size=60))
def test_arbitrary_json_text_is_read(text: str) -> None:
    assert isinstance(read_json(text), dict)


@given(st.lists(st.text(alphabet="ab./-_\n é", min_size=1, max_size=12), max_size=6), st.text(max_size=8))
def test_arbitrary_paths_and_names_are_resolved_without_error(paths: list[str], module: str) -> None:
    files = {f"{path}{end}": "" for path in paths for end in (".py", ".ts")}
    modules = Modules.of(snapshot_of(files))
    for path in files:
        modules.module_of(path)
        modules.resolve(path, Import(module, 1, 2, ("x",), is_from=True))
        modules.resolve(path, whole(module))
        (modules.python if path.endswith(".py") else modules.script).is_own(path, module)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.cfg", "[tool:pytest]\npythonpath\n[options]\npackage_dir\n[options.packages.find]\nwhere\n"),
        ("pytest.ini", "[pytest]\nkey\n  that goes on\n"),
        ("pyproject.toml", "digits = " + "1" * 5_000),
        ("pnpm-workspace.yaml", "released: 2001-99-99\n"),
        ("pnpm-workspace.yaml", "public: !!bool perhaps\n"),
        ("pnpm-workspace.yaml", "[" * 250_000),
    ],
)
def test_unreadable_settings_are_ignored(name: str, text: str) -> None:
    modules = Modules.of(snapshot_of({"app/a.py": "", "web/b.ts": "", "package.json": "{}", name: text}))
    assert modules.module_of("app/a.py") == "app.a"
    assert modules.module_of("web/b.ts") == "web/b"
