"""Who runs the tests when a project's own script does: `npm test` is whatever package.json says."""

from pydantic import BaseModel, ValidationError

from forge.agents.command_rules import Runner
from forge.agents.command_words import NotACommand, split
from forge.errors import ForgeError
from forge.workspace.files import Files

MAX_BYTES = 1_000_000
_TAKE_OPTIONS = {"vitest": Runner.VITEST, "jest": Runner.JEST}


class _Package(BaseModel):
    scripts: dict[str, str] = {}


def real_runner(runner: Runner, files: Files) -> Runner:
    """One that can be asked for a report, when the script is one plain command that calls it."""
    if runner is not Runner.NPM:
        return runner
    try:
        package = _Package.model_validate_json(files.read("package.json", limit=MAX_BYTES).data)
        words = split(package.scripts.get("test", ""))
    except (ForgeError, ValidationError, NotACommand):
        return Runner.OTHER
    program = words[1] if words[0] == "npx" and len(words) > 1 else words[0]
    return _TAKE_OPTIONS.get(program, Runner.OTHER)
