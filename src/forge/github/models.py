"""Public models of GitHub sign-in and of the connection of an account."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, Field, SecretStr

from forge.accounts.models import GithubIdentity

TokenKind = Literal["oauth", "personal"]


class GithubConfiguration(BaseModel):
    """What the login page needs to know."""

    url: str
    can_sign_in: bool
    """Whether an OAuth app is configured."""
    can_use_device_flow: bool


class RedirectUrl(BaseModel):
    redirect_url: str


class OauthCode(BaseModel):
    """What GitHub passed to the callback URL."""

    code: str = Field(min_length=1, max_length=500, repr=False)
    state: str = Field(min_length=1, max_length=500, repr=False)


class GithubUser(BaseModel):
    """The signed-in user in the shape of the protocol documents."""

    id: str
    github_login: str
    avatar_url: str


class SignedIn(BaseModel):
    """A bearer token for the API; shown only in this response."""

    token: str = Field(repr=False)
    user: GithubUser
    expires_at: datetime


class Ability(StrEnum):
    """What Forge can do on GitHub with a token."""

    READ_PROFILE = "read_profile"
    READ_ORGANIZATIONS = "read_organizations"
    LIST_REPOSITORIES = "list_repositories"
    READ_CODE = "read_code"
    PUSH = "push"
    WEBHOOKS = "webhooks"
    STATUSES = "statuses"
    CREATE_REPOSITORIES = "create_repositories"


ABILITY_TEXTS = {
    Ability.READ_PROFILE: "See who you are",
    Ability.READ_ORGANIZATIONS: "See your organizations",
    Ability.LIST_REPOSITORIES: "List your repositories",
    Ability.READ_CODE: "Read code",
    Ability.PUSH: "Push commits and branches",
    Ability.WEBHOOKS: "Install webhooks",
    Ability.STATUSES: "Set commit statuses",
    Ability.CREATE_REPOSITORIES: "Create repositories",
}


class Grant(BaseModel):
    ability: Ability
    text: str
    granted: bool | None
    """None if it cannot be determined, because the token reaches no repository to try it on."""


class GithubConnection(BaseModel):
    """How an account is connected to GitHub."""

    configuration: GithubConfiguration
    identity: GithubIdentity | None = None
    token_kind: TokenKind | None = None
    grants: list[Grant] = []
    problem: str | None = None
    """Why the stored token cannot be used, if so."""


class NewToken(BaseModel):
    token: SecretStr = Field(min_length=20, max_length=300)


class DeviceCode(BaseModel):
    """What a person enters at GitHub, and what the program polls with."""

    user_code: str
    verification_uri: str
    device_code: str = Field(repr=False)
    interval_s: int
    expires_in_s: int


class DevicePoll(BaseModel):
    device_code: str = Field(min_length=1, max_length=200, repr=False)


class DeviceProgress(BaseModel):
    """`connection` is null while the person has not decided."""

    connection: GithubConnection | None = None
    interval_s: int
