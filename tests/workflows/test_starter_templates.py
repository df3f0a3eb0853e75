"""The templates for new workflows are valid and normalized."""

import pytest

from forge.workflows.definition.models import StepType
from forge.workflows.definition.reader import read_source
from forge.workflows.definition.writer import write
from forge.workflows.starter_templates import TEMPLATES, WorkflowTemplate


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.id)
def test_template_is_valid_and_normalized(template: WorkflowTemplate):
    read = read_source(template.source)
    assert read.problems == []
    assert read.definition
    assert read.definition.name == template.id
    assert read.definition.description
    assert write(read.definition, template.source) == template.source
    again = read_source(write(read.definition, None))
    assert (again.definition, again.problems) == (read.definition, [])


def test_templates_cover_most_features():
    read = [definition for template in TEMPLATES if (definition := read_source(template.source).definition)]
    kinds = {step.type for definition in read for step in definition.steps}
    assert kinds >= {
        StepType(kind) for kind in ("agent", "http", "code", "conditional", "loop", "approval", "message")
    }
    assert {trigger.type for definition in read for trigger in definition.triggers} >= {
        "manual",
        "cron",
        "webhook",
    }
    assert any(definition.finally_steps for definition in read)
    assert any(step.retry and step.on_error != "fail" for definition in read for step in definition.steps)
