"""What is told of a value that does not fit."""

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from forge.kernel.validation import first_problem, validation_problems


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


def test_validator_message_has_no_prefix():
    assert str(first_problem(refused('{"layers": [{"name": "attic"}]}'))) == (
        "layers.0.name: there is no attic in this house"
    )


def test_pydantic_message_has_its_path():
    found = validation_problems(refused('{"layers": [{}], "floors": "many"}'))
    assert [(misfit.where, misfit.kind) for misfit in found] == [
        ("layers.0.name", "missing"),
        ("floors", "int_parsing"),
    ]
    assert str(found[0]) == "layers.0.name: Field required"


def test_problem_of_the_root_has_no_location():
    misfit = first_problem(refused("{"))
    assert (misfit.where, misfit.kind) == ("", "json_invalid")
    assert str(misfit).startswith("Invalid JSON: ")
