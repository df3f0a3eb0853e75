"""Authorization of OAuth apps: web flow with PKCE, device flow, and revoking tokens."""

import hashlib
import hmac
import html
import re
import secrets
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from forge.demo.github.api import Call, Endpoint, Reply, not_found
from forge.demo.github.world import Account, JsonObject, OAuthApp, Token, TokenKind, World, implied_by

CODE_LIFETIME = timedelta(minutes=10)
DEVICE_LIFETIME = timedelta(minutes=15)
DEVICE_INTERVAL_S = 5
SLOW_DOWN_S = 5
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_JSON = TypeAdapter(dict[str, str])
_ERRORS = {
    "bad_verification_code": "The code passed is incorrect or expired.",
    "incorrect_client_credentials": "The client_id and/or client_secret passed are incorrect.",
    "redirect_uri_mismatch": "The redirect_uri MUST match the registered callback URL for this application.",
    "access_denied": "The user has denied your application access.",
    "authorization_pending": "The authorization request is still pending.",
    "slow_down": "Too many requests have been made in the same timeframe.",
    "expired_token": "The `device_code` has expired.",
    "incorrect_device_code": "The device_code provided is not valid.",
    "device_flow_disabled": "Device Flow must be explicitly enabled for this App",
    "unsupported_grant_type": f"The grant type must be {DEVICE_GRANT}",
}
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title} · GitHub double</title>
<style>body{{font:16px system-ui;max-width:32rem;margin:4rem auto}}button{{margin:.25rem}}</style>
<h1>{title}</h1><p>{text}</p>{form}</html>"""
_CODE_FORM = '<form><input name="user_code" aria-label="Code" required><button>Continue</button></form>'


@dataclass(frozen=True)
class Grant:
    """What a code of the web flow stands for."""

    app: OAuthApp
    user: Account
    asked: Mapping[str, str]
    """The parameters of the authorization page."""
    expires_at: datetime


@dataclass
class DeviceGrant:
    """A device that waits for its user."""

    app: OAuthApp
    user_code: str
    asked: Mapping[str, str]
    expires_at: datetime
    interval_s: int
    polled_at: datetime | None = None
    user: Account | None = None
    is_denied: bool = False


class OAuthError(Exception):
    """An error of the token endpoints, which GitHub reports with status 200."""

    def __init__(self, error: str, **fields: object) -> None:
        super().__init__(error)
        uri = f"https://docs.github.com/apps/oauth-apps#{error.replace('_', '-')}"
        self.body = {"error": error, "error_description": _ERRORS[error], "error_uri": uri, **fields}


@dataclass
class OAuth:
    world: World
    device_interval_s: int = DEVICE_INTERVAL_S
    grants: dict[str, Grant] = field(default_factory=dict[str, Grant])
    devices: dict[str, DeviceGrant] = field(default_factory=dict[str, DeviceGrant])

    def routes(self) -> list[Route]:
        return [
            Route("/login/oauth/authorize", self._authorize, methods=["GET", "POST"]),
            Route("/login/oauth/access_token", self._exchange, methods=["GET", "POST"]),
            Route("/login/device/code", self._start_device, methods=["POST"]),
            Route("/login/device", self._confirm_device, methods=["GET", "POST"]),
        ]

    def endpoints(self) -> list[Endpoint]:
        path = "/applications/{client_id}"
        return [
            Endpoint("DELETE", f"{path}/token", self._revoke_token, is_for_apps=True),
            Endpoint("DELETE", f"{path}/grant", self._revoke_grant, is_for_apps=True),
        ]

    async def _authorize(self, request: Request) -> Response:
        """Show the page where a user authorizes an app; `?login=` answers it at once, for tests."""
        asked = await _parameters(request)
        app = self.world.apps.get(asked.get("client_id", ""))
        if app is None:
            return _page("404", "There is no OAuth app with this client_id.", status=404)
        target = asked.get("redirect_uri", app.callback_url)
        state = {"state": asked["state"]} if "state" in asked else {}
        if not is_allowed_redirect(target, app.callback_url):
            return _redirect(app.callback_url, OAuthError("redirect_uri_mismatch").body | state)
        if asked.get("code_challenge") and asked.get("code_challenge_method") != "S256":
            return _page("400", "code_challenge_method must be S256.", status=400)
        if asked.get("decision") == "cancel":
            return _redirect(target, OAuthError("access_denied").body | state)
        user = self.world.find_account(asked.get("login", ""))
        if user is None or user.is_organization:
            return self._consent_page(app, asked, _scopes(asked))
        code = secrets.token_hex(10)
        self.grants[code] = Grant(app, user, asked, self.world.now() + CODE_LIFETIME)
        return _redirect(target, {"code": code, **state})

    async def _exchange(self, request: Request) -> Response:
        """Exchange the code of a web flow or device flow for a token."""
        asked = await _parameters(request)
        app = self.world.apps.get(asked.get("client_id", ""))
        if app is None:
            return JSONResponse({"error": "Not Found"}, 404)
        try:
            match asked.get("grant_type", "authorization_code"):
                case "authorization_code":
                    token = self._exchange_code(app, asked)
                case grant if grant == DEVICE_GRANT:
                    token = self._exchange_device_code(app, asked)
                case _:
                    raise OAuthError("unsupported_grant_type")
        except OAuthError as error:
            return _answer(request, error.body)
        granted = ",".join(sorted(token.scopes))
        return _answer(request, {"access_token": token.value, "token_type": "bearer", "scope": granted})

    def _exchange_code(self, app: OAuthApp, asked: Mapping[str, str]) -> Token:
        if not hmac.compare_digest(asked.get("client_secret", "").encode(), app.client_secret.encode()):
            raise OAuthError("incorrect_client_credentials")
        grant = self.grants.get(asked.get("code", ""))
        if grant is None or grant.app is not app or grant.expires_at <= self.world.now():
            raise OAuthError("bad_verification_code")
        redirect_uri = grant.asked.get("redirect_uri", app.callback_url)
        if asked.get("redirect_uri", redirect_uri) != redirect_uri:
            raise OAuthError("redirect_uri_mismatch")
        del self.grants[asked["code"]]
        challenge = grant.asked.get("code_challenge")
        if challenge and challenge != challenge_of(asked.get("code_verifier", "")):
            raise OAuthError("bad_verification_code")
        return self._token(app, grant.user, grant.asked)

    def _exchange_device_code(self, app: OAuthApp, asked: Mapping[str, str]) -> Token:
        device, moment = self.devices.get(asked.get("device_code", "")), self.world.now()
        if device is None or device.app is not app:
            raise OAuthError("incorrect_device_code")
        if device.expires_at <= moment:
            raise OAuthError("expired_token")
        is_early = device.polled_at and moment < device.polled_at + timedelta(seconds=device.interval_s)
        device.polled_at = moment
        if is_early:
            device.interval_s += SLOW_DOWN_S
            raise OAuthError("slow_down", interval=device.interval_s)
        if device.is_denied:
            raise OAuthError("access_denied")
        if device.user is None:
            raise OAuthError("authorization_pending")
        del self.devices[asked["device_code"]]
        return self._token(app, device.user, device.asked)

    def _token(self, app: OAuthApp, user: Account, asked: Mapping[str, str]) -> Token:
        if user.id not in self.world.accounts:
            raise OAuthError("bad_verification_code")
        return self.world.add_token(TokenKind.OAUTH, user, scopes=_scopes(asked), app=app)

    async def _start_device(self, request: Request) -> Response:
        asked = await _parameters(request)
        app = self.world.apps.get(asked.get("client_id", ""))
        if app is None:
            return JSONResponse({"error": "Not Found"}, 404)
        if not app.has_device_flow:
            return _answer(request, OAuthError("device_flow_disabled").body)
        letters = "".join(secrets.choice("BCDFGHJKLMNPQRSTVWXZ") for _ in range(8))
        user_code, device_code = f"{letters[:4]}-{letters[4:]}", secrets.token_hex(20)
        expires_at = self.world.now() + DEVICE_LIFETIME
        self.devices[device_code] = DeviceGrant(app, user_code, asked, expires_at, self.device_interval_s)
        answer = {
            "device_code": device_code,
            "user_code": user_code,
            "verification_uri": f"{self.world.url}/login/device",
            "expires_in": int(DEVICE_LIFETIME.total_seconds()),
            "interval": self.device_interval_s,
        }
        return _answer(request, answer)

    async def _confirm_device(self, request: Request) -> Response:
        """Show the page where a user enters the code of a device and authorizes it."""
        asked = await _parameters(request)
        code = asked.get("user_code", "").upper()
        if not code:
            return _page("Device activation", "Enter the code displayed on your device.", _CODE_FORM)
        device = next((each for each in self.devices.values() if each.user_code == code), None)
        if device is None or device.expires_at <= self.world.now():
            return _page("Device activation", "This code is not valid, or has expired.", status=404)
        device.is_denied = asked.get("decision") == "cancel"
        device.user = self.world.find_account(asked.get("login", ""))
        if device.is_denied:
            return _page("Canceled", "The device was not authorized.")
        if device.user is None:
            return self._consent_page(device.app, asked, _scopes(device.asked))
        return _page("Congratulations, you're all set!", "Your device is now connected.")

    def _consent_page(self, app: OAuthApp, asked: Mapping[str, str], scopes: frozenset[str]) -> Response:
        fields = [
            f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
            for name, value in asked.items()
        ]
        logins = [
            html.escape(each.login) for each in self.world.accounts.values() if not each.is_organization
        ]
        buttons = [f'<button name="login" value="{login}">Authorize as {login}</button>' for login in logins]
        cancel = '<button name="decision" value="cancel">Cancel</button>'
        form = f'<form method="post">{"".join([*fields, *buttons, cancel])}</form>'
        text = f"It asks for: {', '.join(sorted(scopes)) or 'public data only'}"
        return _page(f"Authorize {app.name}", text, form)

    def _token_of(self, call: Call) -> Token:
        """Return the token in the body, if it belongs to the app that authenticates itself with its secret."""
        app = self.world.apps.get(call.path["client_id"])
        token = self.world.find_token(call.required("access_token", str))
        if app is None or token is None or token.app is not app:
            raise not_found()
        credentials = b64encode(f"{app.client_id}:{app.client_secret}".encode()).decode()
        if call.request.headers.get("authorization") != f"Basic {credentials}":
            raise not_found()
        return token

    async def _revoke_token(self, call: Call) -> Reply:
        del self.world.tokens[self._token_of(call).value]
        return Reply(status=204)

    async def _revoke_grant(self, call: Call) -> Reply:
        """Revoke all tokens that the user of a token gave to the app."""
        revoked = self._token_of(call)
        for token in list(self.world.tokens.values()):
            if (token.app, token.user) == (revoked.app, revoked.user):
                del self.world.tokens[token.value]
        return Reply(status=204)


def challenge_of(verifier: str) -> str:
    """Return the S256 challenge of a PKCE verifier."""
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def is_allowed_redirect(target: str, callback_url: str) -> bool:
    """Whether a redirect URI is below the callback URL of the app. On loopback addresses, the port may differ."""
    asked, registered = urlsplit(target), urlsplit(callback_url)
    is_loopback = registered.hostname in ("127.0.0.1", "::1")
    same_host = (asked.scheme, asked.hostname) == (registered.scheme, registered.hostname)
    is_below = f"{asked.path}/".startswith(f"{registered.path.rstrip('/')}/")
    return (
        (is_loopback or asked.netloc == registered.netloc)
        and same_host
        and is_below
        and ".." not in asked.path
    )


async def _parameters(request: Request) -> dict[str, str]:
    """Return the parameters of a query, a form or a JSON body."""
    parameters, body = dict(request.query_params), await request.body()
    if "json" not in request.headers.get("content-type", ""):
        return parameters | dict(parse_qsl(body.decode("utf-8", "replace")))
    try:
        return parameters | _JSON.validate_json(body)
    except ValidationError:
        return parameters


def _scopes(asked: Mapping[str, str]) -> frozenset[str]:
    scopes = set(re.split(r"[\s,]+", asked.get("scope", ""))) - {""}
    return frozenset(scope for scope in scopes if not any(scope in implied_by(other) for other in scopes))


def _answer(request: Request, body: JsonObject) -> Response:
    """Answer as JSON if the client accepts it, else as a form, which is GitHub's default."""
    if "json" in request.headers.get("accept", ""):
        return JSONResponse(body)
    return Response(urlencode(body), media_type="application/x-www-form-urlencoded")


def _redirect(target: str, parameters: JsonObject) -> Response:
    return RedirectResponse(f"{target}{'&' if '?' in target else '?'}{urlencode(parameters)}", 302)


def _page(title: str, text: str, form: str = "", status: int = 200) -> Response:
    return HTMLResponse(_PAGE.format(title=html.escape(title), text=html.escape(text), form=form), status)
