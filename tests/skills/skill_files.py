"""Build skills for tests as files and archives, and use them through the API."""

import io
import zipfile
from collections.abc import Mapping
from typing import Any

from tests.support.live_forge import Live


def skill_md(name: str, *, kind: str = "script", body: str = "Call it.", **metadata: str) -> str:
    """Return a SKILL.md; `metadata` are `forge-*` keys with `_` for `-`, except `version`."""
    keys = {"version": metadata.pop("version", "1.0.0"), "forge-kind": kind}
    keys |= {f"forge-{key.replace('_', '-')}": value for key, value in metadata.items()}
    lines = "\n".join(f'  {key}: "{value}"' for key, value in keys.items())
    head = f"name: {name}\ndescription: Does {name}. Use it when somebody asks for {name}."
    return f"---\n{head}\nmetadata:\n{lines}\n---\n\n# {name}\n\n{body}\n"


def script(name: str, source: str, file: str = "skill.js", **metadata: str) -> dict[str, str]:
    return {"SKILL.md": skill_md(name, **metadata), file: source}


def zipped(*skills: tuple[str, Mapping[str, str]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, files in skills:
            for path, text in files.items():
                archive.writestr(f"{name}/{path}", text)
    return buffer.getvalue()


class SkillsApi:
    """Calls the skills API of a running Forge."""

    def __init__(self, live: Live) -> None:
        self.live = live

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """Return the data of a successful response."""
        async with self.live.client() as client:
            response = await client.request(method, f"/api/v1{path}", **options)
        content = response.json()
        assert response.status_code < 400, content["errors"]
        return content["data"]

    async def error(self, method: str, path: str, **options: Any) -> tuple[int, str]:
        """Return the status and the message of a failed response."""
        async with self.live.client() as client:
            response = await client.request(method, f"/api/v1{path}", **options)
        assert response.status_code >= 400, response.text
        return response.status_code, response.json()["errors"][0]["message"]

    async def create(self, name: str, files: Mapping[str, str]) -> Any:
        return await self.call("POST", "/skills", json={"name": name, "files": files})

    async def run(self, name: str, **inputs: Any) -> Any:
        return await self.call("POST", f"/skills/{name}/run", json={"input": inputs})

    async def grant(self, name: str, *capabilities: str | dict[str, Any]) -> Any:
        skill = await self.call("GET", f"/skills/{name}")
        grants = [{"capability": one} if isinstance(one, str) else one for one in capabilities]
        body = {"grants": grants, "folder_hash": skill["folder_hash"]}
        return await self.call("PUT", f"/skills/{name}/grants", json=body)

    async def stage(self, *skills: tuple[str, Mapping[str, str]]) -> Any:
        return await self.call("POST", "/skill-stages/zip", content=zipped(*skills))

    async def install(self, stage: Any, *choices: dict[str, Any], force: bool = False) -> Any:
        body = {"skills": list(choices), "force": force}
        return await self.call("POST", f"/skill-stages/{stage['id']}/install", json=body)
