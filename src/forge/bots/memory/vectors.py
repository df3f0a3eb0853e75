"""Vectors as the database keeps them: little-endian 32-bit floats. Needs numpy, as every embedder does."""

import struct
from collections.abc import Sequence


def pack(vector: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(vector)}f", *vector)


def similarities(vector: Sequence[float], packed: Sequence[bytes]) -> list[float]:
    """The cosine of the angle to each: 1 for the same meaning, about 0 for nothing in common."""
    if not packed:
        return []
    import numpy as np

    matrix = np.frombuffer(b"".join(packed), dtype="<f4").reshape(len(packed), -1)
    return (matrix @ np.asarray(vector, dtype="<f4")).tolist()
