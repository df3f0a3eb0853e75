"""Allowed commands and what they execute."""

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.agents.commands.command_policy import (
    Allowed,
    CommandRefused,
    NotACommand,
    allow_command,
    allow_tests,
    split,
)
from forge.agents.commands.command_rules import Runner
from forge.sandbox.models import Network

ROOT = Path("/projects/one")


def allowed(command: str) -> tuple[str, ...]:
    return allow_command(command, ROOT).argv


def refused(command: str) -> str:
    with pytest.raises(CommandRefused) as error:
        allow_command(command, ROOT)
    return error.value.message


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pytest -v", ["pytest", "-v"]),
        ("  pytest\t-v ", ["pytest", "-v"]),
        ('pytest -k "not (a)"', ["pytest", "-k", "not (a)"]),
        ("pytest -k 'a and $b; c | d'", ["pytest", "-k", "a and $b; c | d"]),
        (r"find . -name \*.py", ["find", ".", "-name", "*.py"]),
        ('a "b\\"c" d\'e\'"f"', ["a", 'b"c', "def"]),
        ("a ''", ["a", ""]),
        ("pytest t.py::test[1-2] HEAD~1 a#b x=y", ["pytest", "t.py::test[1-2]", "HEAD~1", "a#b", "x=y"]),
    ],
)
def test_line_is_split_like_a_shell(line: str, words: list[str]):
    assert split(line) == words == shlex.split(line)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("a; b", "several commands (;)"),
        ("a && b", "several commands (&)"),
        ("a | b", "pipes (|)"),
        ("a > b", "redirections (>)"),
        ("a < b", "redirections (<)"),
        ("a << EOF", "redirections (<)"),
        ("a `b`", "command substitution (`)"),
        ("a $(b)", "variables and substitution ($)"),
        ('a "$(b)"', "Use single quotes"),
        ('a "`b`"', "Use single quotes"),
        ("a$IFS$9b", "variables and substitution ($)"),
        ("a (b)", "parentheses"),
        ("a {b,c}", "braces"),
        ("ls *.py", "wildcards (*)"),
        ("ls ?", "wildcards (?)"),
        ("find . ! -name a", "negation (!)"),
        ("a # b", "Comments (#)"),
        ("a\nb", "control character ('\\n')"),
        ("a\r\nb", "control character ('\\r')"),
        ("a\0", "control character ('\\x00')"),
        ("a\x1b[31m", "control character ('\\x1b')"),
        ("a \u202e b", "control character ('\\u202e')"),
        ("a\u2028b", "control character ('\\u2028')"),
        ("a \ud800", "control character ('\\ud800')"),
        ("a 'b", "A quote (') is not closed"),
        ("a \\", "ends with a backslash"),
        ("", "empty"),
        ("  ", "empty"),
        ("a " * 201, "more than 200 words"),
        ("a" * 4001, "longer than 4,000"),
    ],
)
def test_shell_syntax_is_refused_by_name(line: str, reason: str):
    with pytest.raises(NotACommand) as error:
        split(line)
    assert reason in str(error.value)


