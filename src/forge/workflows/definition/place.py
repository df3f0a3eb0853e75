"""Where in a definition something is wrong, and what."""

from pydantic import BaseModel, ConfigDict


class Place(BaseModel):
    """Something in a definition that is wrong, or worth knowing, and where."""

    model_config = ConfigDict(frozen=True)

    line: int
    """From 1; in a definition that came as JSON, of the YAML it is written as."""
    column: int
    path: str
    """Such as `steps[2].config.url`."""
    step: str | None = None
    message: str
    hint: str | None = None
    is_warning: bool = False
