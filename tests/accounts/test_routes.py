"""The routes with the real authenticator and simplified error handlers."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import SecretBytes

from forge.accounts.address import OwnAddress
from forge.accounts.bearer_tokens import BearerTokens
from forge.accounts.models import NewKey, owner_id
from forge.accounts.request_authentication import authenticate
from forge.accounts.routes import router
from forge.accounts.service import Accounts
from forge.accounts.tokens import csrf_token
from forge.accounts.vault import Vault
from forge.errors import ForgeError, Invalid
from forge.http.caller import Caller
from forge.http.envelope import failure
from forge.http.scope import Scope
from forge.store.database import Store

HOST = "localhost:8000"
ORIGIN = f"http://{HOST}"


def token_in(url: str) -> str:
    return url.partition("#token=")[2]


@pytest.fixture
async def app(accounts: Accounts) -> FastAPI:
    app = FastAPI()
    app.include_router(router)
    app.state.accounts = accounts
    app.state.authenticate = authenticate

    @app.exception_handler(ForgeError)
    async def fail(_request: Request, error: ForgeError) -> JSONResponse:
        return JSONResponse(failure([error]).model_dump(mode="json"), error.status)

    @app.exception_handler(RequestValidationError)
    async def refuse(_request: Request, error: RequestValidationError) -> JSONResponse:
        problems = [Invalid(problem["msg"]) for problem in error.errors()]
        return JSONResponse(failure(problems).model_dump(mode="json"), 422)

    return app


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url=f"http://{HOST}/api/v1") as client:
        yield client


@pytest.fixture
async def page(client: httpx2.AsyncClient, accounts: Accounts, sign_in) -> httpx2.AsyncClient:
    """A signed-in browser."""
    token = await sign_in()
    client.cookies.set("forge_session", token)
    client.headers |= {"Origin": ORIGIN, "X-CSRF-Token": csrf_token(token)}
    return client


async def with_key(client: httpx2.AsyncClient, accounts: Accounts, owner: Caller, scope: Scope) -> None:
    created = await accounts.create_key(owner, NewKey(name=scope.value, scopes=[scope]))
    client.headers["Authorization"] = f"Bearer {created.key}"


def data(response: httpx2.Response, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.json()["data"]


def code(response: httpx2.Response) -> tuple[int, str]:
    return response.status_code, response.json()["errors"][0]["code"]


async def test_link_opens_a_session_that_can_be_ended(client: httpx2.AsyncClient, accounts: Accounts):
    link = await accounts.create_login_link(owner_id())
    response = await client.post("/login", json={"token": token_in(link.url)})
    assert data(response) == (await accounts.account(owner_id())).model_dump(mode="json")
    token, csrf = client.cookies["forge_session"], client.cookies["forge_csrf"]
    assert csrf == csrf_token(token)
    assert response.headers.get_list("set-cookie") == [
        f"forge_session={token}; Path=/; Max-Age=2592000; SameSite=Lax; HttpOnly",
        f"forge_csrf={csrf}; Path=/; Max-Age=2592000; SameSite=Lax",
    ]
    assert data(await client.get("/me"))["method"] == "session"
    headers = {"Origin": ORIGIN, "X-CSRF-Token": csrf}
    assert data(await client.post("/logout", headers=headers)) is None
    assert dict(client.cookies) == {}
    assert code(await client.get("/me")) == (401, "unauthenticated")


async def test_used_link_is_gone_and_unknown_link_is_unauthenticated(
    client: httpx2.AsyncClient, accounts: Accounts, link_token
):
    token = await link_token()
    data(await client.post("/login", json={"token": token}))
    assert code(await client.post("/login", json={"token": token})) == (410, "gone")
    assert code(await client.post("/login", json={"token": "nonsense"})) == (401, "unauthenticated")


async def test_cookies_are_secure_if_the_public_url_is_https(
    app: FastAPI, client: httpx2.AsyncClient, store: Store, vaults: Vault, vault_key: SecretBytes, clock
):
    address = OwnAddress("127.0.0.1", 8000, "forgehost", "https://forge.example.com")
    app.state.accounts = accounts = Accounts(
        store, vaults, address, BearerTokens(vault_key), session_days=1, clock=clock
    )
    link = await accounts.create_login_link(owner_id())
    response = await client.post("/login", json={"token": token_in(link.url)})
    assert link.url.startswith("https://forge.example.com/login#")
    assert ["; Secure" in cookie for cookie in response.headers.get_list("set-cookie")] == [True, True]


async def test_cookies_are_secure_if_the_request_is_https(client: httpx2.AsyncClient, accounts: Accounts):
    link = await accounts.create_login_link(owner_id())
    body = {"token": token_in(link.url)}
    response = await client.post(f"https://{HOST}/api/v1/login", json=body)
    assert ["; Secure" in cookie for cookie in response.headers.get_list("set-cookie")] == [True, True]


async def test_own_page_can_change_data_and_foreign_page_cannot(page: httpx2.AsyncClient):
    assert data(await page.patch("/me", json={"name": " Ada "}))["name"] == "Ada"
    for headers in ({"Origin": "https://evil.example"}, {"X-CSRF-Token": "0"}):
        assert code(await page.patch("/me", json={"name": "Eve"}, headers=headers)) == (403, "denied")
    rebound = {"Host": "evil.example:8000", "Origin": "http://evil.example:8000"}
    assert code(await page.patch("/me", json={"name": "Eve"}, headers=rebound)) == (403, "denied")
    assert data(await page.get("/me"))["account"]["name"] == "Ada"


async def test_rotated_token_is_passed_to_the_middleware_except_after_logout(
    app: FastAPI, page: httpx2.AsyncClient, clock
):
    left: list[str | None] = []

    @app.middleware("http")
    async def remember(request: Request, call_next: Any) -> Any:
        response = await call_next(request)
        left.append(request.state.new_session_token)
        return response

    data(await page.get("/me"))
    clock.advance(hours=2)
    data(await page.get("/me"))
    data(await page.post("/logout"))
    assert [token is not None for token in left] == [False, True, False]


async def test_api_key_lifecycle_over_http(page: httpx2.AsyncClient):
    created = data(await page.post("/keys", json={"name": "CI", "scopes": ["read"]}), 201)
    credentials = created["api_key"]
    assert data(await page.get("/keys")) == [credentials]
    me = await page.get("/me", headers={"X-API-Key": created["key"]})
    assert (data(me)["scopes"], data(me)["method"]) == (["read"], "api_key")
    assert data(await page.delete(f"/keys/{credentials['id']}"))["revoked_at"] is not None
    assert code(await page.delete(f"/keys/{credentials['id']}")) == (409, "conflict")
    assert code(await page.delete("/keys/%00")) == (404, "not_found")
    assert code(await page.get("/me", headers={"X-API-Key": created["key"]})) == (401, "unauthenticated")


async def test_secret_lifecycle_over_http(page: httpx2.AsyncClient, accounts: Accounts, clock):
    credentials = {
        "name": "API_KEY",
        "scope": "bot:atlas",
        "last_four": "abcd",
        "updated_at": clock.at.isoformat().replace("+00:00", "Z"),
        "source": "vault",
    }
    body = {"value": "sk-plaintext-abcd", "scope": "bot:atlas"}
    answers = [
        await page.put("/secrets/API_KEY", json=body),
        await page.get("/secrets"),
        await page.get("/secrets", params={"scope": "bot:atlas"}),
        await page.get("/secrets", params={"scope": ""}),
    ]
    assert [data(response) for response in answers] == [credentials, [credentials], [credentials], []]
    assert (
        await accounts.vault.of(owner_id()).resolve("API_KEY", "bot:atlas")
    ).get_secret_value() == "sk-plaintext-abcd"
    assert code(await page.delete("/secrets/API_KEY")) == (404, "not_found")
    removed = await page.delete("/secrets/API_KEY", params={"scope": "bot:atlas"})
    assert data(removed) == credentials
    assert "plaintext" not in "".join(response.text for response in [*answers, removed])


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/secrets/1BAD", {"value": "x"}),
        ("PUT", "/secrets/GOOD", {"value": ""}),
        ("PUT", "/secrets/GOOD", {"value": "x" * 65_537}),
        ("PUT", "/secrets/GOOD", {"value": "x", "scope": "nonsense"}),
        ("DELETE", "/secrets/GOOD?scope=nonsense", None),
        ("POST", "/keys", {"name": "CI", "scopes": []}),
        ("POST", "/keys", {"name": "CI", "scopes": ["root"]}),
        ("PATCH", "/me", {"name": "a\nb"}),
        ("POST", "/login", {"token": ""}),
    ],
)
async def test_invalid_body_is_rejected(page: httpx2.AsyncClient, method: str, path: str, body: Any):
    assert code(await page.request(method, path, json=body)) == (422, "invalid")


@pytest.mark.parametrize(
    ("method", "path", "field"),
    [
        ("PUT", "/secrets/GOOD", "value"),
        ("POST", "/login", "token"),
        ("PATCH", "/me", "name"),
        ("POST", "/keys", "name"),
    ],
)
async def test_unpaired_surrogate_is_rejected(page: httpx2.AsyncClient, method: str, path: str, field: str):
    body = f'{{"{field}": "abc\\ud800"}}'
    response = await page.request(method, path, content=body, headers={"Content-Type": "application/json"})
    assert code(response) == (422, "invalid")


READ, WRITE, ADMIN = Scope.READ, Scope.WRITE, Scope.ADMIN


@pytest.mark.parametrize(
    ("method", "path", "body", "needs"),
    [
        ("GET", "/me", None, READ),
        ("PATCH", "/me", {"name": "Ada"}, WRITE),
        ("GET", "/keys", None, READ),
        ("POST", "/keys", {"name": "CI", "scopes": ["read"]}, WRITE),
        ("POST", "/keys", {"name": "CI", "scopes": ["admin"]}, ADMIN),
        ("DELETE", "/keys/nope", None, WRITE),
        ("POST", "/login-links", None, ADMIN),
        ("GET", "/secrets", None, READ),
        ("PUT", "/secrets/KEY", {"value": "x"}, ADMIN),
        ("DELETE", "/secrets/KEY", None, ADMIN),
    ],
)
@pytest.mark.parametrize("scope", Scope)
async def test_route_requires_its_scope(
    client: httpx2.AsyncClient,
    accounts: Accounts,
    owner: Caller,
    method: str,
    path: str,
    body: Any,
    needs: Scope,
    scope: Scope,
):
    assert code(await client.request(method, path, json=body)) == (401, "unauthenticated")
    await with_key(client, accounts, owner, scope)
    response = await client.request(method, path, json=body)
    assert (response.status_code == 403) is (needs not in scope.included)


async def test_logout_with_a_key_is_rejected(client: httpx2.AsyncClient, accounts: Accounts, owner: Caller):
    await with_key(client, accounts, owner, Scope.READ)
    assert code(await client.post("/logout")) == (409, "conflict")


async def test_login_link_created_over_http_opens_a_session(
    client: httpx2.AsyncClient, accounts: Accounts, clock
):
    client.headers["X-API-Key"] = await accounts.replace_local_key("laptop")
    link = data(await client.post("/login-links"), 201)
    assert link["url"].startswith(f"http://{HOST}/login#")
    assert link["expires_at"] == "2030-01-01T12:15:00Z"
    assert data(await client.post("/login", json={"token": token_in(link["url"])}))["id"] == owner_id()
