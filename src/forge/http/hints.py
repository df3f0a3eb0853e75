"""Hints for programs: the commands that hints name are replaced by requests.

Services write hints for people, who have a terminal or the web app.
"""

import re

_REQUESTS = {
    r"forge bots list --deleted": r"GET /bots?deleted=true",
    r"forge bots list": r"GET /bots",
    r"forge bots restore ([\w-]+)": r"POST /bots/\1/restore",
    r"forge bots (?:enable|unarchive) ([\w-]+)": r'PATCH /bots/\1 {"status": "active"}',
    r"forge bots files edit ([\w-]+) skills": r"PUT /bots/\1/skills-file",
    r"forge bots files diff ([\w-]+) skills": r"GET /bots/\1/skills-file/diff",
    r"forge bots files history ([\w-]+) skills": r"GET /bots/\1/skills-file/versions",
    r"forge bots files (accept|rollback) ([\w-]+) skills": r"POST /bots/\2/skills-file/\1",
    r"forge bots files edit ([\w-]+) ([\w-]+)": r"PUT /bots/\1/\2",
    r"forge bots files diff ([\w-]+) ([\w-]+)": r"GET /bots/\1/\2/diff",
    r"forge bots files history ([\w-]+) ([\w-]+)": r"GET /bots/\1/\2/versions",
    r"forge bots files (accept|rollback) ([\w-]+) ([\w-]+)": r"POST /bots/\2/\3/\1",
    r"forge drafts": r"GET /builder/drafts",
    r"forge keys create NAME --scope (\w+)": r'POST /keys {"name": "NAME", "scopes": ["\1"]}',
    r"forge keys create NAME": r"POST /keys",
    r"forge keys list": r"GET /keys",
    r"forge keys revoke ID": r"DELETE /keys/ID",
    r"forge github login(?: --token-stdin)?": r"PUT /github/token",
    r"forge members invitations": r"GET /invitations",
    r"forge members invite(?: LOGIN)?": r"POST /invitations",
    r"forge members list": r"GET /members",
    r"forge models budget": r"PUT /models/budgets/BUDGET",
    r"forge models list": r"GET /models",
    r"forge models price (\S+) --input \d+ --output \d+": r"PUT /models/prices?model=\1",
    r"forge models price (\S+) --context \w+": r"PUT /models/prices?model=\1",
    r"forge models provider (\S+)(?: --kind \w+)? --url \S+": r"PUT /models/providers/\1",
    r"forge models set": r"PUT /models/roles/ROLE",
    r"forge secrets list": r"GET /secrets",
    r"forge secrets set ([A-Z]\w*)": r"PUT /secrets/\1",
    r"forge secrets set": r"PUT /secrets/NAME",
    r"forge skill attach ([\w-]+) ([\w-]+)": r'POST /bots/\2/skills {"skill_name": "\1"}',
    r"forge skill create": r"POST /skills",
    r"forge skill enable ([\w-]+) ([\w-]+)": r'PATCH /bots/\2/skills/\1 {"enabled": true}',
    r"forge skill grant ([\w-]+) [^.)]+": r"PUT /skills/\1/grants",
    r"forge skill inspect ([\w-]+)": r"GET /skills/\1",
    r"forge skill list": r"GET /skills",
    r"forge skill trust ([\w-]+) local": r'PUT /skills/\1/tier {"tier": "local"}',
    r"forge workflow list": r"GET /workflows",
    r"forge workflow rerun": r"POST /workflow-runs/ID/rerun",
    r"forge workspaces create NAME": r'POST /workspaces {"name": "NAME"}',
    r"forge workspaces list": r"GET /workspaces",
    r"forge workspaces remove NAME": r"DELETE /workspaces/ID",
}
"""Requests by command. The first match counts."""
_COMMAND = re.compile(r"`?(" + "|".join(_REQUESTS) + ")`?")


def name_requests(hint: str) -> str:
    """Replace the commands in a hint by requests."""
    return _COMMAND.sub(_request, hint)


def _request(found: re.Match[str]) -> str:
    for command, request in _REQUESTS.items():
        if exact := re.fullmatch(command, found[1]):
            return f"`{exact.expand(request).replace(' /', ' /api/v1/', 1)}`"
    return found[0]
