"""Claims as written by people and programs: any file name can be claimed."""

import io
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.audits.claims import read_claims, read_claims_option, resolve_claims, split_claims, write_claim
from forge.audits.models import AuditRequest
from forge.audits.snapshot import Claims
from forge.errors import Invalid

NAMES = st.binary(min_size=1, max_size=12).filter(
    lambda name: not {*b"/\0"} & {*name} and name not in (b".", b"..")
)
ODD = ["a,b.py", "a=>b.py", "a\\b.py", "caf\udce9.py", "a\nb.py", " a ", "@a", "-", "a\u3000", "\\", "\\x41"]


def meant(claims: list[str], *known: str) -> frozenset[str]:
    return resolve_claims(read_claims(AuditRequest(claimed_files=claims).claimed_files or []), known).files


@pytest.mark.parametrize("name", ODD)
def test_unusual_name_can_be_claimed_in_list(name: str):
    claims = split_claims(f"{write_claim(name)}, b.py")
    assert meant(claims, name, "b.py") == {name, "b.py"}


@given(names=st.sets(NAMES, min_size=1, max_size=4))
def test_arbitrary_names_can_be_claimed_in_one_text(names: set[bytes]):
    paths = {name.decode("utf-8", "surrogateescape") for name in names}
    try:
        assert meant(split_claims(",".join(map(write_claim, sorted(paths)))), *paths) == paths
    except Invalid:
        assert any(path.startswith("..\\") or "\\..\\" in path or path.endswith("\\..") for path in paths)


@pytest.mark.parametrize(
    ("claim", "path"),
    [
        ("caf\\xe9.py", "caf\udce9.py"),
        ("a\\x0ab.py", "a\nb.py"),
        ("a\\\\b.py", "a\\b.py"),
        ("a\\b.py", "a\\b.py"),
        ("app\\a.py", "app/a.py"),
        (".\\app\\x41.py", "app/x41.py"),
        ("caf\udce9.py", "caf\udce9.py"),
        ("d\\\\e/caf\udce9.py", "d\\\\e/caf\udce9.py"),
    ],
)
def test_backslash_is_resolved_to_known_name(claim: str, path: str):
    assert meant(split_claims(claim), path) == {path}


def test_claims_resolve_to_changed_files_first():
    claims = Claims(frozenset({"a\\x41"}), {"a\\x41": "b\\\\c"})
    assert resolve_claims(claims, {"a/x41"}, {"aA"}) == Claims(frozenset({"a/x41"}), {"a/x41": "b/c"})


class TestClaimFiles:
    def test_each_line_is_a_claim(self, tmp_path: Path):
        listed = tmp_path / "claims.txt"
        listed.write_bytes(b"\xef\xbb\xbfa,b.py\r\n\n  \nold.py=>new.py\ncaf\xe9.py\nx\\x2cy.py")
        claims = read_claims_option(f"@{listed}")
        assert claims == ["a,b.py", "old.py=>new.py", "caf\\xe9.py", "x\\x2cy.py"]
        known = ["a,b.py", "old.py", "new.py", "caf\udce9.py", "x,y.py"]
        assert meant(claims, *known) == {*known}

    @given(names=st.sets(NAMES, min_size=2, max_size=4))
    def test_nul_terminated_names_are_read_literally(self, names: set[bytes]):
        paths = {name.decode("utf-8", "surrogateescape") for name in names}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                sys, "stdin", io.TextIOWrapper(io.BytesIO(b"".join(name + b"\0" for name in names)))
            )
            claims = read_claims_option("@-")
        if not any(".." in path.replace("\\", "/").split("/") for path in map(write_claim, paths)):
            assert meant(claims, *paths) == paths

    @pytest.mark.parametrize("name", ["no", "", "a\0b", "."])
    def test_missing_claims_file_is_reported(self, tmp_path: Path, name: str):
        before = Path.cwd()
        os.chdir(tmp_path)
        try:
            with pytest.raises(Invalid, match="Cannot read"):
                read_claims_option(f"@{name}")
        finally:
            os.chdir(before)

    def test_empty_claims_file_is_rejected(self, tmp_path: Path):
        (tmp_path / "empty").touch()
        with pytest.raises(Invalid, match="No file is claimed"):
            read_claims(read_claims_option(f"@{tmp_path / 'empty'}"))

    def test_split_claims_does_not_read_files(self, tmp_path: Path):
        (tmp_path / "secret").write_text("secret\n")
        assert split_claims(f"@{tmp_path / 'secret'}") == [f"@{tmp_path / 'secret'}"]
