"""environment.yml of conda: its own names, which are not always those of the Python index, and a `pip` section."""

import re
from collections.abc import Iterator

import yaml

from forge.audits.dependencies.manifests.lines import Lines
from forge.audits.dependencies.manifests.models import Declared, Group, Include, Manifest, broken
from forge.audits.dependencies.manifests.requirement import normal, requirement_name
from forge.audits.imports.loose import items, table, texts

MOST_BYTES = 256 << 10
"""PyYAML is slow, and nobody writes an environment that long."""
_INDEX_NAMES = {
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "opencv": "opencv-python",
    "py-opencv": "opencv-python",
    "matplotlib-base": "matplotlib",
    "msgpack-python": "msgpack",
    "pytables": "tables",
    "tensorflow-base": "tensorflow",
    "faiss": "faiss-cpu",
    "python-graphviz": "graphviz",
    "dask-core": "dask",
    "seaborn-base": "seaborn",
    "poetry-core": "poetry-core",
    "py-xgboost": "xgboost",
    "pyarrow-core": "pyarrow",
    "brotli-python": "brotli",
    "ruamel-yaml": "ruamel-yaml",
}
_NAME = re.compile(r"(?:[^\s:]+::)?([A-Za-z0-9_][A-Za-z0-9_.-]*)")


def read_conda(data: bytes) -> Manifest:
    if len(data) > MOST_BYTES:
        return broken("it is too large to be an environment")
    try:
        text = data.decode("utf-8-sig")
        content = table(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))  # noqa: S506
    except UnicodeDecodeError:
        return broken("it is not UTF-8")
    except yaml.MarkedYAMLError as error:
        return broken(
            f"it is no YAML: {error.problem}", error.problem_mark.line + 1 if error.problem_mark else None
        )
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return broken(f"it is no YAML: {str(error)[:120]}")
    if not isinstance(content.get("dependencies"), list):
        return Manifest(is_declaring=False)
    lines = Lines(text)
    found = list(_read(items(content["dependencies"]), lines))
    return Manifest(
        declared=tuple(one for one in found if isinstance(one, Declared)),
        includes=tuple(one for one in found if isinstance(one, Include)),
    )


def _read(values: list[object], lines: Lines) -> Iterator[Declared | Include]:
    for item in values:
        if isinstance(item, str):
            match = _NAME.match(item.strip())
            if match and match[1] != "python":
                name = normal(match[1])
                yield Declared(_INDEX_NAMES.get(name, name), Group.RUNTIME, "dependencies", lines.of(item))
            continue
        for text in texts(table(item).get("pip")):
            if text.startswith(("-r ", "--requirement ")):
                yield Include(text.partition(" ")[2].strip(), Group.RUNTIME, lines.of(text))
            elif (name := requirement_name(text.removeprefix("-e "))) is not None:
                yield Declared(name, Group.RUNTIME, "pip", lines.of(text))
