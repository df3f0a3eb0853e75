"""The benchmarks run, print ratios and store their results. No test asserts a speed."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run_benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)


def test_quick_run_prints_ratios_and_stores_results(tmp_path):
    result = run_benchmarks("--quick", "startup", "--results", str(tmp_path))

    assert result.returncode == 0, result.stderr
    assert re.search(
        r"^startup +forge --help .* \d+\.\d\d x \(lower is better\)", result.stdout, re.MULTILINE
    )
    (path,) = tmp_path.glob("*.json")
    report = json.loads(path.read_text())
    assert {result["name"] for result in report["results"]} == {"startup"}
    for result in report["results"]:
        ((ours, peer),) = result["rounds"]
        assert (result["ours"], result["peer"]) == (ours, peer)
    assert "| startup |" in (tmp_path / "latest.md").read_text()


def test_results_do_not_identify_the_machine(tmp_path):
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


def test_repeated_measurement_replaces_only_its_lines(tmp_path):
    from benchmarks.report import compare, save

    facts = {"cores": "2", "CPU": "Some CPU", "memory": "4 GB", "Python": "3.11.7"}
    old = compare("runs", "chain", "steps/s", "more", "DBOS", [(50, 100), (60, 100), (40, 100)])
    unchanged, updated = (
        compare("events", "append", "events/s", "more", "sqlite3", [(n, 10)]) for n in (1, 2)
    )

    save(tmp_path, facts, [old, unchanged])
    path = save(tmp_path, facts, [updated])

    assert path.name.endswith("-2-cores-some-cpu-4-gb-python-3.11.json")
    assert [(r["name"], r["ratio"]) for r in json.loads(path.read_text())["results"]] == [
        ("events", 0.2),
        ("runs", 0.5),
    ]


def test_failing_benchmark_does_not_stop_the_others(tmp_path, monkeypatch, capsys):
    from benchmarks.report import compare

    from benchmarks import __main__ as command

    def failing(_bench):
        yield compare("breaks", "a part", "ms", "less", "floor", [(2, 1)])
        raise RuntimeError("the disk is full")

    def passing(_bench):
        yield compare("works", "all", "ms", "less", "floor", [(3, 1)])

    monkeypatch.setattr(command, "BENCHMARKS", {"breaks": (failing, 10), "works": (passing, 10)})
    monkeypatch.setattr(sys, "argv", ["bench", "--quick", "--results", str(tmp_path)])
    with pytest.raises(SystemExit) as error:
        command.main()

    assert error.value.code == "Failed: breaks"
    (path,) = tmp_path.glob("*.json")
    lines = [(r["name"], r["what"], r["ratio"], r["note"]) for r in json.loads(path.read_text())["results"]]
    assert lines == [
        ("breaks", "a part", 2.0, ""),
        ("breaks", "the rest of it", None, "failed: the disk is full"),
        ("works", "all", 3.0, ""),
    ]
    assert "the disk is full" in capsys.readouterr().out


def test_round_starts_only_if_time_is_left(tmp_path):
    from benchmarks.bench import Bench

    unlimited = Bench(tmp_path, quick=False, until=time.monotonic() + 60)
    expired = Bench(tmp_path, quick=False, until=time.monotonic() - 1)
    quick = Bench(tmp_path, quick=True)

    assert [list(bench.rounds(3)) for bench in (unlimited, expired, quick)] == [[0, 1, 2], [0], [0]]


def test_all_benchmarks_fit_into_a_quarter_of_an_hour():
    from benchmarks.__main__ import BENCHMARKS

    assert sum(seconds for _, seconds in BENCHMARKS.values()) < 14 * 60


def test_unknown_benchmark_is_rejected():
    result = run_benchmarks("nonsense")

    assert result.returncode == 2
    assert "no benchmark called nonsense" in result.stderr


def test_readme_quotes_the_latest_results():
    from benchmarks.quoting import BEGIN, END, quoted
    from benchmarks.report import load

    latest = max((ROOT / "benchmarks/results").glob("*.json"))
    quoted_text = (ROOT / "README.md").read_text().partition(BEGIN)[2].partition(END)[0]

    assert quoted_text == quoted(load(latest)) + "\n"


def test_only_quoted_results_are_rewritten(tmp_path):
    from benchmarks.quoting import BEGIN, END, quote
    from benchmarks.report import compare

    readme = tmp_path / "README.md"
    readme.write_text(f"# Before\n{BEGIN}old\n{END}After\n")

    quote(
        readme,
        [compare("memory", "memory, idle", "MB", "less", "FastAPI + DBOS alone", [(120, 90), (130, 100)])],
    )

    assert readme.read_text() == (
        f"# Before\n{BEGIN}|  | Forge | compared with | result | ratio |\n| --- | --- | --- | --- | --- |\n"
        f"| memory, idle | 125 MB | FastAPI + DBOS alone | 95 MB | 1.32 (lower is better) |\n{END}After\n"
    )
