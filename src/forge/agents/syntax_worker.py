"""Parses one text from standard input and prints what is wrong with it; run by path, with the standard library only.

A process of its own, because parsers can be made to take all the time, memory or stack there is. It never executes
what it reads.
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
        return  # too deep to tell: no answer
    json.dump(problem, sys.stdout)


def problem_in(language: str, data: bytes) -> dict[str, int | str | None]:
    """The first one: its line, column and message; all None when there is none."""
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
    except ValueError as error:  # TOML, bytes that are no UTF-8, a NUL in Python
        return {"line": None, "column": None, "message": str(error)}
    return {"line": None, "column": None, "message": None}


if __name__ == "__main__":
    main(sys.argv[1])
