"""Messages of validation errors."""

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from forge.kernel.validation import first_problem, validation_problems


class Layer(BaseModel):
    name: str

    @field_validator("name")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name == "attic":
            raise ValueError("unknown layer")
        return name


class Building(BaseModel):
    layers: list[Layer]
    floors: int = 1


def validation_error(text: str) -> ValidationError:
    with pytest.raises(ValidationError) as error:
        Building.model_validate_json(text)
    return error.value


def test_validator_message_has_no_prefix():
    assert str(first_problem(validation_error('{"layers": [{"name": "attic"}]}'))) == (
        "layers.0.name: unknown layer"
    )


def test_pydantic_message_has_its_path():
    problems = validation_problems(validation_error('{"layers": [{}], "floors": "many"}'))
    assert [(problem.where, problem.kind) for problem in problems] == [
        ("layers.0.name", "missing"),
        ("floors", "int_parsing"),
    ]
    assert str(problems[0]) == "layers.0.name: Field required"


def test_problem_of_the_root_has_no_location():
    problem = first_problem(validation_error("{"))
    assert (problem.where, problem.kind) == ("", "json_invalid")
    assert str(problem).startswith("Invalid JSON: ")
