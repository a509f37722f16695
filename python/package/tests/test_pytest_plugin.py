# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""pytest's fixture assay_benchmark, and its gate. Needs the program assay."""

import os
import re
import subprocess
import sys
import types

import pytest
from arrays import needs
from assay import lab, pytest_plugin
from measuring import BRIEF, HERE, needs_program


def session(folder, *arguments):
    """A session of pytest of its own, with the plugin as it is installed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(HERE)}, capture_output=True,
                          text=True, check=False)


@needs("pandas")
@needs_program
def test_the_fixture_measures_and_the_gate_decides(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "from softmax_bench import softmax\n"
        f"BRIEF = {BRIEF}\n"
        "def test_right(assay_benchmark):\n"
        "    rows = assay_benchmark(softmax, providers='softmax', rounds=6, **BRIEF)\n"
        "    assert set(rows['provider']) == {'softmax'}\n")
    first = session(tmp_path, "--assay-out", "base")
    assert first.returncode == 0, first.stdout + first.stderr
    assert list((tmp_path / "base").glob("*.jsonl"))
    again = session(tmp_path, "--assay-out", "now", "--assay-baseline", "base")
    assert "assay gate" in again.stdout and "exit status" in again.stdout
    # As the gate says, and it may say anything but "wrong" of two runs of one function.
    assert again.returncode == (1 if "exit status 1" in again.stdout else 0) and "exit status 4" not in again.stdout


@needs("pandas")
@needs("xdist")
@needs_program
def test_the_gate_decides_over_what_workers_measured(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "from softmax_bench import softmax\n"
        f"BRIEF = {BRIEF}\n"
        "def test_measured(assay_benchmark):\n"
        "    assay_benchmark(softmax, providers='softmax', rounds=1, **BRIEF)\n"
        "def test_something_else():\n"
        "    pass\n")
    session(tmp_path, "--assay-out", "base")
    for chosen, is_gated in (("measured", True), ("else", False)):
        done = session(tmp_path, "-n", "1", "-k", chosen, "--assay-out", f"now-{chosen}", "--assay-baseline", "base")
        assert ("assay gate" in done.stdout) == is_gated, done.stdout + done.stderr
        assert ("FAILED" in done.stdout) == (done.returncode == 1)
    missing = session(tmp_path, "-n", "1", "--assay-baseline", "none.jsonl")
    assert missing.returncode == 4 and "--assay-baseline" in missing.stderr


@needs_program
def test_a_baseline_that_is_not_there_is_told_first(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "def test_long(assay_benchmark):\n"
        "    open('measured', 'w').close()\n")
    (tmp_path / "empty").mkdir()
    for baseline, message in (("none.jsonl", "none.jsonl"), ("empty", "no journal .*empty"), ("--help", "--help"),
                              ("results", "where --assay-out writes: results")):
        done = session(tmp_path, f"--assay-baseline={baseline}")
        assert done.returncode == 4 and re.search(f"--assay-baseline.*{message}", done.stderr), done.stdout + done.stderr
        assert not (tmp_path / "measured").exists()


@needs("pandas")
@needs_program
def test_the_fixture_fails_what_is_wrong(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "from softmax_bench import softmax\n"
        f"BRIEF = {BRIEF}\n"
        "def test_wrong(assay_benchmark):\n"
        "    assay_benchmark(softmax, providers='wrong', rounds=1, **BRIEF)\n"
        "def test_no_benchmark(assay_benchmark):\n"
        "    assay_benchmark(3)\n")
    done = session(tmp_path)
    assert done.returncode == 1 and "softmax: wrong: wrong_result" in done.stdout
    assert "TypeError: assay_benchmark: what assay.bench made, not of type int: 3" in done.stdout


class _Broken(lab.Benchmark):
    """Of which a program somewhere measured these rows."""

    def __init__(self, rows):
        self.name, self._rows = "broken", rows

    def run(self, **options):
        return self._rows


@pytest.mark.parametrize("library", [pytest.param(name, marks=[needs(name)]) for name in ("pandas", "polars")])
def test_the_fixture_names_all_that_is_wrong(library):
    told = [("a", '{"n":1}', "ok", None), ("a", '{"n":2}', "crashed", "signal 11"), ("a", '{"n":2}', "crashed", "signal 11"),
            ("b", '{"n":1}', "wrong_result", "nan"), ("b", '{"n":2}', "excluded", None), ("c", '{"n":1}', "timeout", None)]
    of = __import__(library)
    rows = of.DataFrame(dict(zip(("provider", "point", "status", "failure_message"), map(list, zip(*told)))))
    measure = pytest_plugin.Measurer(types.SimpleNamespace(getoption=lambda name: None))
    with pytest.raises(pytest.fail.Exception) as failed:
        measure(_Broken(rows))
    assert str(failed.value).split("\n")[:2] == ['broken: a: crashed: signal 11 at {"n":2} (2 times)',
                                                 'broken: b: wrong_result: nan at {"n":1}']
    assert str(failed.value).split("\n")[2].startswith("broken: c: timeout: ") and len(str(failed.value).split("\n")) == 3
    assert measure(_Broken(rows[:1])) is not None
