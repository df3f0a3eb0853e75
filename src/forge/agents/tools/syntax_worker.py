"""Parse text from standard input and print its first syntax error. Run by path, standard library only.

This is a separate process, because input can make parsers exhaust time, memory or stack. Nothing is executed.
"""

import json
import resource
import sys
import tomllib
import warnings

MEMORY_BYTES = 1 << 30
CPU_S = 10


def main(language: str) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    try:
        problem = problem_in(language, sys.stdin.buffer.read())
    except (RecursionError, MemoryError):
        return  # too deeply nested: unknown
    json.dump(problem, sys.stdout)


def problem_in(language: str, data: bytes) -> dict[str, int | str | None]:
    """Return line, column and message of the first error, all None if there is none."""
    try:
        if language == "python":
            compile(data, "<file>", "exec", dont_inherit=True)
        elif language == "json":
            json.loads(data)
        else:
            tomllib.loads(data.decode())
    except SyntaxError as error:
        return {"line": error.lineno, "column": error.offset, "message": error.msg}
    except json.JSONDecodeError as error:
        return {"line": error.lineno, "column": error.colno, "message": error.msg}
    except ValueError as error:  # TOML, invalid UTF-8, a NUL in Python
        return {"line": None, "column": None, "message": str(error)}
    return {"line": None, "column": None, "message": None}


if __name__ == "__main__":
    main(sys.argv[1])
