"""Validation of requirements files before pip reads them."""

from pathlib import Path

import pytest
from tests.agents.tools.conftest import Use

from forge.agents.commands.requirements import RequirementRefused, check_requirements
from forge.workspace.filesystem.files import Files

ALL_THERE_IS = """\
# -*- coding: utf-8 -*-
requests
Django>=4.2,<5  # the web
uvicorn [standard] ~= 0.30 ; python_version >= "3.8" and sys_platform != 'win32'
old (>=1.0, !=1.1)
six==1.16.0 \\
    --hash=sha256:1e61c37477a1626458e36f7b1d82aa5c9b094fa4802892072e49de9c60c4c926 \\
    --hash=sha256:8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254
x===1.0+local.1,
-r more/base.txt
-c constraints.txt
--requirement=other.txt
--pre
--only-binary :all:
"""


def check(root: Path, *words: str) -> None:
    with Files(root) as files:
        check_requirements(words, files)


def refusal(root: Path, *words: str) -> str:
    with pytest.raises(RequirementRefused) as error:
        check(root, *words)
    return error.value.message


def test_common_requirements_are_accepted(root: Path):
    (root / "requirements.txt").write_text(ALL_THERE_IS)
    (root / "more").mkdir()
    (root / "more" / "base.txt").write_text("-r ../requirements.txt\n-cup.txt\nflask\n")
    (root / "more" / "up.txt").write_text("flask<4\r\n")
    check(root, "-q", "-r", "requirements.txt", "--constraint=missing.txt", "-r", f"{root}/more/up.txt")


@pytest.mark.parametrize(
    "line",
    [
        *("--no-binary :all:", "--no-binary=six", "-i x", "--index-url http://x/", "--extra-index-url=http://x/", "-f ./x"),
        *("--find-links x", "--trusted-host x", "--only-binary :none:", "--pre --no-binary x", "--no-b x", "--use-pep517"),
        *("-e .", "-e.", "--editable=x", "--editable ./x", ".", "./x", "x/y", "x.tar.gz", "x==1.zip", "x.whl --hash=sha256:a"),
        *("x @ https://x/y.whl", "x@file:///x", "git+https://x/y", "https://x/y.zip", "file:x", "x.zip ; python_version>'3'"),
        *("x --global-option=y", "x --config-settings a=b", "x --hash=sha256:a --no-binary x", "'--no-binary' x", "x y", "${X}"),
        *("-r https://x/r.txt", "-r ${X}", "-r 'a b'", "-r a --no-binary x", "--req a.txt", "x\\t--no-binary\\tx", "--no-\\\nbinary x"),
    ],
)  # fmt: skip
def test_refused_line_is_reported_with_number(root: Path, line: str):
    (root / "inner.txt").write_text(f"# first\nsix\n{line}\n")
    (root / "r.txt").write_text("-c inner.txt\n")
    assert refusal(root, "-r", "inner.txt").startswith("inner.txt, line 3: ")
    assert refusal(root, "-qq", "--requirement", "r.txt").startswith("inner.txt, line 3: ")


def test_comments_do_not_hide_lines(root: Path):
    (root / "r.txt").write_text("# a \\\n-e .\n")
    assert refusal(root, "-r", "r.txt").startswith("r.txt, line 2: '-e .' is not from the registry.")
    (root / "r.txt").write_text("six#\x0b--no-binary six\n")
    assert refusal(root, "-r", "r.txt").startswith("r.txt, line 1: 'six#'")
    (root / "r.txt").write_text("# six\u2028--no-binary six\n")
    assert (
        refusal(root, "-r", "r.txt") == "r.txt, line 2: '--no-binary six' is an option that is not allowed."
    )


def test_unreadable_requirements_file_is_refused(root: Path, outside: Path):
    (root / "utf16.txt").write_bytes("-e .".encode("utf-16"))
    assert refusal(root, "-r", "utf16.txt") == "'utf16.txt' is not UTF-8."
    (root / "utf7.txt").write_text("# coding: utf-7\nsix\n")
    assert refusal(root, "-r", "utf7.txt") == "'utf7.txt' declares an encoding other than UTF-8."
    (root / "large.txt").write_text("#" * 1_000_001)
    assert refusal(root, "-r", "large.txt").startswith("'large.txt' is too large")
    (root / "deep" / "er").mkdir(parents=True)
    (root / "link").symlink_to("deep/er")
    (root / "deep" / "evil.txt").write_text("-e .\n")
    (root / "r.txt").write_text("-r link/../evil.txt\n")
    assert refusal(root, "-r", "r.txt") == "'link/../evil.txt' leads through a link."
    for number in range(51):
        (root / f"{number}.txt").write_text(f"-r {number + 1}.txt\n")
    assert refusal(root, "-r", "0.txt") == "There are more than 50 requirements files."


@pytest.mark.parametrize(
    "line", ["x" + " " * 900_000 + "!", "x.zip[" * 150_000, "x" + ">1," * 300_000 + "!", "(" * 900_000]
)
def test_hostile_lines_are_checked_quickly(root: Path, line: str):
    (root / "r.txt").write_text(line)
    assert "line 1" in refusal(root, "-r", "r.txt")


async def test_refused_line_prevents_install(use: Use, root: Path):
    (root / "requirements.txt").write_text("six\n--no-binary :all:\n")
    outcome = await use("run_command", command="pip install -r requirements.txt")
    assert outcome.is_error and not (root / ".venv").exists()
    assert outcome.text == (
        "Error: requirements.txt, line 2: '--no-binary :all:' is an option that is not allowed. "
        "Only packages from the registry can be installed from a file."
    )
