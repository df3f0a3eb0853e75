"""HTTP routes of agents. Their progress is in the event stream of their run."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, status

from forge.agents.models import Interjection, NewAgentRun, NewInterjection, VerifyCommands
from forge.agents.service import Agents
from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply
from forge.http.parameters import Id
from forge.runs.models import Run

router = APIRouter(prefix="/api/v1/agents", tags=["agents"])


def service(request: Request) -> Agents:
    return request.app.state.agents


Service = Annotated[Agents, Depends(service)]


@router.post("", status_code=status.HTTP_201_CREATED)
async def start_agent(caller: Writer, body: NewAgentRun, agents: Service) -> Envelope[Run]:
    """Start an agent on a task in a workspace. Returns its run; follow the stream `run:<id>`."""
    return reply(await agents.start(caller.account_id, body))


@router.get("/verify-commands")
async def suggest_verify_commands(
    caller: Reader, agents: Service, workspace_id: Annotated[str, Query(min_length=1, max_length=64)]
) -> Envelope[VerifyCommands]:
    """Return commands that probably run the tests of a workspace, for `verify` of a new agent."""
    return reply(await agents.suggest_verify(caller.account_id, workspace_id))


@router.post("/{run_id}/messages", status_code=status.HTTP_201_CREATED)
async def tell_agent(
    caller: Writer, run_id: Id, body: NewInterjection, agents: Service
) -> Envelope[Interjection]:
    """Send a message to a running agent, which receives it before its next turn."""
    return reply(await agents.interject(caller.account_id, run_id, body, by=caller.name))
