"""Strict reading of boundaries.json: every mistake is reported with its line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.audits.boundaries.config import Boundaries, InvalidBoundaries, Rank, read_boundaries, read_order
from forge.audits.boundaries.layer_files import LayerFiles, forbidden_pairs

ORIGINAL = {
    "description": "as the original wrote it",
    "layers": [
        {
            "name": "routers",
            "description": "HTTP",
            "glob": "app/routers/**/*.py",
            "forbidden": [{"pattern": "asyncpg", "reason": "no driver"}, "SELECT "],
        }
    ],
    "known_violations": [{"layer": "routers", "file": "old.py", "pattern": "asyncpg"}],
}


def test_original_format_is_accepted() -> None:
    boundaries = read_boundaries(json.dumps(ORIGINAL).encode())
    assert [rule.text for rule in boundaries.layers[0].forbidden] == ["asyncpg", "SELECT "]
    assert boundaries.layers[0].glob == ["app/routers/**/*.py"]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("{", "is not valid JSON", 1),
        ('{\n"layers": [,]}', "is not valid JSON", 2),
        ("[]", "should be a valid", 1),
        ("{}", "layers: Field required", 1),
        ('{"layers":\n 3}', "layers: Input should be a valid list", 2),
        ('{"layers": [],\n"layer": 1}', "layer: unknown key", 2),
        ('{"layers": [],\n"layers": []}', "has the key 'layers' twice", 2),
        ('{"it\'s": 1,\n"it\'s": 2}', 'has the key "it\'s" twice', 2),
        ('{"größe": 1,\n"größe": 2}', "has the key 'größe' twice", 2),
        ('{"": 1,\n"": 2}', "has the key '' twice", 2),
        ('{"layers": [\n{"name": "a"}]}', "layers[0].glob: Field required", 2),
        ('{"layers": [{"name": "a", "glob": []}]}', "layers[0].glob: Value should have at least 1", 1),
        ('{"layers": [{"name": "a",\n"glob": 5}]}', "layers[0].glob: ", 2),
        ('{"layers": [{"name": "a", "glob": "x",\n"forbidden": [\n5]}]}', "layers[0].forbidden[0]: ", 3),
        (
            '{"layers": [{"name": "a", "glob": "x", "forbidden": [{"reason": "r"}]}]}',
            "needs exactly one of",
            1,
        ),
        (
            '{"layers": [{"name": "a", "glob": "x", "forbidden": [{"pattern": "p", "indirect": true}]}]}',
            "only valid for `import` and `layer` rules",
            1,
        ),
        (
            '{"layers": [{"name": "a", "glob": "x", "forbidden": [{"layer": "b"}]}]}',
            "a rule refers to the unknown layer 'b'",
            1,
        ),
        (
            '{"layers": [{"name": "a", "glob": "x"}, {"name": "a", "glob": "y"}]}',
            "the layer 'a' is defined twice",
            1,
        ),
        (
            '{"layers": [{"name": "a", "glob": "x"}], "order": ["a", "b"]}',
            "`order` refers to the unknown layer 'b'",
            1,
        ),
        ('{"layers": [{"name": "a", "glob": "x"}], "order": ["a", "a"]}', "twice", 1),
        ('{"layers": [{"name": "a", "glob": "x"}], "order": ["a | b : c"]}', "mixes", 1),
        ('{"layers": [{"name": "a", "glob": "x"}], "order": ["a |"]}', "without a name", 1),
        ('{"layers": [], "exhaustive": true}', "requires `containers`", 1),
        (
            '{"layers": [{"name": "a", "glob": "x"}], "known_violations": [\n{"layer": "a", "file": "f", "pattern": "p",'
            '\n"expires": "soon"}]}',
            "is not a valid date",
            3,
        ),
        ("[" * 100_000, "nested too deeply", 1),
    ],
)
def test_invalid_boundaries_are_reported_with_line(text: str, message: str, line: int) -> None:
    with pytest.raises(InvalidBoundaries) as bad:
        read_boundaries(text.encode())
    assert message in bad.value.message
    assert bad.value.line == line


def test_invalid_utf8_is_reported() -> None:
    with pytest.raises(InvalidBoundaries, match="is not UTF-8"):
        read_boundaries(b'{"layers": [\n"\xff"]}')


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,layersgobnm \n1', max_size=80).map(str.encode))
def test_arbitrary_bytes_are_read_or_reported(data: bytes) -> None:
    try:
        read_boundaries(data)
    except InvalidBoundaries as bad:
        assert bad.message


def test_order_is_parsed_into_ranks() -> None:
    assert read_order(["a", "b | (c)", "d : e"]) == [
        Rank(names=("a",), optional=frozenset(), is_independent=True),
        Rank(names=("b", "c"), optional=frozenset({"c"}), is_independent=True),
        Rank(names=("d", "e"), optional=frozenset(), is_independent=False),
    ]
    assert forbidden_pairs(read_order(["a", "b | c", "d : e"])) == [
        ("b", "a"),
        ("b", "c"),
        ("c", "a"),
        ("c", "b"),
        ("d", "a"),
        ("d", "b"),
        ("d", "c"),
        ("e", "a"),
        ("e", "b"),
        ("e", "c"),
    ]


@pytest.mark.parametrize(
    ("glob", "path", "is_in"),
    [
        ("app/routers/**/*.py", "app/routers/a.py", True),
        ("app/routers/**/*.py", "app/routers/v1/deep/a.py", True),
        ("app/routers/*.py", "app/routers/a.py", True),
        ("app/routers/*.py", "app/routers/v1/a.py", True),
        ("app/routers/*.py", "app/routers/__init__.py", True),
        ("app/routers/*.py", "app/routers.py", False),
        ("app/routers/*.py", "other/app/routers/a.py", False),
        ("app/routers/*.py", "app/routers/a.txt", False),
        ("app/routers", "app/routers/v1/a.py", True),
        ("app/routers/", "app/routers/a.py", True),
        ("./app/routers/*", "app/routers/a.py", True),
        ("app\\routers\\*.py", "app/routers/a.py", True),
        ("app/{routers,api}/*.py", "app/api/x/a.py", True),
        ("app/*/models.py", "app/users/models.py", True),
        ("app/*/models.py", "app/users/deep/models.py", False),
        ("*.py", "anywhere/a.py", True),
        ("app/main.py", "app/main.py", True),
        ("app/main.py", "app/x/main.py", False),
        ("app/routers/*.py", "app/routers/a\nb.py", True),
        ("app/routers/*.py", "app/routers/\udcff.py", True),
        ("app/routers/a[0-9].py", "app/routers/a1.py", True),
    ],
)
def test_glob_selects_files(glob: str, path: str, is_in: bool) -> None:
    boundaries = Boundaries.model_validate({"layers": [{"name": "x", "glob": glob}]})
    assert (path in LayerFiles.of(boundaries, [path, "app/routers/other.py"]).names) is is_in


def test_subfolder_belongs_to_most_specific_layer() -> None:
    layers = [
        {"name": "api", "glob": "app/*.py"},
        {"name": "db", "glob": "app/db/*.py", "exclude": "app/db/old/**"},
    ]
    boundaries = Boundaries.model_validate({"layers": layers, "exclude": ["**/generated/**"]})
    paths = [
        "app/a.py",
        "app/x/b.py",
        "app/db/c.py",
        "app/db/d/e.py",
        "app/db/old/f.py",
        "app/generated/g.py",
    ]
    assert LayerFiles.of(boundaries, paths).files == {
        "api": frozenset({"app/a.py", "app/x/b.py"}),
        "db": frozenset({"app/db/c.py", "app/db/d/e.py"}),
    }
