"""SQL statements, and sentences that only look like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.audits.facts.sql.detection import is_sql, may_begin_sql, runs_sql
from forge.audits.facts.sql.statement_shape import has_statement_shape

STATEMENTS = [
    "select name from users where id = $1",
    "select id from users",
    "select name from users",
    "select * from users",
    "select u.id, u.name from users u join orders o on o.uid = u.id",
    "select count(*) from users",
    "select id, name from users order by name",
    "select distinct email from accounts limit 10",
    "select a from b left outer join c on c.id = b.id",
    "select max(id) as top from events group by day",
    "select id from users where name like 'a%'",
    "select id from users where id in (1, 2)",
    "select id from users where deleted_at is null",
    "select id from users where ? ",
    "select 1",
    "select now()",
    "select pg_sleep(1)",
    "select case when x = 1 then 2 end as y from t where id = :id",
    "select id from (select id from users) x",
    "select id from users union all select id from admins",
    "select id from users for update",
    "select user_id from user_orders",
    "select id from users;",
    "Select Id From Users Where Id = 1",
    "(select id from users where a = 1)",
    "explain analyze select id from users where a = 1",
    "\n  select id\n  from users\n  where id = %s\n",
    "-- the newest\nselect id from users where a = 1",
    "/* newest */ select id from users where a = 1",
    'select "id" from "users" where "id" = ?',
    "insert into users (a) values (1)",
    "insert into users values ($1, $2)",
    "insert into users (a, b) select a, b from old_users",
    "insert into users (a, b)",
    "insert or ignore into users (a) values (?)",
    "insert into users default values",
    "replace into users (a) values (1)",
    "update users set a = 1 where id = 2",
    "update users u set name = :name",
    "update {} set a = ?",
    "update users set (a, b) = (1, 2)",
    "delete from users where id = 1",
    "delete from user_sessions",
    "delete from users u using orders where u.id = 1",
    "delete from users;",
    "create table t (id int primary key)",
    "create table if not exists users (id uuid, name text)",
    "create temporary table t as select 1",
    "create unique index if not exists i on users (name)",
    "create or replace view v as select 1",
    "create extension if not exists pgcrypto",
    "create type mood as enum ('a')",
    "alter table users add column age int",
    "alter table users drop constraint c",
    "alter table users rename to people",
    "drop table if exists users",
    "drop table users",
    "truncate table users",
    "with a as (select 1) select * from a",
    "with recursive t(n) as (values (1)) select n from t",
    "merge into a using b on a.id = b.id",
    "pragma table_info(users)",
    "SELECT 1",
    "SELECT a FROM b",
]
SENTENCES = [
    "select now(",
    "Please select the users from the table where you set a flag",
    "Delete from favourites",
    "delete from favourites",
    "Select one from the list",
    "select one from the list",
    "select one from two",
    "update the set of users",
    "insert into the slot",
    "create table for two",
    "create table",
    "select all",
    "Select all from list",
    "with regard to your order (see below)",
    "with a view to (re)building as (planned)",
    "Choose select from menu, then update set",
    "Select an item from the list",
    "select file(s) from disk",
    "select item(s)",
    "Select * from the menu",
    "select from cache failed",
    "select a thing from the list",
    "Select your country from the dropdown, or type it",
    "Select name from users",
    "Select red, green from palette",
    "Select users from which you want to copy",
    "select option from menu",
    "select {n} from the list where {x}",
    "Select a  ?  from the list where  ? ",
    "Select rows from the table where the value is shown",
    "Select 1",
    "select 2",
    "update queue set %s",
    "Update of set %s done",
    "Update set",
    "Update user settings",
    "update available: %s -> %s",
    "update the settings",
    "update failed, set debug = true to see why",
    "Update your profile and set a password",
    "insert into slot",
    "insert into slot (see manual)",
    "Insert into users failed: %s",
    "Insert coin (1) to continue",
    "delete from cart?",
    "Delete from users where needed to free space",
    "delete from the list (cannot be undone)",
    "delete user %s",
    "Delete: remove from disk",
    "create table layout (two columns)",
    "create index of all pages (slow)",
    "create user %s",
    "create view for printing",
    "create a table (id) for this",
    "alter table settings as you like",
    "alter table",
    "drop table service",
    "drop files here",
    "drop index finger",
    "truncate table names after 20 characters",
    "merge into main, then push",
    "replace into the original (or a copy)",
    "with love from us",
    "with (some) luck",
    "pragma once",
    "select",
    "",
    "UPDATE failed, nothing to SELECT ",
    "SELECT an option from the menu",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_statement_is_detected_in_any_case(text: str) -> None:
    assert (may_begin_sql(text.encode()), is_sql(text, is_asked=False)) == (True, True)
    assert is_sql(text.upper(), is_asked=False)


@pytest.mark.parametrize("text", SENTENCES)
def test_sentence_is_not_sql(text: str) -> None:
    assert not is_sql(text, is_asked=False)


@pytest.mark.parametrize("name", ["exec", "execute", "executemany", "fetch_all", "$queryRaw", "text"])
def test_functions_that_run_sql_are_recognized(name: str) -> None:
    assert runs_sql(name)


PIECES = st.sampled_from(
    [
        "select",
        "insert",
        "into",
        "from",
        "update",
        "set",
        "delete",
        "where",
        "create",
        "table",
        "with",
        "as",
        "(",
        ")",
        ",",
        ";",
        "=",
        "?",
        "{}",
        "%s",
        "*",
        "'",
        '"',
        "users",
        "id",
        "the",
        "in",
        "is",
        "not",
        "join",
        "on",
        "order",
        "by",
        "values",
        "union",
        "/*",
        "--",
        "`",
    ]
)


@given(st.lists(PIECES, max_size=40))
def test_arbitrary_words_are_classified(words: list[str]) -> None:
    assert has_statement_shape(" ".join(words)) in (True, False)


@pytest.mark.parametrize(
    "text", ["select " + "(" * 30_000, "select /*" * 9_000, "select '" * 9_000, "(" * 50_000]
)
def test_hostile_text_is_classified_quickly(text: str) -> None:
    assert not is_sql(text, is_asked=False)
