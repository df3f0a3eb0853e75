"""Requests that demand a structured answer, without a matching scene."""

from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Literal

import httpx2
import pytest
from pydantic import BaseModel, Field, TypeAdapter
from tests.demo.clients import ask, said, stream
from tests.support.models import StartModels

from forge.demo.reply_writer import fill_schema


class Color(StrEnum):
    RED = "red"


class Leaf(BaseModel):
    kind: Literal["leaf"]
    color: Color


class Tree(BaseModel):
    name: str = Field(min_length=30, max_length=40)
    age: int = Field(gt=3, le=100)
    height: float = Field(ge=0.5)
    below_zero: int = Field(lt=0)
    even: int = Field(ge=3, multiple_of=2)
    planted: date
    leaves: list[Leaf] = Field(min_length=2)
    maybe: int | None
    either: Leaf | str
    pair: tuple[int, str]
    left_out: str = "default"
    children: "list[Tree]"


@pytest.mark.parametrize(
    "kind", [Tree, Leaf, dict[str, int], list[int], bool, None, str | None, Annotated[int, Field(ge=7)]]
)
def test_filled_value_matches_its_schema(kind: Any):
    adapter = TypeAdapter(kind)
    adapter.validate_python(fill_schema(adapter.json_schema()))


SCHEMA = Leaf.model_json_schema()
FILLED = {"kind": "leaf", "color": "red"}


@pytest.mark.parametrize("choice", [{"type": "tool", "name": "leaf"}, {"type": "any"}])
def test_forced_tool_is_called(model_server: StartModels, choice: dict[str, str]):
    tools = [{"name": "other", "input_schema": {}}, {"name": "leaf", "input_schema": SCHEMA}]
    [call] = said(stream(model_server(), tools=tools, tool_choice=choice))
    assert (call["name"], call["input"]) == ("leaf", FILLED)


@pytest.mark.parametrize("form", ["output_config", "output_format"])
def test_json_answer_is_json(model_server: StartModels, form: str):
    wanted = {"type": "json_schema", "schema": SCHEMA}
    more: dict[str, Any] = {form: {"format": wanted} if form == "output_config" else wanted}
    answer = httpx2.post(f"{model_server().url}/v1/messages", json={**ask(), **more}).json()
    assert Leaf.model_validate_json(answer["content"][0]["text"]).model_dump() == FILLED
