"""Skills for tests: as files, as folders and as archives."""

import io
import zipfile
from collections.abc import Mapping
from typing import Any

from tests.support.live_forge import Live


def skill_md(name: str, *, kind: str = "script", body: str = "Call it.", **metadata: str) -> str:
    """`metadata` is ours, with `_` for `-`; `version` is not ours alone."""
    told = {"version": metadata.pop("version", "1.0.0"), "forge-kind": kind}
    told |= {f"forge-{key.replace('_', '-')}": value for key, value in metadata.items()}
    lines = "\n".join(f'  {key}: "{value}"' for key, value in told.items())
    head = f"name: {name}\ndescription: Does {name}. Use it when somebody asks for {name}."
    return f"---\n{head}\nmetadata:\n{lines}\n---\n\n# {name}\n\n{body}\n"


def script(name: str, source: str, file: str = "skill.js", **metadata: str) -> dict[str, str]:
    return {"SKILL.md": skill_md(name, **metadata), file: source}


def zipped(*skills: tuple[str, Mapping[str, str]]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, files in skills:
            for path, text in files.items():
                archive.writestr(f"{name}/{path}", text)
    return made.getvalue()


class Desk:
    """A person with a client."""

    def __init__(self, live: Live) -> None:
        self.live = live

    async def ask(self, method: str, path: str, **more: Any) -> Any:
        async with self.live.client() as client:
            response = await client.request(method, f"/api/v1{path}", **more)
        answer = response.json()
        assert response.status_code < 400, answer["errors"]
        return answer["data"]

    async def refused(self, method: str, path: str, **more: Any) -> tuple[int, str]:
        async with self.live.client() as client:
            response = await client.request(method, f"/api/v1{path}", **more)
        assert response.status_code >= 400, response.text
        return response.status_code, response.json()["errors"][0]["message"]

    async def create(self, name: str, files: Mapping[str, str]) -> Any:
        return await self.ask("POST", "/skills", json={"name": name, "files": files})

    async def run(self, name: str, **given: Any) -> Any:
        return await self.ask("POST", f"/skills/{name}/run", json={"input": given})

    async def grant(self, name: str, *wishes: str | dict[str, Any]) -> Any:
        seen = await self.ask("GET", f"/skills/{name}")
        grants = [{"capability": one} if isinstance(one, str) else one for one in wishes]
        body = {"grants": grants, "folder_hash": seen["folder_hash"]}
        return await self.ask("PUT", f"/skills/{name}/grants", json=body)

    async def stage(self, *skills: tuple[str, Mapping[str, str]]) -> Any:
        return await self.ask("POST", "/skill-stages/zip", content=zipped(*skills))

    async def install(self, stage: Any, *choices: dict[str, Any], force: bool = False) -> Any:
        body = {"skills": list(choices), "force": force}
        return await self.ask("POST", f"/skill-stages/{stage['id']}/install", json=body)
