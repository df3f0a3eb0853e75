"""The client of GitHub's REST API and OAuth endpoints. Works alike with GitHub, GitHub Enterprise and the test double."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
from pydantic import SecretStr

from forge.accounts.models import GithubIdentity
from forge.github.errors import GithubDenied, GithubRateLimited, GithubTokenRejected, GithubUnavailable

TIMEOUT_S = 10.0
GITHUB = "https://github.com"
API_VERSION = "2022-11-28"
PAGE = 100
MAX_PAGES = 50
MAX_RETRY_AFTER_S = 3600
_BAD_CREDENTIALS = 401
_HIDDEN = (403, 404)


@dataclass(frozen=True)
class DeviceGrant:
    device_code: str = field(repr=False)
    user_code: str
    verification_uri: str
    interval_s: int
    expires_in_s: int


@dataclass(frozen=True)
class OauthApp:
    client_id: str
    client_secret: SecretStr | None


class OauthError(Exception):
    """GitHub refused an OAuth request; `code` is GitHub's, such as `bad_verification_code`."""

    def __init__(self, code: str, description: str, interval_s: int | None = None) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.interval_s = interval_s


class Github:
    """One GitHub server. Every method takes the token it acts with; none is kept."""

    def __init__(self, url: str, *, timeout_s: float = TIMEOUT_S) -> None:
        self.url = url.rstrip("/")
        self.api = "https://api.github.com" if self.url == GITHUB else f"{self.url}/api/v3"
        self._http = httpx2.AsyncClient(timeout=timeout_s, trust_env=True, follow_redirects=False)

    async def close(self) -> None:
        await self._http.aclose()

    async def user(self, token: SecretStr) -> tuple[GithubIdentity, frozenset[str] | None]:
        """Return the user of a token, and the token's scopes; None for tokens with permissions instead."""
        response = await self._call("GET", "/user", token)
        user = response.json()
        identity = GithubIdentity(github_id=user["id"], login=user["login"], avatar_url=user["avatar_url"])
        scopes = response.headers.get("x-oauth-scopes")
        return identity, None if scopes is None else frozenset(
            filter(None, map(str.strip, scopes.split(",")))
        )

    async def organizations(self, token: SecretStr) -> list[str]:
        """Return the logins of the organizations of which the user is an active member."""
        found = self.pages("/user/memberships/orgs", token, {"state": "active"})
        return [membership["organization"]["login"] async for membership in found]

    async def pages(
        self, path: str, token: SecretStr, params: Mapping[str, str] | None = None
    ) -> AsyncIterator[Any]:
        """Yield the items of all pages of a list."""
        for page in range(1, MAX_PAGES + 1):
            query = {**(params or {}), "per_page": str(PAGE), "page": str(page)}
            response = await self._call("GET", path, token, params=query)
            for item in response.json():
                yield item
            if "next" not in response.links:
                return

    async def allows(self, method: str, path: str, token: SecretStr, body: object = None) -> bool:
        """Return whether GitHub lets the token make a request. Used with bodies that cannot change anything."""
        response = await self._send(method, f"{self.api}{path}", token, json=body)
        self._raise_for_outage(response)
        return response.status_code not in (_BAD_CREDENTIALS, *_HIDDEN)

    def authorize_url(
        self, app: OauthApp, *, state: str, challenge: str, redirect_uri: str, scope: str
    ) -> str:
        query = httpx2.QueryParams(
            {
                "client_id": app.client_id,
                "redirect_uri": redirect_uri,
                "scope": scope,
                "state": state,
                "code_challenge": challenge,
                "code_challenge_method": "S256",
            }
        )
        return f"{self.url}/login/oauth/authorize?{query}"

    async def exchange(
        self, app: OauthApp, *, code: str, verifier: SecretStr, redirect_uri: str
    ) -> SecretStr:
        """Exchange the code of the web flow for a token."""
        found = await self._oauth(
            "/login/oauth/access_token",
            {
                "client_id": app.client_id,
                "client_secret": app.client_secret.get_secret_value() if app.client_secret else "",
                "code": code,
                "code_verifier": verifier.get_secret_value(),
                "redirect_uri": redirect_uri,
            },
        )
        return SecretStr(found["access_token"])

    async def start_device_flow(self, app: OauthApp, scope: str) -> DeviceGrant:
        found = await self._oauth("/login/device/code", {"client_id": app.client_id, "scope": scope})
        return DeviceGrant(
            found["device_code"],
            found["user_code"],
            found["verification_uri"],
            found["interval"],
            found["expires_in"],
        )

    async def poll_device_flow(self, app: OauthApp, device_code: str) -> SecretStr:
        """Return the token once the person has approved. Raises `OauthError` with `authorization_pending` before."""
        found = await self._oauth(
            "/login/oauth/access_token",
            {
                "client_id": app.client_id,
                "device_code": device_code,
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
            },
        )
        return SecretStr(found["access_token"])

    async def _oauth(self, path: str, form: Mapping[str, str]) -> dict[str, Any]:
        response = await self._send("POST", f"{self.url}{path}", None, data=dict(form))
        self._raise_for_outage(response)
        try:
            found: dict[str, Any] = response.json()
        except ValueError as error:
            raise GithubUnavailable("GitHub's answer cannot be read.", hint=self._hint) from error
        if "error" in found:
            description = str(found.get("error_description") or found["error"])
            raise OauthError(str(found["error"]), description, found.get("interval"))
        return found

    async def _call(
        self, method: str, path: str, token: SecretStr, *, params: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        response = await self._send(method, f"{self.api}{path}", token, params=params)
        self._raise_for_outage(response)
        if response.status_code == _BAD_CREDENTIALS:
            raise GithubTokenRejected(
                "GitHub rejected the token: it was revoked or has expired.",
                hint="Connect again: Settings, GitHub, or forge github login.",
            )
        if response.is_error:
            raise GithubDenied(
                f"GitHub refused {method} {path}: {_message(response)}",
                hint="The token may lack a permission; Settings, GitHub shows what it allows.",
            )
        return response

    async def _send(self, method: str, url: str, token: SecretStr | None, **content: Any) -> httpx2.Response:
        headers = {"Accept": "application/json", "X-GitHub-Api-Version": API_VERSION}
        if token is not None:
            headers |= {
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {token.get_secret_value()}",
            }
        try:
            return await self._http.request(method, url, headers=headers, **content)
        except httpx2.HTTPError as error:  # not chained: the request holds the token
            raise GithubUnavailable(
                f"GitHub ({self.url}) cannot be reached: {type(error).__name__}.", hint=self._hint
            ) from None

    def _raise_for_outage(self, response: httpx2.Response) -> None:
        if response.status_code >= 500:
            raise GithubUnavailable(f"GitHub failed with {response.status_code}.", hint=self._hint)
        is_limited = response.status_code == 429 or (
            response.status_code == 403
            and ("retry-after" in response.headers or response.headers.get("x-ratelimit-remaining") == "0")
        )
        if is_limited:
            wait = int(response.headers.get("retry-after", "60"))
            raise GithubRateLimited(
                "GitHub's rate limit for this token is used up.", retry_after_s=min(wait, MAX_RETRY_AFTER_S)
            )

    @property
    def _hint(self) -> str:
        return "Try again in a minute. If it goes on, check FORGE_GITHUB_URL and the network of this server."


def _message(response: httpx2.Response) -> str:
    try:
        return str(response.json()["message"])
    except (ValueError, KeyError, TypeError):
        return f"status {response.status_code}"
