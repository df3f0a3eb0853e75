"""Read environment.yml of conda, whose names are mapped to the Python index, with its `pip` section."""

import re
from collections.abc import Iterator

from forge.audits.dependencies.manifests.models import Declared, Group, Include, Manifest, broken
from forge.audits.dependencies.manifests.requirement_name import normal, requirement_name
from forge.audits.files.document_tree import DocumentNode, Shape, UnreadableDocument, read_text, read_yaml

MAX_BYTES = 256 << 10
"""The maximum size of an environment file."""
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
    if len(data) > MAX_BYTES:
        return broken("it is too large to be an environment")
    try:
        listed = read_yaml(read_text(data)).get("dependencies")
        if listed is None or listed.shape is not Shape.LIST:
            return Manifest(is_declaring=False)
        found = list(_read(listed.items))
    except UnreadableDocument as error:
        return broken(error.problem, error.line)
    return Manifest(
        declared=tuple(one for one in found if isinstance(one, Declared)),
        includes=tuple(one for one in found if isinstance(one, Include)),
    )


def _read(values: list[DocumentNode]) -> Iterator[Declared | Include]:
    for item in values:
        if item.shape is Shape.SCALAR:
            match = _NAME.match(item.text.strip())
            if match and match[1] != "python" and not item.is_empty:
                name = normal(match[1])
                yield Declared(_INDEX_NAMES.get(name, name), Group.RUNTIME, "dependencies", item.line)
        elif (pip := item.get("pip")) is not None:
            yield from _of_pip(pip.items)


def _of_pip(values: list[DocumentNode]) -> Iterator[Declared | Include]:
    for item in values:
        if item.text.startswith(("-r ", "--requirement ")):
            yield Include(item.text.partition(" ")[2].strip(), Group.RUNTIME, item.line)
        elif (name := requirement_name(item.text.removeprefix("-e "))) is not None:
            yield Declared(name, Group.RUNTIME, "pip", item.line)
