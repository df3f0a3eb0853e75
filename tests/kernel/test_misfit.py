"""What is told of a value that does not fit."""

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from forge.kernel.misfit import first_misfit, misfits


class Layer(BaseModel):
    name: str

    @field_validator("name")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name == "attic":
            raise ValueError("there is no attic in this house")
        return name


class House(BaseModel):
    layers: list[Layer]
    floors: int = 1


def refused(text: str) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        House.model_validate_json(text)
    return caught.value


def test_what_we_say_ourselves_is_told_as_we_said_it():
    assert str(first_misfit(refused('{"layers": [{"name": "attic"}]}'))) == (
        "layers.0.name: there is no attic in this house"
    )


def test_what_pydantic_says_is_told_with_its_place():
    found = misfits(refused('{"layers": [{}], "floors": "many"}'))
    assert [(misfit.where, misfit.kind) for misfit in found] == [
        ("layers.0.name", "missing"),
        ("floors", "int_parsing"),
    ]
    assert str(found[0]) == "layers.0.name: Field required"


def test_a_mistake_of_the_whole_has_no_place():
    misfit = first_misfit(refused("{"))
    assert (misfit.where, misfit.kind) == ("", "json_invalid")
    assert str(misfit).startswith("Invalid JSON: ")
