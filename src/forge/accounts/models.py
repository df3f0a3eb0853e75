"""Public models of accounts, keys and secrets. None of them contains a stored secret or a hash of a token."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    model_validator,
)

from forge.errors import Invalid
from forge.http.scope import CallerMethod, Scope
from forge.kernel.ids import derived_id

NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_.-]{0,127}$"
SCOPE_PATTERN = r"^([a-z]+:[A-Za-z0-9_-]{1,64})?$"
"""The owner of a secret, like `bot:atlas`; empty for secrets shared by all."""
MAX_SECRET_LENGTH = 65_536


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must not contain line breaks or other invisible characters")
    return text


def _distinct(scopes: list[Scope]) -> list[Scope]:
    return [scope for scope in Scope if scope in scopes]


def check_secret_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN, name):
        raise Invalid(
            "The name of a secret may contain letters, digits and _ . - (at most 128 characters).",
            field="name",
        )


def check_secret_value(value: str) -> None:
    if not 1 <= len(value) <= MAX_SECRET_LENGTH:
        raise Invalid(f"A secret must have 1 to {MAX_SECRET_LENGTH} characters.", field="value")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise Invalid("A secret must be valid text: this one contains an unpaired surrogate.", field="value")


DisplayName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
    AfterValidator(_printable),
]
SecretName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
SecretScope = Annotated[str, StringConstraints(pattern=SCOPE_PATTERN)]


def owner_id() -> str:
    """Return the fixed id of the owner: two concurrent first starts cannot create two owners."""
    return derived_id("account", "owner")


def is_owner(account_id: str) -> bool:
    return account_id == owner_id()


class Role(StrEnum):
    OWNER = "owner"
    MEMBER = "member"


class Account(BaseModel):
    id: str
    name: str
    role: Role
    created_at: datetime


class Me(BaseModel):
    """The caller's account, and the scopes of the credential used."""

    account: Account
    scopes: list[Scope]
    method: CallerMethod


class ApiKey(BaseModel):
    """An API key's public data; the key itself is shown only once, when created."""

    id: str
    name: str
    scopes: list[Scope]
    hint: str
    created_at: datetime
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


class CreatedKey(BaseModel):
    """A new key: the only response that contains the key itself."""

    key: str = Field(repr=False)
    api_key: ApiKey


class GithubIdentity(BaseModel):
    """The GitHub user an account signs in as."""

    github_id: int
    login: str
    avatar_url: str


class Member(BaseModel):
    """An account as the owner of the server sees it."""

    account: Account
    github_login: str | None
    removed_at: datetime | None


class Invitation(BaseModel):
    id: str
    github_login: str | None
    """The only GitHub user who can use it."""
    organizations: list[str]
    """Every member of one of these GitHub organizations can use it."""
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None
    revoked_at: datetime | None = None


class CreatedInvitation(BaseModel):
    """A new invitation: the only response that contains its link."""

    url: str = Field(repr=False)
    invitation: Invitation


GithubLogin = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})$")]


class NewInvitation(BaseModel):
    """For one GitHub user, or for the members of organizations."""

    github_login: GithubLogin | None = None
    organizations: list[GithubLogin] = Field(default=[], max_length=20)

    @model_validator(mode="after")
    def _has_one_kind(self) -> Self:
        if (self.github_login is None) == (not self.organizations):
            raise ValueError("name either a GitHub login or organizations")
        return self


class LoginLink(BaseModel):
    """A link that opens one session."""

    url: str = Field(repr=False)
    expires_at: datetime


class SecretView(BaseModel):
    """A secret's public data; `updated_at` is null for a secret from the environment."""

    name: str
    scope: str
    last_four: str
    updated_at: datetime | None
    source: Literal["vault", "environment"]


class Login(BaseModel):
    token: str = Field(min_length=1, max_length=200, repr=False)


class Rename(BaseModel):
    name: DisplayName


class NewKey(BaseModel):
    name: DisplayName
    scopes: Annotated[list[Scope], Field(min_length=1), AfterValidator(_distinct)] = [Scope.WRITE]


class NewSecret(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    value: SecretStr = Field(min_length=1, max_length=MAX_SECRET_LENGTH)
    scope: SecretScope = ""
