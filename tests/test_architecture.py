"""Rules of the house that no linter states. Each failure names the place and the rule."""

import ast
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

SOURCE = Path(__file__).parent.parent / "src" / "forge"
FILES = sorted(SOURCE.rglob("*.py"))
PRIVATE = {"store", "tables", "routes", "cli"}
ROOTS = {"forge.app", "forge.cli", "forge.api.server"}
TOO_FREE = {"gather", "create_task", "TaskGroup", "as_completed", "wait_for", "ensure_future"}


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in FILES}


def name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_a_feature_keeps_its_tables_queries_routes_and_commands_to_itself():
    graph = grimp.build_graph("forge", cache_dir=None)
    strangers = [
        f"{importer} -> {module}"
        for module in graph.modules
        if len(parts := module.split(".")) == 3 and parts[2] in PRIVATE
        for importer in graph.find_modules_that_directly_import(module)
        if importer not in ROOTS and not importer.startswith(f"forge.{parts[1]}")
    ]
    assert strangers == []


def test_files_and_functions_stay_small(trees: dict[Path, ast.Module]):
    current = {path: tree for path, tree in trees.items() if "migrations/versions" not in str(path)}
    long_files = [name(path) for path in current if path.read_text().count("\n") > 400]
    long_functions = [
        f"{name(path)}:{function.lineno} {function.name}"
        for path, tree in current.items()
        for function in functions(tree)
        if (function.end_lineno or 0) - function.lineno + 1 > 50
    ]
    assert (long_files, long_functions) == ([], []), "at most 400 lines in a file and 50 in a function"


def test_every_module_has_a_docstring(trees: dict[Path, ast.Module]):
    modules = {path: tree for path, tree in trees.items() if path.name != "__init__.py"}
    assert [name(path) for path, tree in modules.items() if not ast.get_docstring(tree)] == []


def test_run_code_has_no_concurrency_of_its_own(trees: dict[Path, ast.Module]):
    """Steps are found again by their number, so `gather` in run code would swap results after a crash."""
    forbidden = [
        f"{name(path)}:{node.lineno} {called}; use context.parallel"
        for path, tree in trees.items()
        for function in functions(tree)
        if "RunContext" in {ast.unparse(a.annotation) for a in function.args.args if a.annotation}
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and (called := getattr(node.func, "attr", getattr(node.func, "id", ""))) in TOO_FREE
    ]
    assert forbidden == []


def test_every_event_type_is_emitted_somewhere(trees: dict[Path, ast.Module]):
    from forge.api.events import EVENT_TYPES

    emitted = {
        node.func.id
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert [kind.__name__ for kind in EVENT_TYPES if kind.__name__ not in emitted] == []


def test_a_command_does_not_load_the_server():
    """Commands answer at once because they import what they need: HTTP, and no database, engine or framework."""
    modules = (
        "forge.accounts.cli, forge.accounts.secrets_cli, forge.agents.cli, forge.llm.cli, forge.llm.show, forge.runs.cli, "
        "forge.runs.gates_cli, forge.server.cli, forge.server.overview, forge.workspace.cli, forge.bots.cli, forge.bots.show, "
        "forge.bots.chat.cli, forge.skills.cli, forge.skills.show, forge.workflows.cli, forge.workflows.show_runs, "
        "forge.workflows.watch"
    )
    heavy = "{'sqlalchemy', 'dbos', 'fastapi', 'uvicorn', 'alembic', 'pydantic_ai', 'genai_prices'}"
    code = f"import sys, {modules}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_server_starts_without_the_clients_of_models():
    """They take as long to import as everything else, and 80 MB: the first call loads them."""
    heavy = "{'anthropic', 'openai', 'pydantic_ai', 'onnxruntime'}"
    code = f"import sys, forge.server.serve; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
