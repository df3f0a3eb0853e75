"""Reads a script from YAML. Every problem is told at once, each with its line and its field."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from forge.demo.script import Script
from forge.errors import ConfigError
from forge.kernel.misfit import Misfit, misfits

HINT = "The format is described in docs/guides/scripted-models.md."


def find_script(name: str) -> Path:
    """A file of that name, or else a script that comes with Forge."""
    bundled = {path.stem: path for path in sorted((Path(__file__).parent / "scripts").glob("*.yaml"))}
    if Path(name).is_file():
        return Path(name)
    if name not in bundled:
        hint = f"These come with Forge: {', '.join(bundled)}."
        raise ConfigError([f"{name}: there is no such script"], hint=hint)
    return bundled[name]


def load_script(path: Path) -> Script:
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"{path}: cannot be read: {error}"]) from error
    return parse_script(text, str(path))


def parse_script(text: str, source: str) -> Script:
    try:
        tree = yaml.SafeLoader(text).get_single_node()
        given: Any = {} if tree is None else yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError([f"{source}:{line}: not YAML: {error.problem or error}"], hint=HINT) from error
    except yaml.YAMLError as error:
        raise ConfigError([f"{source}: not YAML: {error}"], hint=HINT) from error
    twice = [f"{source}:{line}: {key}: is there twice" for line, key in _repeated(tree)]
    try:
        script = script_from(given, source, tree)
    except ConfigError as error:
        raise ConfigError([*twice, *error.problems], hint=HINT) from error
    if twice:
        raise ConfigError(twice, hint=HINT)
    return script


def script_from(given: Any, source: str, tree: yaml.Node | None = None) -> Script:
    """From what YAML or a test says."""
    try:
        return Script.model_validate(given)
    except ValidationError as error:
        problems = [_problem(source, tree, misfit) for misfit in misfits(error)]
        raise ConfigError(problems, hint=HINT) from error


def _problem(source: str, tree: yaml.Node | None, misfit: Misfit) -> str:
    place = f"{source}:{_line(tree, misfit.path)}" if tree is not None else source
    said = "there is no such field" if misfit.kind == "extra_forbidden" else misfit.message
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in misfit.path).lstrip(".")
    return f"{place}: {field}: {said}" if field else f"{place}: {said}"


def _line(node: yaml.Node, loc: Sequence[str | int]) -> int:
    """Of the field, or of the innermost thing around it that the text has."""
    line = node.start_mark.line
    for part in loc:
        below = _below(node, part)
        if below is not None:
            key, node = below
            line = key.start_mark.line
    return line + 1


def _below(node: yaml.Node, part: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == str(part)), None)
    return None


def _repeated(node: yaml.Node | None) -> Iterator[tuple[int, str]]:
    """Keys that a mapping has twice; YAML would silently take the last."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                yield key.start_mark.line + 1, str(key.value)
            seen.add(str(key.value))
            yield from _repeated(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated(item)
