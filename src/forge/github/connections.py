"""The GitHub token of an account: from signing in, the device flow, or a token that the person created."""

from collections.abc import Callable
from datetime import datetime

from pydantic import SecretStr

from forge.accounts.identities import IdentityRow, find_identity, upsert_identity
from forge.accounts.members import find_active_account
from forge.accounts.models import GithubIdentity
from forge.accounts.vault import Vault
from forge.errors import Conflict, ForgeError, Invalid, NotFound
from forge.github.client import GITHUB, Github, OauthApp, OauthError
from forge.github.models import (
    ABILITY_TEXTS,
    Ability,
    DeviceCode,
    DeviceProgress,
    GithubConfiguration,
    GithubConnection,
    Grant,
    TokenKind,
)
from forge.github.sign_in import SCOPE, TOKEN_NAME, TOKEN_SCOPE, SignIn
from forge.kernel.clock import now
from forge.store.database import Store

_BY_SCOPE: dict[Ability, frozenset[str]] = {
    Ability.READ_ORGANIZATIONS: frozenset({"read:org", "write:org", "admin:org"}),
    Ability.LIST_REPOSITORIES: frozenset({"repo", "public_repo"}),
    Ability.READ_CODE: frozenset({"repo", "public_repo"}),
    Ability.PUSH: frozenset({"repo", "public_repo"}),
    Ability.WEBHOOKS: frozenset({"admin:repo_hook", "write:repo_hook"}),
    Ability.STATUSES: frozenset({"repo", "repo:status"}),
    Ability.CREATE_REPOSITORIES: frozenset({"repo", "public_repo"}),
}
"""Any one of these scopes of a classic or OAuth token is enough."""
_NO_COMMIT = "0" * 40
_POLL_SLOWER = frozenset({"authorization_pending", "slow_down"})


