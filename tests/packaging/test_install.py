"""The set-up's decisions: which Node will do, when a step is done, and what uv learns from pip."""

import importlib.util
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def program(folder: Path, name: str, says: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\necho {says}\n")
    file.chmod(0o755)


class TestNode:
    @pytest.mark.parametrize(
        ("text", "version"),
        [("v20.19.0\n", (20, 19, 0)), ("11.6.2", (11, 6, 2)), ("v24", (24,)), ("no version", ()), ("", ())],
    )
    def test_a_version_is_read_from_what_the_program_says(self, script, text, version):
        assert script("node").parse_version(text) == version

    @pytest.mark.parametrize(
        ("node", "npm", "will_do"),
        [
            ((20, 18, 9), (10, 0, 0), False),
            ((20, 19, 0), (10, 0, 0), True),
            ((20, 20, 2), (9, 9, 9), False),
            ((21, 7, 0), (10, 0, 0), False),
            ((22, 11, 0), (10, 0, 0), False),
            ((22, 12, 0), (10, 0, 0), True),
            ((100, 0, 0), (11, 0, 0), True),
            ((), (), False),
        ],
    )
    def test_only_a_node_that_can_build_the_web_will_do(self, script, node, npm, will_do):
        assert script("node").is_new_enough(node, npm) is will_do

    def test_the_node_on_path_comes_before_the_python_package(self, script, tmp_path, monkeypatch):
        for place in ("on-path", "in-venv"):
            program(tmp_path / place, "node", "v22.20.0")
            program(tmp_path / place, "npm", "10.9.0")
        monkeypatch.setenv("PATH", str(tmp_path / "on-path"))
        assert script("node").find(tmp_path / "in-venv").npm == tmp_path / "on-path/npm"

    def test_an_old_node_on_path_gives_way_to_the_python_package(self, script, tmp_path, monkeypatch):
        program(tmp_path / "on-path", "node", "v18.0.0")
        program(tmp_path / "on-path", "npm", "10.9.0")
        program(tmp_path / "in-venv", "node", "v24.1.0")
        program(tmp_path / "in-venv", "npm", "11.0.0")
        monkeypatch.setenv("PATH", str(tmp_path / "on-path"))
        found = script("node").find(tmp_path / "in-venv")
        assert found.npm == tmp_path / "in-venv/npm"
        assert found.env["PATH"].startswith(str(tmp_path / "in-venv"))

    def test_no_node_at_all_is_an_answer_and_requiring_one_says_what_to_do(
        self, script, tmp_path, monkeypatch
    ):
        monkeypatch.setenv("PATH", str(tmp_path))
        assert script("node").find(tmp_path) is None
        with pytest.raises(script("steps").Failed, match="make install") as failure:
            script("node").require(tmp_path)
        assert failure.value.exit_code == 2


class TestStamps:
    def test_the_same_files_have_the_same_digest_in_any_order(self, script, tmp_path):
        one, two = tmp_path / "one", tmp_path / "two"
        one.write_text("1")
        two.write_text("2")
        digest = script("stamps").digest
        assert digest([one, two]) == digest([two, one])

    def test_content_moving_between_files_changes_the_digest(self, script, tmp_path):
        one, two = tmp_path / "one", tmp_path / "two"
        one.write_text("ab")
        two.write_text("c")
        before = script("stamps").digest([one, two])
        one.write_text("a")
        two.write_text("bc")
        assert script("stamps").digest([one, two]) != before

    def test_a_stamp_matches_only_what_it_was_made_from(self, script, tmp_path):
        stamp = script("stamps").Stamp(tmp_path / "deep/stamp")
        assert not stamp.matches("abc")
        with stamp.renewed("abc"):
            assert not stamp.matches("abc")
        assert stamp.matches("abc")
        assert not stamp.matches("abd")

    def test_an_interrupted_step_leaves_no_stamp(self, script, tmp_path):
        stamp = script("stamps").Stamp(tmp_path / "stamp")
        with stamp.renewed("abc"):
            pass
        with pytest.raises(KeyboardInterrupt), stamp.renewed("abc"):
            raise KeyboardInterrupt
        assert not stamp.matches("abc")
        assert list(tmp_path.iterdir()) == []


class TestWeb:
    @pytest.fixture
    def root(self, tmp_path):
        (tmp_path / "web/src").mkdir(parents=True)
        (tmp_path / "web/package.json").write_text("{}")
        (tmp_path / "web/src/main.ts").write_text("1")
        return tmp_path

    @pytest.fixture
    def npm(self, script, root):
        """A Node whose npm writes the page and keeps a diary."""
        file = root / "npm"
        file.write_text(
            '#!/bin/sh\necho "$1" >> ../diary\n'
            "[ $1 = ci ] || { mkdir -p ../src/forge/web && touch ../src/forge/web/index.html; }\n"
        )
        file.chmod(0o755)
        return script("node").Node(npm=file, path="/usr/bin:/bin")

    def diary(self, root: Path) -> list[str]:
        return (root / "diary").read_text().split()

    def test_it_is_built_once_and_again_only_when_a_source_changes(self, script, root, npm):
        web_app = script("web_app")
        assert not web_app.is_fresh(root)
        web_app.refresh(root, npm)
        web_app.refresh(root, npm)
        assert web_app.is_fresh(root)
        (root / "web/src/main.ts").write_text("2")
        assert not web_app.is_fresh(root)
        web_app.refresh(root, npm)
        assert self.diary(root) == ["ci", "run", "run"]

    def test_a_changed_lock_brings_the_packages_again(self, script, root, npm):
        script("web_app").refresh(root, npm)
        (root / "web/package-lock.json").write_text("{}")
        script("web_app").refresh(root, npm)
        assert self.diary(root) == ["ci", "run", "ci", "run"]

    def test_what_is_generated_is_no_source(self, script, root, npm):
        script("web_app").refresh(root, npm)
        (root / "web/openapi.json").write_text("{}")
        (root / "web/node_modules/thing.js").write_text("")
        assert script("web_app").is_fresh(root)

    def test_a_removed_page_is_built_again(self, script, root, npm):
        script("web_app").refresh(root, npm)
        (root / "src/forge/web/index.html").unlink()
        script("web_app").refresh(root, npm)
        assert self.diary(root) == ["ci", "run", "run"]

    def test_a_build_without_a_page_fails_and_is_tried_again(self, script, root, npm):
        npm.npm.write_text("#!/bin/sh\necho nothing was built\n")
        with pytest.raises(script("steps").Failed, match="nothing was built"):
            script("web_app").refresh(root, npm)
        assert not script("web_app").is_fresh(root)


class TestIndexes:
    def test_what_pip_lists_is_read_and_its_warnings_are_not(self, script):
        listed = (
            "WARNING: something = odd\n"
            "global.index-url='https://one.example/simple'\n"
            "global.cert='/etc/ca.pem'\n"
            "install.index-url='https://two.example/simple'\n"
            ":env:.cert='/env/ca.pem'\n"
            "freeze.index-url='https://not.for.us/simple'\n"
        )
        assert script("indexes").parse_pip_config(listed) == {
            "index-url": "https://two.example/simple",
            "cert": "/env/ca.pem",
        }

    def test_index_certificate_and_patience_are_passed_on(self, script):
        pip = {"index-url": "https://one.example/simple", "cert": "/etc/ca.pem", "default-timeout": "180"}
        assert script("indexes").to_uv(pip, {}) == {
            "UV_DEFAULT_INDEX": "https://one.example/simple",
            "SSL_CERT_FILE": "/etc/ca.pem",
            "UV_HTTP_TIMEOUT": "180",
        }

    def test_what_is_set_already_stays(self, script):
        pip = {"index-url": "https://one.example/simple", "cert": "/etc/ca.pem"}
        environ = {"UV_DEFAULT_INDEX": "https://mine.example/simple"}
        assert script("indexes").to_uv(pip, environ) == {"SSL_CERT_FILE": "/etc/ca.pem"}

    def test_extra_indexes_are_passed_on_except_folders_that_are_not_there(self, script, tmp_path):
        there, gone = tmp_path.as_uri(), (tmp_path / "gone").as_uri()
        pip = {"extra-index-url": f"{gone}\nhttps://extra.example/simple {there}"}
        assert script("indexes").to_uv(pip, {}) == {
            "UV_INDEX": f"https://extra.example/simple {there}",
            "UV_INDEX_STRATEGY": "unsafe-best-match",
        }

    def test_a_machine_without_pip_settings_changes_nothing(self, script):
        assert script("indexes").to_uv(script("indexes").parse_pip_config(""), {}) == {}


class TestMessages:
    def test_a_failed_command_shows_everything_it_said(self, script, tmp_path):
        command = ["sh", "-c", "echo out; echo err >&2; exit 3"]
        with pytest.raises(script("steps").Failed) as failure:
            script("steps").run(command, tmp_path)
        assert str(failure.value) == "$ sh -c echo out; echo err >&2; exit 3\nout\nerr\n(exit code 3)"

    def test_a_step_that_takes_long_counts_its_seconds_in_a_terminal(self):
        code = "import time, steps\nwith steps.step('packages'): time.sleep(1.1)"
        screen, terminal = pty.openpty()
        subprocess.run(
            [sys.executable, "-c", code], cwd=SCRIPTS, stdout=terminal, check=True, env={"PYTHONPATH": "."}
        )
        said = ""
        while not said.endswith("\n"):
            said += os.read(screen, 1000).decode()
        os.close(terminal)
        assert re.fullmatch(r"packages \.\.\. (\rpackages \.\.\. \d s )+\rpackages \.\.\. \d\.\d s\r\n", said)
        os.close(screen)

    def test_a_python_without_venv_is_told_which_package_brings_it(self, script):
        message = script("packages").no_venv_message(["ensurepip"], (3, 12))
        assert "lacks ensurepip" in message
        assert "apt-get install python3.12-venv" in message

    def test_a_python_without_ensurepip_makes_nothing_and_says_so(self, script, tmp_path, monkeypatch):
        known = importlib.util.find_spec
        monkeypatch.setattr(
            "importlib.util.find_spec", lambda name: None if name == "ensurepip" else known(name)
        )
        with pytest.raises(script("steps").Failed, match="lacks ensurepip") as failure:
            script("packages").Environment(tmp_path).refresh(dev=False)
        assert failure.value.exit_code == 2
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("arguments", "what"),
        [([], "run"), (["--recall"], "recall"), (["--tools"], "tools"), (["--dev"], "dev")],
    )
    def test_what_to_set_up_for_is_said_with_one_word(self, script, arguments, what):
        assert script("install").parse(arguments) == what

    def test_help_needs_nothing_but_python(self):
        done = subprocess.run(
            [sys.executable, "-S", SCRIPTS / "install.py", "--help"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "--dev" in done.stdout