@given(st.text(alphabet=st.sampled_from("ab '\"\\;|&$`()<>*\n-=/é#~"), max_size=30))
def test_split_matches_shlex(line: str):
    try:
        words = split(line)
    except NotACommand:
        return
    if "\\$" not in line and "\\`" not in line:  # which are not escapes here, although shells treat them so
        assert words == shlex.split(line)


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("pytest", "pytest"),
        ("pytest tests/test_foo.py -v -x --tb=short --lf", "pytest tests/test_foo.py -v -x --tb=short --lf"),
        ("python -m pytest -q", "python3 -m pytest -q"),
        ("python3 -m unittest discover -s tests", "python3 -m unittest discover -s tests"),
        ("npm test", "npm test"),
        ("npm test -- --coverage --any-option", "npm test -- --coverage --any-option"),
        ("npm run build", "npm run build"),
        ("npm run test:unit", "npm run test:unit"),
        ("npx vitest run", "vitest run"),
        ("npx tsc --noEmit", "tsc --noEmit"),
        ("pip install requests", "python3 -I -m pip install requests"),
        ("pip3 install -r requirements.txt", "python3 -I -m pip install -r requirements.txt"),
        (
            "pip install --requirement=a.txt 'x[y]>=1,<2'",
            "python3 -I -m pip install --requirement=a.txt x[y]>=1,<2",
        ),
        ("npm ci --omit=dev --ignore-scripts", "npm ci --omit=dev --ignore-scripts"),
        ("npm install --save-dev @types/node@^24 vitest", "npm install --save-dev @types/node@^24 vitest"),
        ("npm ci", "npm ci"),
        ("python -m venv .venv", "python3 -m venv .venv"),
        ("ruff check --fix .", "ruff check --fix ."),
        ("mypy --strict src", "mypy --strict src"),
        ("cat src/app.py", "cat src/app.py"),
        ("head -20 a.txt", "head -20 a.txt"),
        ("find . -name '*.py' -not -path './x/*'", "find . -name *.py -not -path ./x/*"),
        ("git diff HEAD~1..HEAD -- src", "git --no-pager diff HEAD~1..HEAD -- src"),
        ("git show HEAD:src/app.py", "git --no-pager show HEAD:src/app.py"),
        ("tail -n 5 a.txt", "tail -n 5 a.txt"),
        ("tail -5 f.txt", "tail -5 f.txt"),
        ("eslint --rule semi -c eslint.config.js .", "eslint --rule semi -c eslint.config.js ."),
        ("npx vitest run --config=unit.config.ts", "vitest run --config=unit.config.ts"),
        ("jest --config jest.unit.js", "jest --config jest.unit.js"),
        ("prettier --check --config .prettierrc .", "prettier --check --config .prettierrc ."),
        ("go test ./...", "go test ./..."),
        ("go test -cover -count=1 -run X ./...", "go test -cover -count=1 -run X ./..."),
        ("cargo test --all", "cargo test --all"),
        ("make test lint", "make test lint"),
        ("node --check a.js", "node --check a.js"),
        ("cat /projects/one/src/app.py", "cat /projects/one/src/app.py"),
    ],
)
def test_common_commands_are_allowed(command: str, argv: str):
    assert allowed(command) == tuple(argv.split(" "))


def test_test_commands_have_their_runner():
    assert allow_tests('pytest -k "not (a)"', ROOT) == Allowed(
        ("pytest", "-k", "not (a)"), Network.NONE, Runner.PYTEST, 1, in_environment=False
    )
    assert allow_tests("python -m pytest", ROOT).runner is Runner.PYTEST
    assert allow_tests("npx jest", ROOT).runner is Runner.JEST
    assert allow_tests("node --test", ROOT).runner is Runner.NODE
    assert allow_tests("npm run test", ROOT).runner is Runner.NPM
    assert allow_command("npm run test", ROOT).runner is Runner.NPM
    for command in ("ls", "pip install x", "npm run build", "python app.py", "pytestx", "npm testx"):
        with pytest.raises(CommandRefused):
            allow_tests(command, ROOT)


def test_report_options_are_placed_for_the_runner():
    ours = ("--report=x",)
    assert allow_tests("python -m pytest -q", ROOT).with_options(ours).argv == (
        *("python3", "-m", "pytest", "--report=x", "-q"),
    )
    assert allow_tests("npm test", ROOT).with_options(ours).argv == ("npm", "test", "--", "--report=x")
    assert allow_tests("npm test -- a", ROOT).with_options(ours).argv == (
        "npm",
        "test",
        "--",
        "a",
        "--report=x",
    )
    assert allow_tests("npm test", ROOT).with_options(()).argv == ("npm", "test")


def test_only_installs_reach_the_registry():
    for command in ("pip install x", "python -m pip install x", "npm install", "npm ci", "npm add x"):
        assert allow_command(command, ROOT).network is Network.REGISTRY
    for command in (
        "pytest",
        "npm run build",
        "pip list",
        "npx eslint .",
        "make",
        "npm test",
        "python -m venv .venv",
    ):
        assert allow_command(command, ROOT).network is Network.NONE
    assert (
        allow_command("pip install x", ROOT).in_environment
        and not allow_command("pytest", ROOT).in_environment
    )


