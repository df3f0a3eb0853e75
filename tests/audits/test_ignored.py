"""Code that git ignores and tests may use."""

from forge.audits.evidence.collector import ignored_code


def test_only_code_and_settings_outside_of_the_usual_folders_count():
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
