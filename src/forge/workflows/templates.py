"""Definitions to begin with."""

from pydantic import BaseModel, ConfigDict


class WorkflowTemplate(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    title: str
    description: str
    source: str
    """YAML."""
