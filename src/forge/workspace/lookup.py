"""Find the workspace that a user means."""

from forge.terminal.client import Client
from forge.terminal.lookup import choose, is_id
from forge.workspace.models import WorkspaceInfo


def find_workspace(client: Client, query: str) -> str:
    """Return the id of a workspace from its name or the beginning of its id."""
    if is_id(query):
        return query
    found = client.get("/workspaces", list[WorkspaceInfo])
    return choose(query, "workspace", found, lambda one: one.id, name_of=lambda one: one.name).id
