"""docs/wasm.md matches the code."""

import re
from pathlib import Path

from tests.skills.wasm.script_runner import MB, run

from forge.skills.execution import LIMITS, Language
from forge.skills.wasm.runtimes import PYTHON_MODULES
from forge.skills.wasm.worker_pool import WorkerPool

PAGE = (Path(__file__).parents[3] / "docs/wasm.md").read_text()


async def test_documented_modules_can_be_imported(pool: WorkerPool):
    listed = re.search(r"`(abc [a-z0-9\s]+)`", PAGE)
    assert listed is not None
    names = listed.group(1).split()
    assert names == sorted(PYTHON_MODULES)
    source = "".join(f"import {name}\n" for name in (*names, "urllib.parse", "xml.etree.ElementTree"))
    outcome = await run(pool, source + "def run(input):\n    return 'all'\n", Language.PY)
    assert (outcome.output, outcome.error) == ("all", "")


def test_documented_limits_match_the_code():
    memory = [f"{limits.memory_bytes // MB} MB" for limits in LIMITS.values()]
    seconds = [f"{limits.seconds:g} s" for limits in LIMITS.values()]
    fuel = [f"{limits.fuel // 10**9} billion" for limits in LIMITS.values()]
    for title, cells in (("memory", memory), ("time", seconds), ("instructions", fuel)):
        assert re.search(rf"^\| {title}[^|]*\| {re.escape(' | '.join(cells))} \|$", PAGE, re.MULTILINE)
