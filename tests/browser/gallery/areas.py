"""All areas of the gallery, in the order their data is created: workflows need bots, bots need skills."""

from tests.browser.gallery import bots, forge, runs, settings, skills, workflows
from tests.browser.gallery.scene import Area

AREAS: tuple[Area, ...] = (settings.AREA, runs.AREA, skills.AREA, bots.AREA, workflows.AREA, forge.AREA)
SCENES = tuple(scene for area in AREAS for scene in area.scenes)
