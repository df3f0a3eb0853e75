"""git over HTTP, by `git http-backend`: clone, fetch and push, with a token as password."""

import asyncio
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncGenerator

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from forge.demo.github.api import READ_CONTENTS, WRITE_CONTENTS, Access, access_to, read_token
from forge.demo.github.protection import hook_environment
from forge.demo.github.webhooks import Webhooks
from forge.demo.github.world import Repository, Token, World

_CHUNK = 1 << 16
_SERVICES = ("git-upload-pack", "git-receive-pack")
_BAD_TOKEN = "Invalid username or token. Password authentication is not supported for Git operations."  # noqa: S105


class GitHttp:
    def __init__(self, world: World, webhooks: Webhooks) -> None:
        self._world, self._webhooks = world, webhooks

    def routes(self) -> list[Route]:
        paths = {"info/refs": "GET", **dict.fromkeys(_SERVICES, "POST")}
        return [
            Route(f"/{{owner}}/{{repo}}/{path}", self._serve, methods=[method])
            for path, method in paths.items()
        ]

    async def _serve(self, request: Request) -> Response:
        service = request.query_params.get("service", request.url.path.rpartition("/")[2])
        if service not in _SERVICES:
            return _refusal(403, "Please upgrade your git client.")
        value = read_token(request.headers.get("authorization"))
        token = None if value is None else self._world.find_token(value)
        if value is not None and token is None:
            return _refusal(401, _BAD_TOKEN)
        full_name = f"{request.path_params['owner']}/{request.path_params['repo'].removesuffix('.git')}"
        repository = self._world.find_repository(full_name) or self._world.find_moved(full_name)
        if repository is None or access_to(repository, token) is Access.HIDDEN:
            return _refusal(404 if token else 401, "Repository not found.")
        if repository.full_name.lower() != full_name.lower():
            url = request.url.replace(path=f"/{repository.full_name}.git/{request.url.path.split('/', 3)[3]}")
            return RedirectResponse(str(url), 301)
        if service == "git-upload-pack":
            return await self._upload(request, repository, token)
        return await self._receive(request, repository, token)

    async def _upload(self, request: Request, repository: Repository, token: Token | None) -> Response:
        if access_to(repository, token, READ_CONTENTS) is not Access.GRANTED:
            return _refusal(403, "Write access to repository not granted.")
        process = await _start(request, repository, {})
        feeding = asyncio.create_task(_feed(process, request))
        status, headers = await _read_headers(process)
        return StreamingResponse(_stream(process, feeding), status, headers)

    async def _receive(self, request: Request, repository: Repository, token: Token | None) -> Response:
        if token is None:
            return _refusal(401, "No anonymous write access.")
        if access_to(repository, token, WRITE_CONTENTS) is not Access.GRANTED:
            return _refusal(403, f"Permission to {repository.full_name}.git denied to {token.user.login}.")
        if repository.is_archived:
            return _refusal(403, "This repository was archived so it is read-only.")
        async with self._webhooks.reporting(repository, token.user):
            environment = {"REMOTE_USER": token.user.login, **hook_environment(repository, token.user)}
            process = await _start(request, repository, environment)
            feeding = asyncio.create_task(_feed(process, request))
            status, headers = await _read_headers(process)
            body = b"".join([chunk async for chunk in _stream(process, feeding)])
        return Response(body, status, headers)


async def _start(request: Request, repository: Repository, environment: dict[str, str]) -> Process:
    path = repository.git.path
    cgi = {
        "GIT_PROJECT_ROOT": str(path.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{path.name}/{request.url.path.split('/', 3)[3]}",
        "QUERY_STRING": request.url.query,
        "REQUEST_METHOD": request.method,
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
    }
    return await repository.git.start("http-backend", env=cgi | environment, stderr=DEVNULL)


async def _feed(process: Process, request: Request) -> None:
    """Pass the body on. If the client hangs up, git sees that it is incomplete."""
    if process.stdin is None:
        return
    try:
        async for chunk in request.stream():
            process.stdin.write(chunk)
            await process.stdin.drain()
    except (ClientDisconnect, ConnectionError):
        pass
    finally:
        process.stdin.close()


async def _read_headers(process: Process) -> tuple[int, dict[str, str]]:
    headers: dict[str, str] = {}
    while process.stdout and (line := (await process.stdout.readline()).strip()):
        name, _, value = line.decode().partition(": ")
        headers[name.lower()] = value
    return int(headers.pop("status", "200").split()[0]), headers


async def _stream(process: Process, feeding: asyncio.Task[None]) -> AsyncGenerator[bytes]:
    try:
        while process.stdout and (chunk := await process.stdout.read(_CHUNK)):
            yield chunk
        await feeding
    finally:
        feeding.cancel()
        if process.returncode is None:
            process.terminate()
        await process.wait()


def _refusal(status: int, message: str) -> Response:
    headers = {"www-authenticate": 'Basic realm="GitHub"'} if status == 401 else {}
    return PlainTextResponse(f"{message}\n", status, headers)