class Connections:
    def __init__(
        self,
        database: Store,
        vault: Vault,
        github: Github,
        app: OauthApp | None,
        sign_in: SignIn,
        *,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._database = database
        self._vault = vault
        self._github = github
        self._app = app
        self._sign_in = sign_in
        self._clock = clock

    def configuration(self) -> GithubConfiguration:
        return GithubConfiguration(
            url=self._github.url,
            can_sign_in=self._app is not None and self._app.client_secret is not None,
            can_use_device_flow=self._app is not None,
        )

    async def token(self, account_id: str) -> SecretStr:
        """Return the token that acts for an account."""
        token = await self._vault.of(account_id).reveal(TOKEN_NAME, TOKEN_SCOPE)
        if token is None:
            raise NotFound(
                "This account is not connected to GitHub.",
                hint="Connect it: Settings, GitHub, or forge github login.",
            )
        return token

    async def connection(self, account_id: str) -> GithubConnection:
        """Return the connection, and what GitHub allows right now."""
        found = GithubConnection(configuration=self.configuration())
        row = await self._row(account_id)
        if row is None:
            return found
        kind = _token_kind(row)
        found = found.model_copy(update={"identity": row.identity, "token_kind": kind})
        if kind is None:
            return found
        try:
            grants = await self._grants(await self.token(account_id))
        except ForgeError as error:
            return found.model_copy(update={"problem": error.message})
        return found.model_copy(update={"grants": grants})

    async def identity(self, account_id: str) -> GithubIdentity | None:
        row = await self._row(account_id)
        return row.identity if row else None

    async def use_token(
        self, account_id: str, token: SecretStr, kind: TokenKind = "personal"
    ) -> GithubConnection:
        """Check a token at GitHub and keep it. Nothing is stored if GitHub rejects it."""
        if not token.get_secret_value().isascii() or not token.get_secret_value().isprintable():
            raise Invalid("This is not a GitHub token.", field="token")
        identity, _ = await self._github.user(token)
        async with self._database.begin() as tx:
            account = await find_active_account(tx, account_id)
            await self._sign_in.store_identity(tx, account, identity, token, kind)
        return await self.connection(account_id)

    async def disconnect(self, account_id: str) -> GithubConnection:
        """Delete the token. The GitHub user stays linked, so that a member can still sign in."""
        row = await self._row(account_id)
        if row is None or row.token_kind is None:
            raise Conflict("This account is not connected to GitHub.")
        async with self._database.begin() as tx:
            await upsert_identity(tx, account_id, row.identity, None, self._clock())
            await self._vault.of(account_id).discard(tx, TOKEN_NAME, TOKEN_SCOPE)
        return await self.connection(account_id)

    async def start_device_flow(self) -> DeviceCode:
        try:
            grant = await self._github.start_device_flow(self._device_app(), SCOPE)
        except OauthError as error:
            raise Conflict(
                f"GitHub refused: {error.description}", hint="Enable the device flow of the OAuth app."
            ) from error
        return DeviceCode(
            user_code=grant.user_code,
            verification_uri=grant.verification_uri,
            device_code=grant.device_code,
            interval_s=grant.interval_s,
            expires_in_s=grant.expires_in_s,
        )

    async def poll_device_flow(self, account_id: str, device_code: str) -> DeviceProgress:
        """Keep the token once the person has approved."""
        try:
            token = await self._github.poll_device_flow(self._device_app(), device_code)
        except OauthError as error:
            if error.code not in _POLL_SLOWER:
                raise Conflict(
                    f"GitHub refused: {error.description}", hint="Start again: forge github login"
                ) from error
            return DeviceProgress(interval_s=error.interval_s or 5)
        return DeviceProgress(connection=await self.use_token(account_id, token, "oauth"), interval_s=0)

    async def _row(self, account_id: str) -> IdentityRow | None:
        async with self._database.read() as tx:
            return await find_identity(tx, account_id=account_id)

    async def _grants(self, token: SecretStr) -> list[Grant]:
        _, scopes = await self._github.user(token)
        if scopes is None:
            granted = await self._probe(token)
        else:
            granted = {ability: not needed.isdisjoint(scopes) for ability, needed in _BY_SCOPE.items()}
        granted[Ability.READ_PROFILE] = True
        return [
            Grant(ability=ability, text=text, granted=granted.get(ability))
            for ability, text in ABILITY_TEXTS.items()
        ]

    async def _probe(self, token: SecretStr) -> dict[Ability, bool | None]:
        """Find out what a fine-grained token allows, which GitHub does not list.

        The requests that would write are incomplete: GitHub answers 422 to those it would allow.
        """
        allows = self._github.allows
        found: dict[Ability, bool | None] = {
            Ability.READ_ORGANIZATIONS: await allows("GET", "/user/memberships/orgs", token),
            Ability.LIST_REPOSITORIES: await allows("GET", "/user/repos?per_page=1", token),
            Ability.CREATE_REPOSITORIES: await allows("POST", "/user/repos", token, {}),
        }
        name = await self._repository(token) if found[Ability.LIST_REPOSITORIES] else None
        if name is None:
            return found
        repository = f"/repos/{name}"
        return found | {
            Ability.READ_CODE: await allows("GET", f"{repository}/commits?per_page=1", token),
            Ability.PUSH: await allows("POST", f"{repository}/git/blobs", token, {}),
            Ability.WEBHOOKS: await allows("POST", f"{repository}/hooks", token, {}),
            Ability.STATUSES: await allows("POST", f"{repository}/statuses/{_NO_COMMIT}", token, {}),
        }

    async def _repository(self, token: SecretStr) -> str | None:
        """Return a repository to try permissions on: the first that the user may push to."""
        async for repository in self._github.pages("/user/repos", token, {"sort": "updated"}):
            if repository.get("permissions", {}).get("push"):
                return repository["full_name"]
        return None

    def _device_app(self) -> OauthApp:
        if self._app is None:
            where = "" if self._github.url == GITHUB else f" at {self._github.url}"
            raise Conflict(
                "The device flow needs an OAuth app.",
                hint=f"Set GITHUB_CLIENT_ID, or create a fine-grained token{where} and save it: forge github login "
                "--token-stdin",
            )
        return self._app


def _token_kind(row: IdentityRow) -> TokenKind | None:
    match row.token_kind:
        case "oauth" | "personal" as kind:
            return kind
        case _:
            return None
