"""Generate the web app's types from the OpenAPI schema; with --check, only compare them."""

import subprocess
import sys
from pathlib import Path

import node
from steps import Failed, run

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv/bin"


def generate(check: bool) -> None:
    found = node.require(BIN)
    write_if_changed(ROOT / "web/openapi.json", describe_api())
    command = [found.npm, "run", "generate", *(["--", "--check"] if check else [])]
    try:
        run(command, ROOT / "web", found.env)
    except Failed as failure:
        advice = "The web's API types are stale: run `make types` and commit the result." if check else ""
        raise Failed(f"{failure}\n{advice}".rstrip()) from failure


def describe_api() -> bytes:
    command = [BIN / "python", "-m", "forge.api.openapi"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Failed("The OpenAPI schema could not be generated (see above).")
    return done.stdout


def write_if_changed(file: Path, content: bytes) -> None:
    """Replace the file atomically, because other checkers may be reading the folder."""
    if file.is_file() and file.read_bytes() == content:
        return
    partial = file.with_suffix(".partial")
    partial.write_bytes(content)
    partial.replace(file)


def main(arguments: list[str]) -> int:
    try:
        generate(check="--check" in arguments)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return failure.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
