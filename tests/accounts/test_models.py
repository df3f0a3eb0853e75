import pytest
from pydantic import ValidationError

from forge.accounts.models import NewKey, NewSecret, Rename
from forge.http.scope import Scope


def test_new_key_has_write_scope_by_default():
    assert NewKey(name="CI") == NewKey(name=" CI ", scopes=[Scope.WRITE])


def test_scopes_are_deduplicated_and_ordered():
    given = [Scope.ADMIN, Scope.READ, Scope.ADMIN]
    assert NewKey(name="CI", scopes=given).scopes == [Scope.READ, Scope.ADMIN]


def test_key_without_scopes_is_rejected():
    with pytest.raises(ValidationError, match="at least 1 item"):
        NewKey(name="CI", scopes=[])


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\x00b", "a\u202eb", "a" * 101])
def test_display_name_must_be_short_and_printable(name: str):
    with pytest.raises(ValidationError):
        Rename(name=name)


@pytest.mark.parametrize("name", ["Ada", "Ada Lovelace", "Zoë", "山田", "a" * 100])
def test_display_name_may_use_any_script(name: str):
    assert Rename(name=f" {name} ").name == name


def test_rejected_secret_is_not_shown_in_the_error():
    with pytest.raises(ValidationError) as refused:
        NewSecret.model_validate({"value": "s3cret", "scope": "not a scope"})
    assert "s3cret" not in str(refused.value)
    assert "s3cret" not in repr(NewSecret.model_validate({"value": "s3cret"}))
