"""The benchmarks run, print ratios and keep their results. How fast anything is, no test asks."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)


def test_a_quick_run_prints_ratios_and_keeps_its_results(tmp_path):
    done = bench("--quick", "startup", "--results", str(tmp_path))

    assert done.returncode == 0, done.stderr
    assert re.search(r"^startup +forge --help .* \d+\.\d\d x \(less is better\)", done.stdout, re.MULTILINE)
    (kept,) = tmp_path.glob("*.json")
    saved = json.loads(kept.read_text())
    assert {result["name"] for result in saved["results"]} == {"startup"}
    for result in saved["results"]:
        ((ours, peer),) = result["rounds"]
        assert (result["ours"], result["peer"]) == (ours, peer)
    assert "| startup |" in (tmp_path / "latest.md").read_text()


def test_results_say_nothing_about_whose_machine_it_was(tmp_path):
    from benchmarks.machine import machine_facts, slug

    facts = machine_facts(tmp_path)

    assert list(facts) == [
        "cores",
        "CPU",
        "memory",
        "Python",
        "SQLite",
        "PostgreSQL",
        "kernel",
        "fdatasync p50",
        "load at the start",
    ]
    assert re.fullmatch(r"[a-z0-9.-]+", slug(facts))


def test_what_is_measured_again_replaces_only_its_own_lines(tmp_path):
    from benchmarks.report import compare, save

    facts = {"cores": "2", "CPU": "Some CPU", "memory": "4 GB", "Python": "3.11.7"}
    old = compare("runs", "chain", "steps/s", "more", "DBOS", [(50, 100), (60, 100), (40, 100)])
    stale, fresh = (compare("events", "append", "events/s", "more", "sqlite3", [(n, 10)]) for n in (1, 2))

    save(tmp_path, facts, [old, stale])
    path = save(tmp_path, facts, [fresh])

    assert path.name.endswith("-2-cores-some-cpu-4-gb-python-3.11.json")
    assert [(r["name"], r["ratio"]) for r in json.loads(path.read_text())["results"]] == [
        ("events", 0.2),
        ("runs", 0.5),
    ]


def test_an_unknown_benchmark_is_refused():
    done = bench("nonsense")

    assert done.returncode == 2
    assert "no benchmark called nonsense" in done.stderr
