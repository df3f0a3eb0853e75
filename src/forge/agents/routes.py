"""HTTP routes of agents. Their progress is in the event stream of their run."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, status

from forge.agents.models import Interjection, NewAgentRun, NewInterjection
from forge.agents.service import Agents
from forge.http.caller import Writer
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


@router.post("/{run_id}/messages", status_code=status.HTTP_201_CREATED)
async def tell_agent(
    caller: Writer, run_id: Id, body: NewInterjection, agents: Service
) -> Envelope[Interjection]:
    """Send a message to a running agent, which receives it before its next turn."""
    return reply(await agents.interject(caller.account_id, run_id, body, by=caller.name))
