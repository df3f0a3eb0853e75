"""What people write about skills at the command line, and what is understood."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import ForgeError, Invalid, NotFound
from forge.skills.cli.arguments import (
    HerePlace,
    ListedPlace,
    bot_path,
    merged,
    read_capabilities,
    read_grants,
    read_settings,
    read_source,
    skill_path,
)
from forge.skills.models import Capability, GitSource, GrantWish, Scope


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ("https://host/o/r.git", GitSource(url="https://host/o/r.git")),
        ("https://host/o/r.git@v1", GitSource(url="https://host/o/r.git", ref="v1")),
        ("https://host/o/r#skills/pdf/", GitSource(url="https://host/o/r", path="skills/pdf")),
        (
            "https://host/o/r.git@v1#skills/pdf",
            GitSource(url="https://host/o/r.git", ref="v1", path="skills/pdf"),
        ),
        ("https://host/@o/r@feature/x", GitSource(url="https://host/@o/r", ref="feature/x")),
        ("https://user@host/o/r", GitSource(url="https://user@host/o/r")),
        ("ssh://git@host:22/o/r.git@main", GitSource(url="ssh://git@host:22/o/r.git", ref="main")),
        ("git@host:o/r.git", GitSource(url="git@host:o/r.git")),
        ("git@host:o/r.git@v2#a", GitSource(url="git@host:o/r.git", ref="v2", path="a")),
        ("file:///srv/r.git@1.0", GitSource(url="file:///srv/r.git", ref="1.0")),
    ],
)
def test_an_address_is_a_repository(given: str, place: GitSource):
    assert read_source(given) == place


@pytest.mark.parametrize("given", [".", "..", "./pdf", "a/b", "/srv/pdf", "pack.zip", "Pack.ZIP", ".hidden"])
def test_what_looks_like_a_path_is_one(given: str):
    assert read_source(given) == HerePlace(Path(given))


def test_the_home_folder_is_known():
    assert read_source("~/pdf") == HerePlace(Path.home() / "pdf")


def test_bare_name_is_a_registry_skill_even_if_a_folder_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "pdf").mkdir()
    monkeypatch.chdir(tmp_path)
    assert read_source("pdf") == ListedPlace("pdf")
    assert read_source("acme:pdf") == ListedPlace("pdf", "acme")
    assert read_source("acme:pdf@1.2.0-rc.1") == ListedPlace("pdf", "acme", "1.2.0-rc.1")


@pytest.mark.parametrize(
    "given", ["", "PDF", "a b", "acme:", "pdf@", "a--b", "https://host/a/b.zip", "a:b:c"]
)
def test_what_is_none_of_them_is_refused(given: str):
    with pytest.raises(Invalid):
        read_source(given)


@given(st.text(max_size=60))
def test_whatever_is_written_is_understood_or_refused(text: str):
    lists = [lambda given: read_grants([given]), lambda given: read_settings([given])]
    for read in (read_source, *lists, read_capabilities, skill_path, bot_path):
        try:
            read(text)
        except ForgeError as error:
            assert error.message


def test_grants_are_read_with_and_without_a_scope():
    assert read_grants(["kv,http_get=a.example.com", "http_get=b.example.com", "get_secret"]) == {
        Capability.KV: None,
        Capability.HTTP_GET: Scope(hosts=["a.example.com", "b.example.com"]),
        Capability.GET_SECRET: None,
    }


def test_a_value_after_a_comma_goes_on_with_the_capability_before_it():
    assert read_grants(["read_file=/srv/a,/srv/b,kv"]) == {
        Capability.READ_FILE: Scope(roots=["/srv/a", "/srv/b"]),
        Capability.KV: None,
    }
    assert read_grants(["exec_command=git,jq"]) == {Capability.EXEC_COMMAND: Scope(names=["git", "jq"])}


@pytest.mark.parametrize(
    "given",
    [
        "fly",
        "fly=x",
        "kv=x",
        "log=x",
        "recall_memory=x",
        "read_file=relative",
        "http_get=no/path",
        "kv,x",
        "x,kv",
        "get_secret=a b",
        "http_get=a.example.com,b=c",
        "read_env==",
        "=x",
        "HTTP_GET",
    ],
)
def test_invalid_grant_is_refused(given: str):
    with pytest.raises(Invalid) as refused:
        read_grants([given])
    assert refused.value.hint


def test_of_several_grants_of_one_capability_all_count():
    http = [
        GrantWish(capability=Capability.HTTP_GET, scope=Scope(hosts=[host]))
        for host in ("b.org", "a.org", "b.org")
    ]
    assert merged([GrantWish(capability=Capability.KV), *http]) == [
        GrantWish(capability=Capability.HTTP_GET, scope=Scope(hosts=["b.org", "a.org"])),
        GrantWish(capability=Capability.KV),
    ]


def test_capability_list_accepts_names_and_all():
    assert read_capabilities("kv, http_get,kv") == [Capability.KV, Capability.HTTP_GET]
    assert read_capabilities("all") == []
    for wrong in ("", ",", "fly", "all,kv", "kv=x"):
        with pytest.raises(Invalid):
            read_capabilities(wrong)


def test_a_setting_has_a_name_and_perhaps_a_value():
    told = read_settings(["region=alpine", "query=a=b", "gone="])
    assert told == {"region": "alpine", "query": "a=b", "gone": ""}
    for wrong in ("region", "=x", ""):
        with pytest.raises(Invalid):
            read_settings([wrong])


@pytest.mark.parametrize("name", ["", "../bots", "a/b", "A", "a?b", "a%2fb", "a\n"])
def test_a_name_never_becomes_another_path_of_the_api(name: str):
    for path in (skill_path, bot_path):
        if path is bot_path and name == "A":
            continue
        with pytest.raises(NotFound):
            path(name)


def test_unknown_home_folder_is_an_ordinary_name():
    assert read_source("~nobody-has-this-name/skill") == HerePlace(Path("~nobody-has-this-name/skill"))
