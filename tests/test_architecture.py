"""Architecture rules that no linter checks. Each failure names the location and the rule."""

import ast
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

SOURCE = Path(__file__).parent.parent / "src" / "forge"
FILES = sorted(SOURCE.rglob("*.py"))
PRIVATE = {"store", "tables", "routes", "cli"}
COMPOSITION_ROOTS = {"forge.app", "forge.cli", "forge.api.server"}
SHARED_COMMANDS = {
    (
        "forge.interview.cli.create",
        "forge.bots.chat.terminal.cli",
    ),  # `forge new` opens a chat with the new bot
    ("forge.interview.cli.create", "forge.skills.cli.blank"),  # `forge skill create --blank`
}
CONCURRENCY_CALLS = {"gather", "create_task", "TaskGroup", "as_completed", "wait_for", "ensure_future"}
MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in FILES}


def name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def private_package(module: str) -> str | None:
    """Return the package that a private module belongs to; None if the module is not private.

    `forge.bots.chat.store` belongs to `forge.bots.chat`, and every module of `forge.skills.cli` to `forge.skills`.
    """
    parts = module.split(".")
    return next((".".join(parts[:i]) for i in range(2, len(parts)) if parts[i] in PRIVATE), None)


def is_allowed(importer: str, module: str) -> bool:
    package = private_package(module)
    if package is None or importer in COMPOSITION_ROOTS or (importer, module) in SHARED_COMMANDS:
        return True
    if f"{importer}.".startswith(f"{package}."):
        return True
    kind, feature = module.split(".")[package.count(".") + 1], ".".join(module.split(".")[:2])
    return kind in {"routes", "cli"} and importer.startswith(f"{feature}.") and kind in importer.split(".")


def test_private_modules_are_imported_only_within_their_package():
    """Routes and commands may also use those of other packages of the same feature."""
    graph = grimp.build_graph("forge", cache_dir=None)
    violations = [
        f"{importer} -> {module}"
        for module in graph.modules
        for importer in graph.find_modules_that_directly_import(module)
        if not is_allowed(importer, module)
    ]
    assert violations == []


@pytest.mark.parametrize(
    ("importer", "module", "allowed"),
    [
        ("forge.accounts.service", "forge.accounts.store", True),
        ("forge.bots.chat.answers", "forge.bots.chat.store", True),
        ("forge.bots.chat.answers", "forge.bots.tables", True),
        ("forge.bots.memory.routes", "forge.bots.management.routes", True),
        ("forge.bots.memory.service", "forge.bots.chat.store", False),
        ("forge.bots.memory.service", "forge.bots.management.routes", False),
        ("forge.workflows.routes", "forge.bots.management.routes", False),
        ("forge.interview.guide.questions", "forge.skills.cli.arguments", False),
        ("forge.runs_archive.service", "forge.runs.store", False),
    ],
)
def test_privacy_rule_covers_nested_packages(importer: str, module: str, allowed: bool):
    assert is_allowed(importer, module) is allowed


def test_files_and_functions_are_within_the_size_limits(trees: dict[Path, ast.Module]):
    current = {path: tree for path, tree in trees.items() if "migrations/versions" not in str(path)}
    long_files = [name(path) for path in current if path.read_text().count("\n") > MAX_FILE_LINES]
    long_functions = [
        f"{name(path)}:{function.lineno} {function.name}"
        for path, tree in current.items()
        for function in functions(tree)
        if (function.end_lineno or 0) - function.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert (long_files, long_functions) == ([], []), (
        f"at most {MAX_FILE_LINES} lines in a file and {MAX_FUNCTION_LINES} in a function"
    )


def test_every_module_has_a_docstring(trees: dict[Path, ast.Module]):
    modules = {path: tree for path, tree in trees.items() if path.name != "__init__.py"}
    assert [name(path) for path, tree in modules.items() if not ast.get_docstring(tree)] == []


def test_run_code_starts_no_tasks(trees: dict[Path, ast.Module]):
    """Replay finds steps by their number, so `gather` in run code would swap results after a crash."""
    forbidden = [
        f"{name(path)}:{node.lineno} {called}; use context.parallel"
        for path, tree in trees.items()
        for function in functions(tree)
        if "RunContext" in {ast.unparse(a.annotation) for a in function.args.args if a.annotation}
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and (called := getattr(node.func, "attr", getattr(node.func, "id", ""))) in CONCURRENCY_CALLS
    ]
    assert forbidden == []


def test_every_registered_event_type_is_emitted(trees: dict[Path, ast.Module]):
    from forge.api.events import EVENT_TYPES

    emitted = {
        node.func.id
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert [kind.__name__ for kind in EVENT_TYPES if kind.__name__ not in emitted] == []


def test_commands_do_not_import_the_server():
    """Commands start fast because they import an HTTP client and no database, run engine or web framework."""
    modules = (
        "forge.accounts.cli, forge.agents.cli, forge.llm.cli, forge.runs.cli, "
        "forge.server.cli, forge.server.overview, forge.workspace.cli, forge.bots.cli, "
        "forge.bots.chat.terminal.cli, forge.skills.cli.library, forge.skills.cli.views, "
        "forge.workflows.cli.definitions, forge.workflows.cli.runs, forge.workflows.cli.views"
    )
    heavy = "{'sqlalchemy', 'dbos', 'fastapi', 'uvicorn', 'alembic', 'pydantic_ai', 'genai_prices'}"
    code = f"import sys, {modules}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_server_startup_does_not_import_model_clients():
    """The clients take as long to import as everything else, and 80 MB, so the first call loads them."""
    heavy = "{'anthropic', 'openai', 'pydantic_ai', 'onnxruntime'}"
    code = f"import sys, forge.server.serve; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
