"""Files that git ignores but tests may use."""

from forge.audits.evidence.collector import ignored_code


def test_ignored_code_excludes_generated_folders():
    names = [
        "node_modules/",
        ".venv/",
        "app/__pycache__/",
        "app.egg-info/",
        "tests/conftest.py",
        "pytest.ini",
        "secret.env",
        "notes.txt",
        "hidden/",
        "web/local.ts",
        "build/lib/x.py",
    ]
    assert ignored_code(names) == ["hidden/", "pytest.ini", "tests/conftest.py", "web/local.ts"]