@pytest.mark.parametrize(
    "words",
    [
        *(
            ".",
            "-e .",
            "-e x",
            "--editable=.",
            "--editable x",
            "'.[dev]'",
            "./x",
            "x/",
            "a/b.tar.gz",
            "x.zip",
            "'x.TGZ[y]'",
        ),
        *(
            "x==1.whl",
            "--no-build-isolation .",
            "-q -r a.txt .",
            "-r -e ./x",
            "--progress-bar off ./x",
            "requests .",
        ),
    ],
)
def test_project_install_has_no_registry_access(words: str):
    found = allow_command(f"pip install {words}", ROOT)
    assert (found.network, found.builds_a_project) == (Network.NONE, True)
    assert found.argv[:7] == ("python3", "-I", "-m", "pip", "install", "--no-index", "--no-build-isolation")


@pytest.mark.parametrize(
    "words", ["-r ./a.txt", "-r a/b.txt -c ./c", "x --progress-bar off", "x==1.0", "a.b"]
)
def test_package_install_has_registry_access(words: str):
    assert allow_command(f"pip install {words}", ROOT).network is Network.REGISTRY


@pytest.mark.parametrize(
    "command",
    [
        # accepted by an earlier version
        "cat a > b",
        "pytest\ntouch x",
        "find . -delete",
        "cat /etc/hostname",
        "python -m http.server",
        "npx cowsay",
        "npx --yes vitest",
        "pip install git+https://example.com/x",
        "pytestx",
        # programs
        *("rm -rf .", "curl x", "wget x", "ssh x", "sh -c x", "bash", "env pytest", "sudo ls", "xargs ls", "eval x"),
        *("./run.sh", "/bin/ls", "../x", ".venv/bin/pytest", "src\\run", "FOO=1 pytest", "A+=1 ls", "=ls", "''"),
        *("git push", "git remote -v", "git -c a=b status", "git --git-dir=x log", "git", "git commit", "git config x"),
        *("python app.py", "python -c 1", "python", "python -", "python -i", "python -m", "python -mpytest"),
        *("python -Im pytest", "python -m smtpd", "python -m pdb", "python -X dev -m pytest", "python4 -m pytest"),
        *("node a.js", "node -e 1", "node --eval 1", "node", "npm", "npm exec x", "npm publish", "npm config set a b"),
        *("npm run-script x", "npm x y", "npx", "npx -p a b", "npx -c ls", "npm init x", "npm explore a -- b"),
        *("pip", "pip download x", "pip config set a b", "pip uninstall x", "pip wheel x", "pip --index-url x install y"),
        *("ｌｓ", "рytest", "ls\u00a0-la", "py\u200btest", "PYTEST", "cat\u037e ls", "make\u2028x"),  # noqa: RUF001
        # options that lead somewhere else
        *("pip install -i x y", "pip install --index-url=x y", "pip install --index-u=x y", "pip install --extra-index-url x y"),
        *("pip install --find-links=x y", "pip install -f x y", "pip install --target=x y", "pip install -t x y"),
        *("pip install --prefix x y", "pip install --root x y", "pip install --user y", "pip install --proxy x y"),
        *("pip install --trusted-host x y", "pip install --cert x y", "pip install --python x y", "pip install -rx.txt"),
        *("pip install -r https://example.com/r.txt", "pip install --requirement=http://x/y", "pip install -r ../r.txt"),
        *("pip install 'x @ https://example.com/x.whl'", "pip install ../x", "pip install /tmp/x", "pip install file:///x"),
        *("pip install --no-binary=:all: x", "pip install --global-option=x y", "pip install --config-settings=a=b y"),
        *("pip install -- --index-url=x", "pip install ssh://x", "pip install git@github.com:a/b", "pip install 'a;b'"),
        *("npm install --registry=x", "npm install --reg x", "npm install --prefix x", "npm install -g x", "npm install --global x"),
        *("npm install user/repo", "npm install github:a/b", "npm install git+ssh://x", "npm install https://x/y.tgz"),
        *("npm install -- https://x/y.tgz", "npm install -- a/b", "npm install ../x", "npm install ./x", "npm install x@npm:y"),
        *("npm install --script-shell=x", "npm install --no-ignore-scripts", "npm install --userconfig x", "npm ci --cache=x"),
        *("npm install --ignore-scripts=false", "npm ci --ignore-scripts=", "npm i --ignore-scripts false", "npm i --force=x"),
        *("npm i --ignore-scripts null", "pip install --pre=x y", "pip install -- -r ./x", "pip install --group=x", "make -k=x"),
        *("npm run x --script-shell=y", "npm test --node-options=-rx", "npm run --prefix x y", "npm run x -- --o=/etc/x"),
        *("pytest --junitxml=../../x", "pytest --junitxml=x", "pytest --junit-xml x", "pytest --junit x", "pytest --pdb"),
        *("pytest @args.txt", "pytest @/etc/passwd", "pytest --rootdir=/", "pytest -c /etc/x", "pytest -o cache_dir=/tmp/x"),
        *("pytest --basetemp=x", "pytest --pastebin=all", "pytest ~/x", "pytest ../x", "pytest a/../../x", "pytest -o/tmp/x"),
        *("find . -exec ls", "find . -execdir ls", "find . -ok ls", "find . -fprint x", "find . -fprintf x y", "find . -fls x"),
        *("find / -name x", "find . '-delete'", "find . -files0-from x", "find ..", "find ~", "find . -newer /etc/x"),
        *("git diff --output=x", "git diff --outpu=x", "git log --output x", "git show --ext-diff", "git diff --textconv"),
        *("git diff --no-index a b", "git log -c", "git status --git-dir=x", "git diff -Ox", "git log --upload-pack=x"),
        *("tail -f x", "tail --follow x", "tail -F x", "tail --fol x", "wc --files0-from=x", "cat ../x", "cat --x=../y", "ls ~root"),
        *("node --test -e 1", "node --test --require=x", "node --test --import x", "node --test --test-reporter=x", "node --test -r x"),
        *("vitest --watch", "vitest --outputFile=x", "npx jest --json", "jest --watchAll", "tsc --watch", "tsc -w", "tsc @x"),
        *("make -C x", "make -f x", "make CC=x", "make --eval=x", "make SHELL=x", "make -I x", "make 'a b'"),
        *("cargo test --config x", "cargo build -Zx", "go test -exec x", "go build -toolexec=x", "go build -o x", "go run ."),
        *("tail -5f x", "tail -nf x", "tail -n5 -f x", "tail -qF x", "tail -c5f x", "tail --follow=name x", "tail --f x", "tail +5f x"),
        *("go vet -vettool=x", "go vet --vettool x", "go build -ldflags=-extld=x", "go build -ldflags '-s -w'", "go test -gcflags=x"),
        *("go build --toolexec x", "go test --exec=x", "go vet -toolexec=x", "go build -overlay=x", "go build -C x", "go build --o=x"),
        *("eslint --rulesdir x", "eslint --rulesdir=x .", "eslint --resolve-plugins-relative-to x", "eslint --plugin=x ."),
        *("eslint --resolvePluginsRelativeTo=x", "npx eslint --parser x .", "eslint -c ../x", "eslint -c /x", "eslint --config=/x"),
        *("pytest -p plugin", "pytest -pplugin", "python -m pytest -p x.y", "prettier --plugin=x .", "npx prettier --plugin x ."),
        *("npx jest --globalSetup x.js", "jest --testRunner=x", "vitest --environment=x", "jest --config=/x.js", "vitest -c ../x.ts"),
        *("tsc -watch", "tsc --Watch", "tsc -W", "npx tsc --watchFile x", "eslint --init"),
        *("mypy --install-types", "mypy --python-executable=x", "black @x", "eslint --resolve-plugins-relative-to=/x"),
        *("cat file:/etc/passwd", "cat a:/etc/passwd", "ls --x=/projects/one/a:/etc", "ls /projects/one/../two", "ls /projects/oneself"),
    ],
)  # fmt: skip
def test_disallowed_commands_are_refused(command: str):
    refused(command)


def test_refusal_lists_allowed_commands():
    with pytest.raises(CommandRefused) as error:
        allow_tests("curl https://example.com", ROOT)
    assert error.value.message == "'curl https://example.com' is not allowed."
    assert error.value.hint == (
        "run_tests accepts: pytest, vitest, jest, python -m pytest|unittest, npm test, npm run test|test:*, "
        "npx vitest|jest, node --test, cargo test, go test, make test."
    )
    assert refused("pip install --index-url=x y") == "'--index-url' is not allowed with pip install."
    assert refused("npm ci --ignore-scripts=false") == "'--ignore-scripts' takes no value with npm ci."
    assert refused("cat ../x") == "'../x' leads out of the workspace."
    assert refused("npx cowsay") == "'npx cowsay' is not allowed."
