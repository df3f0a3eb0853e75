import pytest
from pydantic import ValidationError

from forge.accounts.models import NewKey, NewSecret, Rename, Role
from forge.http.scope import Scope


def test_a_new_key_may_write_unless_told_otherwise():
    assert NewKey(name="CI") == NewKey(name=" CI ", scopes=[Scope.WRITE])


def test_scopes_are_kept_once_and_in_order():
    given = [Scope.ADMIN, Scope.READ, Scope.ADMIN]
    assert NewKey(name="CI", scopes=given).scopes == [Scope.READ, Scope.ADMIN]


def test_a_key_without_any_scope_is_refused():
    with pytest.raises(ValidationError, match="at least 1 item"):
        NewKey(name="CI", scopes=[])


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\x00b", "a\u202eb", "a" * 101])
def test_a_name_is_short_and_visible(name: str):
    with pytest.raises(ValidationError):
        Rename(name=name)


@pytest.mark.parametrize("name", ["Ada", "Ada Lovelace", "Zoë", "山田", "a" * 100])
def test_a_name_may_be_in_any_script(name: str):
    assert Rename(name=f" {name} ").name == name


def test_a_refused_secret_is_not_shown():
    with pytest.raises(ValidationError) as refused:
        NewSecret.model_validate({"value": "s3cret", "scope": "not a scope"})
    assert "s3cret" not in str(refused.value)
    assert "s3cret" not in repr(NewSecret.model_validate({"value": "s3cret"}))


def test_a_member_may_not_administrate():
    assert {role: role.scopes for role in Role} == {
        Role.OWNER: {Scope.ADMIN},
        Role.MEMBER: {Scope.WRITE},
    }
