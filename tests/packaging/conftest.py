"""Import the install scripts, which are not a package because they run before one is installed."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

Script = Callable[[str], ModuleType]


@pytest.fixture(scope="session")
def script() -> Iterator[Script]:
    sys.path.append(str(SCRIPTS))
    yield importlib.import_module
    sys.path.remove(str(SCRIPTS))
