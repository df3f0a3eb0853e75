"""What is wrong with what starts a workflow."""

from collections.abc import Iterator

from forge.errors import Invalid
from forge.workflows.definition.models import CronTrigger, Definition, WebhookTrigger
from forge.workflows.definition.source import Fault, Path
from forge.workflows.schedules.cron import read_schedule


def check_triggers(definition: Definition) -> Iterator[Fault]:
    paths: set[str] = set()
    for index, trigger in enumerate(definition.triggers):
        here: Path = ("triggers", index)
        if isinstance(trigger, CronTrigger):
            yield from _check_schedule(here, trigger)
            yield from _check_inputs(here, trigger, definition)
        if isinstance(trigger, WebhookTrigger):
            if trigger.path in paths:
                yield Fault((*here, "path"), f"The path {trigger.path} is here a second time.")
            paths.add(trigger.path)


def _check_schedule(here: Path, trigger: CronTrigger) -> Iterator[Fault]:
    for key, schedule, timezone in (
        ("timezone", "hourly", trigger.timezone),
        ("schedule", trigger.schedule, "UTC"),
    ):
        try:
            read_schedule(schedule, timezone)
        except Invalid as error:
            yield Fault((*here, key), error.message, error.hint)


def _check_inputs(here: Path, trigger: CronTrigger, definition: Definition) -> Iterator[Fault]:
    for name in trigger.inputs:
        if name not in definition.inputs:
            yield Fault(
                (*here, "inputs", name),
                f"The workflow has no input `{name}`.",
                "Declare it under `inputs`.",
                is_key=True,
            )
    for name, given in definition.inputs.items():
        if given.required and given.default is None and name not in trigger.inputs:
            yield Fault(
                here,
                f"The schedule does not give the input `{name}`, which is required.",
                f"Add it under `inputs` of the trigger, or give `{name}` a default.",
            )
