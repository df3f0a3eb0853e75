"""Which workspace a person means at the command line."""

from forge.terminal.choice import choose, is_id, only
from forge.terminal.client import Client
from forge.workspace.models import WorkspaceInfo


def find_workspace(client: Client, given: str) -> str:
    """The id of a workspace from its name or the beginning of its id."""
    if is_id(given):
        return given
    found = client.get("/workspaces", list[WorkspaceInfo])
    if named := [one for one in found if one.name == given]:
        return only(named, given, "workspace", lambda one: one.id).id
    return choose(given, "workspace", found, lambda one: one.id).id
