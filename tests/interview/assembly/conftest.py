from pathlib import Path

import pytest
from tests.interview.assembly.workbench import Workbench, open_workbench

from forge.store.database import Store


@pytest.fixture
def workbench(store: Store, tmp_path: Path) -> Workbench:
    return open_workbench(store, tmp_path / "data")
