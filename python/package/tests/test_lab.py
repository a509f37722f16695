# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay.lab: rows, comparisons, gates, benchmarks of functions, and pytest's fixture. Needs the program assay."""

import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

import assay
import pytest
from arrays import needs
from assay import lab
from softmax_bench import softmax

# However busy this machine is: what is tested is no time.
BRIEF = {"steady": "20ms", "tries": 1, "max_foreign": "100%", "max_steal": "100%"}
HERE = pathlib.Path(__file__).parent
needs_program = pytest.mark.skipif(shutil.which(os.environ.get("ASSAY_PROGRAM", "assay")) is None,
                                   reason="no program assay: ASSAY_PROGRAM, or `make install`")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A run of the benchmark, all providers, and the folder that it went to."""
    out = tmp_path_factory.mktemp("results")
    return softmax.run(out=out, quick=True, rounds=6, **BRIEF), out


@needs("pandas")
@needs_program
def test_a_function_gives_rows_like_any_other(measured):
    rows, out = measured
    counted = rows[rows["status"] != "excluded"]  # disturbed ones are made again
    status = counted.groupby("provider")["status"].unique().map(list).to_dict()
    assert status == {"softmax": ["ok"], "twice": ["ok"], "wrong": ["wrong_result"]}
    assert set(rows["point.n"]) == {64} and set(rows["isolation"]) == {"process"} and set(rows["suite"]) == {"own"}
    ok = rows[rows["status"] == "ok"]
    assert (ok["fidelity_error"] <= 1).all() and (ok["steady_time"] > 0).all() and (ok["flop_rate"] > 0).all()
    journal, = out.glob("*.jsonl")
    assert len(journal.read_text().splitlines()) >= len(rows)


@needs("pandas")
@needs("polars")
@needs_program
def test_frames_of_both_kinds_hold_the_journals_numbers(measured):
    rows, out = measured
    other = lab.rows(out, frame="polars")
    assert other.height == len(rows) and other["steady_time"].to_list()[0] == rows["steady_time"].iloc[0]
    journal, = out.glob("*.jsonl")
    of_journal = {}
    for line in journal.read_text().splitlines():
        row = json.loads(line)
        if "attempt_id" in row and row["metrics"].get("steady_time"):
            of_journal[row["attempt_id"]] = row["metrics"]["steady_time"]
    of_frame = {row.attempt_id: row.steady_time for row in rows.itertuples() if not math.isnan(row.steady_time)}
    assert of_frame == of_journal and of_journal
    assert len(lab.rows(out, run=rows["run_id"].iloc[0])) == len(rows)
    with pytest.raises(assay.UserError, match="pandas or polars, not 'arrow'"):
        lab.rows(out, frame="arrow")


@needs("pandas")
@needs_program
def test_comparisons(measured):
    rows, out = measured
    found = lab.compare("softmax", "twice", out)
    frame = found.frame()
    medians = rows[rows["status"] == "ok"].groupby("provider")["steady_time"].median()
    assert len(frame) == 1 and frame["ratio"].iloc[0] > 1.5
    assert frame["b"].iloc[0] == pytest.approx(medians["twice"], rel=0.2)
    assert found.data["comparisons"][0]["verdict"] == "twice is slower"
    assert repr(found) == "<assay.lab.Comparison: 1 × twice is slower>"


@needs("pandas")
@needs_program
def test_gates(measured, tmp_path):
    _, out = measured
    journal, = out.glob("*.jsonl")
    shutil.copy(journal, tmp_path / journal.name)
    same = lab.gate(out, tmp_path, junit=tmp_path / "gate.xml")
    assert same.status in (0, 3) and same.passed == (same.status == 0)
    assert {entry["provider"] for entry in same.data["rows"]} == {"softmax", "twice", "wrong"}
    assert "softmax" in (tmp_path / "gate.xml").read_text()
    with pytest.raises(assay.UserError, match="nothing-here"):
        lab.gate(out, tmp_path / "nothing-here")


def test_the_case_file_says_what_was_said():
    text = softmax.case_file()
    for line in ('case = "softmax"', '[inputs."x"]', 'shape = ["n", "n"]', 'reduction = "n"', '[providers."twice"]',
                 f'python = "{HERE / "softmax_bench.py"}:twice"', 'flops = "5 * n * n"'):
        assert line in text
    assert softmax({"x": __import__("numpy").zeros((2, 2))}, {}).tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_functions_of_no_file_are_refused():
    with pytest.raises(assay.UserError, match="must be a function of a file"):
        softmax.provider("inner")(lambda inputs, point: None)


@needs_program
def test_errors_say_what_the_command_line_says(tmp_path, monkeypatch):
    done = subprocess.run([os.environ.get("ASSAY_PROGRAM", "assay"), "export", str(tmp_path / "none.jsonl")],
                          capture_output=True, text=True, check=False)
    with pytest.raises(assay.UserError) as caught:
        lab.rows(tmp_path / "none.jsonl")
    assert done.stderr.strip() == f"assay: {caught.value}"


@pytest.mark.parametrize("status,error", [(2, assay.UserError), (5, assay.EnvironmentError), (70, assay.InternalError),
                                          (130, KeyboardInterrupt), (9, assay.InternalError)])
def test_exit_statuses_are_exceptions(tmp_path, monkeypatch, status, error):
    program = tmp_path / "assay"
    program.write_text(f"#!/bin/sh\necho 'assay: it went wrong' >&2\nexit {status}\n")
    program.chmod(0o755)
    monkeypatch.setenv("ASSAY_PROGRAM", str(program))
    with pytest.raises(error, match=None if error is KeyboardInterrupt else "it went wrong"):
        lab.compare("a", "b")


def test_a_program_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_PROGRAM", str(tmp_path / "none"))
    with pytest.raises(assay.EnvironmentError, match="none"):
        lab.compare("a", "b")


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
@needs_program
def test_the_fixture_fails_what_is_wrong(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "from softmax_bench import softmax\n"
        f"BRIEF = {BRIEF}\n"
        "def test_wrong(assay_benchmark):\n"
        "    assay_benchmark(softmax, providers='wrong', rounds=1, **BRIEF)\n")
    done = session(tmp_path)
    assert done.returncode == 1 and "softmax: wrong: wrong_result" in done.stdout
