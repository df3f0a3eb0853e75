"""Fills in the templates of a step, or of what a run gives, without keeping everybody else waiting."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, cast

from pydantic import JsonValue

from forge.workflows.expressions.filling import OPENING, fill
from forge.workflows.expressions.marks import SecretMarks

FEW = 4
"""Placeholders that are filled in at once: a thread costs more than they do, nearly always."""


async def filled(
    given: Mapping[str, JsonValue], variables: Mapping[str, JsonValue], secrets: SecretMarks | None = None
) -> dict[str, JsonValue]:
    """All fields within the bounds of one filling."""
    fields = dict(given)
    if json.dumps(fields, ensure_ascii=False).count(OPENING) <= FEW:
        return cast("dict[str, Any]", fill(fields, variables, secrets))
    as_now = {name: dict(value) if isinstance(value, dict) else value for name, value in variables.items()}
    return cast("dict[str, Any]", await asyncio.to_thread(fill, fields, as_now, secrets))
