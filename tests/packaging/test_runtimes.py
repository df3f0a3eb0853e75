"""Skill runtimes are rebuilt only when their sources have changed."""

import json
from pathlib import Path

import pytest

NPM = """#!/bin/sh
mkdir -p node_modules/.bin
printf '#!/bin/sh\\nfor last; do :; done; echo js > "$last"; echo js >> {log}\\n' > node_modules/.bin/componentize-qjs
chmod +x node_modules/.bin/componentize-qjs
"""
PYTHON = """#!/bin/sh
echo '{"baseline_bytes": 65536}'
"""
COMPONENTIZE_PY = """#!/bin/sh
for last; do :; done
echo py > "$last"
echo py >> {log}
"""


def write_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Checkout:
    def __init__(self, script, root: Path) -> None:
        self.root = root
        self._script = script
        self._log = root / "log"
        self._npm = write_program(root / "bin/npm", NPM.replace("{log}", str(self._log)))
        self._python = write_program(root / "venv/bin/python", PYTHON)
        write_program(root / "venv/bin/componentize-py", COMPONENTIZE_PY.replace("{log}", str(self._log)))
        for name in ("skill.wit", "runtime.js", "runtime.py", "package-lock.json"):
            write_program(root / "runtimes" / name, name)
        write_program(root / "runtimes/package.json", '{"devDependencies": {"componentize-qjs": "0.4.5"}}')
        write_program(root / "locks/runtimes.txt", "componentize-py==0.25.1 \\\n")
        write_program(root / "src/forge/skills/wasm/engine.py", "")

    def refresh(self) -> None:
        node = self._script("node").Node(npm=self._npm, path="/usr/bin:/bin")
        self._script("build_runtimes").refresh(self.root, node, self._python)

    @property
    def is_fresh(self) -> bool:
        return self._script("build_runtimes").is_fresh(self.root)

    @property
    def built(self) -> list[str]:
        return self._log.read_text().split()


@pytest.fixture
def checkout(script, tmp_path: Path) -> Checkout:
    return Checkout(script, tmp_path)


def test_runtimes_are_built_once_and_when_a_source_changes(checkout: Checkout):
    assert not checkout.is_fresh
    checkout.refresh()
    checkout.refresh()
    assert checkout.is_fresh
    assert checkout.built == ["js", "py"]
    (checkout.root / "runtimes/runtime.py").write_text("changed")
    assert not checkout.is_fresh
    checkout.refresh()
    assert checkout.built == ["js", "py"] * 2


def test_built_runtime_describes_itself(checkout: Checkout):
    checkout.refresh()
    runtimes = json.loads((checkout.root / "src/forge/skills/wasm/built/runtimes.json").read_text())
    assert {
        language: (runtime["file"], runtime["made_with"], runtime["baseline_bytes"])
        for language, runtime in runtimes.items()
    } == {
        "js": ("js.wasm", "componentize-qjs==0.4.5", 65536),
        "py": ("py.wasm", "componentize-py==0.25.1", 65536),
    }


def test_failed_build_keeps_old_runtimes_and_is_repeated(checkout: Checkout, script):
    checkout.refresh()
    write_program(checkout.root / "venv/bin/componentize-py", "#!/bin/sh\nexit 1\n")
    (checkout.root / "runtimes/runtime.py").write_text("changed")
    with pytest.raises(script("steps").Failed):
        checkout.refresh()
    assert (checkout.root / "src/forge/skills/wasm/built/py.wasm").read_text() == "py\n"
    assert not checkout.is_fresh
