"""Ids in paths: letters, digits and dashes, so that nothing odd reaches a query."""

from typing import Annotated

from fastapi import Path

Id = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$")]
