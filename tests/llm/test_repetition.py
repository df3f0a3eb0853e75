"""Which texts count as a repetition, and what is left of them."""

from pathlib import Path

import pytest

from forge.llm.repetition import RepetitionDetector, without_repetition

ROOT = Path(__file__).parents[2]
PROSE = (ROOT / "docs/architecture.md").read_text()
PARAGRAPH = PROSE[:230]


def detected_after(text: str, piece: int = 4) -> int | None:
    """Return the number of characters after which the repetition is detected."""
    detector = RepetitionDetector()
    for start in range(0, len(text), piece):
        if detector.add(text[start : start + piece]):
            return start + piece
    return None


def nested(depth: int) -> str:
    return "".join(f"{'  ' * level}" + '{"child":\n' for level in range(depth))


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("word " * 4000, 3100),
        ("-" * 9000, 3100),
        ('{"name": "x", "children": [' * 800, 3700),
        ("Ja, natürlich — gern! " * 800, 3700),
        (PARAGRAPH * 60, 4300),
        (PROSE[:600] * 60, 26_000),
        (nested(400), 5000),
    ],
    ids=["word", "line", "json", "unicode", "paragraph", "section", "nesting"],
)
def test_repetition_is_detected(text: str, most: int):
    found = detected_after(text)
    assert found is not None and found <= most
    kept = without_repetition(text[:found])
    assert len(kept) < 1500 and text.startswith(kept)


def test_text_before_a_repetition_is_kept():
    text = PROSE[:5000] + "word " * 2000
    found = detected_after(text)
    assert found is not None
    kept = without_repetition(text[:found])
    assert kept.startswith(PROSE[:5000]) and len(kept) < 6000


@pytest.mark.parametrize(
    "text",
    [
        "".join(f'  {{"id": {n}, "name": "item {n}", "price": {n * 7}}},\n' for n in range(900)),
        "".join(f"| {n} | {n * n} |\n" for n in range(2000)),
        "".join(f"{n}\n" for n in range(6000)),
        "word " * 500,
    ],
    ids=["list", "table", "numbers", "short"],
)
def test_regular_text_is_not_a_repetition(text: str):
    assert detected_after(text) is None
    assert without_repetition(text) == text


def test_no_file_of_this_project_is_a_repetition():
    files = [*ROOT.glob("src/forge/**/*.py"), *ROOT.glob("docs/**/*.*"), ROOT / "web/src/api/schema.gen.ts"]
    texts = {path: path.read_text() for path in files if path.suffix in (".py", ".md", ".json", ".ts")}
    assert len(texts) > 500
    assert [path.name for path, text in texts.items() if detected_after(text, 400)] == []
