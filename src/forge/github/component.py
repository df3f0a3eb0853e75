"""Build the services of GitHub from the settings."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from forge.accounts.bearer_tokens import BearerTokens
from forge.accounts.vault import Vault
from forge.config import Settings
from forge.github.client import Github, OauthApp
from forge.github.connections import Connections
from forge.github.sign_in import SignIn
from forge.store.database import Store


@dataclass(frozen=True)
class GithubServices:
    client: Github
    sign_in: SignIn
    connections: Connections
    bearer: BearerTokens


@asynccontextmanager
async def open_github(
    settings: Settings, store: Store, vault: Vault, bearer: BearerTokens
) -> AsyncGenerator[GithubServices]:
    app = None
    if settings.github_client_id is not None:
        app = OauthApp(settings.github_client_id, settings.github_client_secret)
    client = Github(settings.github_url)
    sign_in = SignIn(store, vault, client, app, session_days=settings.session_days)
    try:
        yield GithubServices(client, sign_in, Connections(store, vault, client, app, sign_in), bearer)
    finally:
        await client.close()
