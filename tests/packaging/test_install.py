"""The install scripts: selection of Node, stamps of finished steps, and pip settings for uv."""

import importlib.util
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def write_program(folder: Path, name: str, output: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\necho {output}\n")
    file.chmod(0o755)


class TestNode:
    @pytest.mark.parametrize(
        ("text", "version"),
        [("v20.19.0\n", (20, 19, 0)), ("11.6.2", (11, 6, 2)), ("v24", (24,)), ("no version", ()), ("", ())],
    )
    def test_version_is_parsed_from_the_output(self, script, text, version):
        assert script("node").parse_version(text) == version

    @pytest.mark.parametrize(
        ("node", "npm", "expected"),
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
    def test_minimum_versions_of_node_and_npm(self, script, node, npm, expected):
        assert script("node").is_new_enough(node, npm) is expected

    def test_node_on_path_precedes_the_python_package(self, script, tmp_path, monkeypatch):
        for folder in ("on-path", "in-venv"):
            write_program(tmp_path / folder, "node", "v22.20.0")
            write_program(tmp_path / folder, "npm", "10.9.0")
        monkeypatch.setenv("PATH", str(tmp_path / "on-path"))
        assert script("node").find(tmp_path / "in-venv").npm == tmp_path / "on-path/npm"

    def test_python_package_is_used_if_node_on_path_is_too_old(self, script, tmp_path, monkeypatch):
        write_program(tmp_path / "on-path", "node", "v18.0.0")
        write_program(tmp_path / "on-path", "npm", "10.9.0")
        write_program(tmp_path / "in-venv", "node", "v24.1.0")
        write_program(tmp_path / "in-venv", "npm", "11.0.0")
        monkeypatch.setenv("PATH", str(tmp_path / "on-path"))
        node = script("node").find(tmp_path / "in-venv")
        assert node.npm == tmp_path / "in-venv/npm"
        assert node.env["PATH"].startswith(str(tmp_path / "in-venv"))

    def test_missing_node_is_none_and_an_error_with_a_hint_if_required(self, script, tmp_path, monkeypatch):
        monkeypatch.setenv("PATH", str(tmp_path))
        assert script("node").find(tmp_path) is None
        with pytest.raises(script("steps").Failed, match="make install") as error:
            script("node").require(tmp_path)
        assert error.value.exit_code == 2


class TestStamps:
    def test_digest_does_not_depend_on_the_order_of_files(self, script, tmp_path):
        first, second = tmp_path / "one", tmp_path / "two"
        first.write_text("1")
        second.write_text("2")
        digest = script("stamps").digest
        assert digest([first, second]) == digest([second, first])

    def test_digest_changes_if_content_moves_between_files(self, script, tmp_path):
        first, second = tmp_path / "one", tmp_path / "two"
        first.write_text("ab")
        second.write_text("c")
        before = script("stamps").digest([first, second])
        first.write_text("a")
        second.write_text("bc")
        assert script("stamps").digest([first, second]) != before

    def test_stamp_matches_only_its_digest(self, script, tmp_path):
        stamp = script("stamps").Stamp(tmp_path / "deep/stamp")
        assert not stamp.matches("abc")
        with stamp.renewed("abc"):
            assert not stamp.matches("abc")
        assert stamp.matches("abc")
        assert not stamp.matches("abd")

    def test_interrupted_step_leaves_no_stamp(self, script, tmp_path):
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
        """A Node whose npm records its calls and writes the page."""
        file = root / "npm"
        file.write_text(
            '#!/bin/sh\necho "$1" >> ../npm-calls\n'
            "[ $1 = ci ] || { mkdir -p ../src/forge/web && touch ../src/forge/web/index.html; }\n"
        )
        file.chmod(0o755)
        return script("node").Node(npm=file, path="/usr/bin:/bin")

    def npm_calls(self, root: Path) -> list[str]:
        return (root / "npm-calls").read_text().split()

    def test_web_app_is_built_once_and_when_a_source_changes(self, script, root, npm):
        web_app = script("web_app")
        assert not web_app.is_fresh(root)
        web_app.refresh(root, npm)
        web_app.refresh(root, npm)
        assert web_app.is_fresh(root)
        (root / "web/src/main.ts").write_text("2")
        assert not web_app.is_fresh(root)
        web_app.refresh(root, npm)
        assert self.npm_calls(root) == ["ci", "run", "run"]

    def test_changed_lock_file_reinstalls_the_packages(self, script, root, npm):
        script("web_app").refresh(root, npm)
        (root / "web/package-lock.json").write_text("{}")
        script("web_app").refresh(root, npm)
        assert self.npm_calls(root) == ["ci", "run", "ci", "run"]

    def test_generated_files_are_not_sources(self, script, root, npm):
        script("web_app").refresh(root, npm)
        (root / "web/openapi.json").write_text("{}")
        (root / "web/node_modules/thing.js").write_text("")
        assert script("web_app").is_fresh(root)

    def test_removed_output_is_rebuilt(self, script, root, npm):
        script("web_app").refresh(root, npm)
        (root / "src/forge/web/index.html").unlink()
        script("web_app").refresh(root, npm)
        assert self.npm_calls(root) == ["ci", "run", "run"]

    def test_build_without_output_fails_and_is_repeated(self, script, root, npm):
        npm.npm.write_text("#!/bin/sh\necho nothing was built\n")
        with pytest.raises(script("steps").Failed, match="nothing was built"):
            script("web_app").refresh(root, npm)
        assert not script("web_app").is_fresh(root)


class TestIndexes:
    def test_pip_config_is_parsed_without_warnings(self, script):
        pip_config = (
            "WARNING: some = warning\n"
            "global.index-url='https://one.example/simple'\n"
            "global.cert='/etc/ca.pem'\n"
            "install.index-url='https://two.example/simple'\n"
            ":env:.cert='/env/ca.pem'\n"
            "freeze.index-url='https://not.for.us/simple'\n"
        )
        assert script("indexes").parse_pip_config(pip_config) == {
            "index-url": "https://two.example/simple",
            "cert": "/env/ca.pem",
        }

    def test_index_certificate_and_timeout_are_passed_to_uv(self, script):
        pip = {"index-url": "https://one.example/simple", "cert": "/etc/ca.pem", "default-timeout": "180"}
        assert script("indexes").to_uv(pip, {}) == {
            "UV_DEFAULT_INDEX": "https://one.example/simple",
            "SSL_CERT_FILE": "/etc/ca.pem",
            "UV_HTTP_TIMEOUT": "180",
        }

    def test_existing_variables_are_kept(self, script):
        pip = {"index-url": "https://one.example/simple", "cert": "/etc/ca.pem"}
        environ = {"UV_DEFAULT_INDEX": "https://mine.example/simple"}
        assert script("indexes").to_uv(pip, environ) == {"SSL_CERT_FILE": "/etc/ca.pem"}

    def test_extra_indexes_are_passed_to_uv_except_missing_folders(self, script, tmp_path):
        existing, missing = tmp_path.as_uri(), (tmp_path / "gone").as_uri()
        pip = {"extra-index-url": f"{missing}\nhttps://extra.example/simple {existing}"}
        assert script("indexes").to_uv(pip, {}) == {
            "UV_INDEX": f"https://extra.example/simple {existing}",
            "UV_INDEX_STRATEGY": "unsafe-best-match",
        }

    def test_no_variables_without_pip_config(self, script):
        assert script("indexes").to_uv(script("indexes").parse_pip_config(""), {}) == {}


class TestMessages:
    def test_failed_command_error_contains_its_output(self, script, tmp_path):
        command = ["sh", "-c", "echo out; echo err >&2; exit 3"]
        with pytest.raises(script("steps").Failed) as error:
            script("steps").run(command, tmp_path)
        assert str(error.value) == "$ sh -c echo out; echo err >&2; exit 3\nout\nerr\n(exit code 3)"

    def test_long_step_shows_elapsed_seconds_in_a_terminal(self):
        code = "import time, steps\nwith steps.step('packages'): time.sleep(1.1)"
        screen, terminal = pty.openpty()
        subprocess.run(
            [sys.executable, "-c", code], cwd=SCRIPTS, stdout=terminal, check=True, env={"PYTHONPATH": "."}
        )
        text = ""
        while not text.endswith("\n"):
            text += os.read(screen, 1000).decode()
        os.close(terminal)
        assert re.fullmatch(r"packages \.\.\. (\rpackages \.\.\. \d s )+\rpackages \.\.\. \d\.\d s\r\n", text)
        os.close(screen)

    def test_missing_venv_error_names_the_package(self, script):
        message = script("packages").no_venv_message(["ensurepip"], (3, 12))
        assert "lacks ensurepip" in message
        assert "apt-get install python3.12-venv" in message

    def test_missing_ensurepip_fails_without_changes(self, script, tmp_path, monkeypatch):
        find_spec = importlib.util.find_spec
        monkeypatch.setattr(
            "importlib.util.find_spec", lambda name: None if name == "ensurepip" else find_spec(name)
        )
        with pytest.raises(script("steps").Failed, match="lacks ensurepip") as error:
            script("packages").Environment(tmp_path).refresh(dev=False)
        assert error.value.exit_code == 2
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("arguments", "target"),
        [([], "run"), (["--recall"], "recall"), (["--tools"], "tools"), (["--dev"], "dev")],
    )
    def test_option_selects_the_install_target(self, script, arguments, target):
        assert script("install").parse(arguments) == target

    def test_help_runs_without_site_packages(self):
        result = subprocess.run(
            [sys.executable, "-S", SCRIPTS / "install.py", "--help"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "--dev" in result.stdout
