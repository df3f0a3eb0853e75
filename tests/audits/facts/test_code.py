"""Code without comments and strings."""

import pytest

from forge.audits.facts.code import read_code


@pytest.mark.parametrize(
    ("suffix", "code", "expected"),
    [
        (".py", 'x = "asyncpg" # asyncpg', 'x = "       "          '),
        (".py", '"""Doc\r\n  asyncpg"""\n', '"""   \r\n         """\n'),
        (".py", "f'a {asyncpg.x!r:>3} {{b}}'", "f'  {asyncpg.x!r:>3}      '"),
        (".py", "x = 'é'", "x = '  '"),
        (".pyi", "def f(): ... # c", "def f(): ...    "),
        (".js", "import a from '../repos/x' // c", "import a from '../repos/x'     "),
        (
            ".js",
            "export * from 'y'; require('z'); import('w')",
            "export * from 'y'; require('z'); import('w')",
        ),
        (".js", "f('require'); g(`a${b('c')}d`)", "f('       '); g(` ${b(' ')} `)"),
        (".js", "x = /asyncpg[/]\\d/g", "x = /            /g"),
        (".tsx", "x = <a b='c'>asyncpg {d} &amp;</a>", "x = <a b=' '>        {d}      </a>"),
        (".ts", "import x = require('y')", "import x = require('y')"),
        (".ts", "/* a\n b */ type A = 'asyncpg'", "    \n      type A = '       '"),
        (".go", "// asyncpg", "// asyncpg"),
    ],
)
def test_comments_and_texts_are_blanked(suffix: str, code: str, expected: str) -> None:
    assert read_code(suffix, code.encode()).text.decode() == expected


@pytest.mark.parametrize(
    ("suffix", "code", "expected"),
    [
        (".py", 'x = "SELECT a FROM b"', ["SELECT a FROM b"]),
        (".py", 'db.execute("select a from b")', ["select a from b"]),
        (".py", 'db.execute("select " + a + " from b")', ["select ", " from b"]),
        (".py", 'x = ("INSERT "\n  "INTO b")', ["INSERT ", "INTO b"]),
        (".py", 'sql = f"""\n  update {t} set a = 1"""', ["\n  update ", " set a = 1"]),
        (".py", 'x = "DELETE FROM {}".format(t)', ["DELETE FROM {}"]),
        (".py", 'x = "WITH a AS (SELECT 1) SELECT 2"', ["WITH a AS (SELECT 1) SELECT 2"]),
        (".py", 'x = "CREATE TABLE IF NOT EXISTS a (b int)"', ["CREATE TABLE IF NOT EXISTS a (b int)"]),
        (".py", 'q = "select id from users where id = $1"', ["select id from users where id = $1"]),
        (".py", 'q = f"update {t} set a = {a}"', ["update ", " set a = "]),
        (".py", 'q = """\nselect id\nfrom users\n"""', ["\nselect id\nfrom users\n"]),
        (".py", 'session.exec("select 1")', ["select 1"]),
        (".ts", "const q = `insert into t (a) values (${a})`", ["insert into t (a) values (", ")"]),
        (".ts", "const m = `Select a ${b} from the list where ${c}`", []),
        (".py", 'log.info("update queue set %s", 1)', []),
        (".py", '"""SELECT a FROM b"""', []),
        (".py", 'log("select a thing from the list")', []),
        (".py", 'x = "update the settings"', []),
        (".py", 'x = "Delete from cart"', []),
        (".py", "# SELECT a FROM b", []),
        (".ts", "db.query(`select * from a where b = ${c}`)", ["select * from a where b = "]),
        (".ts", "sql`id = ${x}`", ["id = "]),
        (".js", "const q = 'DROP TABLE a'", ["DROP TABLE a"]),
        (".js", "console.log('select one from two')", []),
    ],
)
def test_sql_in_texts_is_kept_and_prose_is_blanked(suffix: str, code: str, expected: list[str]) -> None:
    data = code.encode()
    assert [data[start:end].decode() for start, end in read_code(suffix, data).sql] == expected
    kept = read_code(suffix, data).text
    assert all(kept[start:end] == data[start:end] for start, end in read_code(suffix, data).sql)


def test_other_encodings_keep_byte_positions() -> None:
    data = b"# coding: latin-1\nx = '\xe9\xe8'; import a # \xe9\r\ny\0z\rw"
    assert read_code(".py", data).text == b"                 \nx = '  '; import a    \r\ny\0z\rw"
