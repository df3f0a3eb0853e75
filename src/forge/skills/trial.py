"""Tries a skill before anybody uses it: its own tests, run where it would run, with nothing granted."""

from forge.skills.contents import encoded
from forge.skills.models import SkillFiles, TrialReport
from forge.skills.testing import SkillTests


class Trial:
    def __init__(self, tests: SkillTests) -> None:
        self._tests = tests

    async def run(self, skill: SkillFiles) -> TrialReport:
        """Of instructions nothing is run: they are checked."""
        report = await self._tests.run(skill.name, encoded(skill.files))
        return TrialReport.model_validate(report.model_dump(include=set(TrialReport.model_fields)))
