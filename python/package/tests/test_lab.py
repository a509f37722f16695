# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay.lab: rows, comparisons, gates, benchmarks of functions. Needs the program assay."""

import functools
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib

import assay
import numpy
import pytest
from arrays import needs
from assay import _frames, lab
from measuring import BRIEF, HERE, described, needs_program
from softmax_bench import softmax, softmax64


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


class Inside:
    def method(inputs, point):
        pass


def test_functions_that_no_fresh_process_finds_are_refused():
    def inner(inputs, point):
        pass

    typed = {}
    exec(compile("def cell(inputs, point): pass", "<ipython-input-1>", "exec"), typed)
    for function, why in ((nameless, "is a lambda, which has no name.*: <lambda>"),
                          (inner, "is inside a function.*: .*inner"), (Inside.method, "is inside a class.*: Inside.method"),
                          (typed["cell"], "is in no file.*notebook.*: cell"),
                          (functools.partial(math.pow, 2), "is no function but of type partial.*pow"), (len, "builtin.*: len"),
                          (None, "is no function but of type NoneType.*: None")):
        with pytest.raises(assay.UserError, match=f"provider odd .*{why}"):
            softmax.provider("odd")(function)
        with pytest.raises(assay.UserError, match=why):
            described(function)
        with pytest.raises((assay.UserError, TypeError), match=f"oracle.*{why if function else 'a function or a str, not of type NoneType'}"):
            described(softmax64, oracle=function)
    assert "odd" not in softmax.case_file()


nameless = lambda inputs, point: None  # noqa: E731


def same_name(inputs, point):
    pass


first = same_name


def same_name(inputs, point):  # noqa: F811
    pass


def test_of_two_functions_with_one_name_a_fresh_process_finds_one():
    benchmark = described(first)
    with pytest.raises(assay.UserError, match="provider other has the name of another function of its file.*: same_name"):
        benchmark.provider("other")(same_name)
    with pytest.raises(assay.UserError, match="oracle has the name of another"):
        described(first, oracle=same_name)
    benchmark.provider("again")(first)


def test_values_that_no_case_file_can_hold_are_named():
    for keys, message in (({"work": {"flops": None}}, "work.flops: TOML has no value like this, of type NoneType"),
                          ({"limit": {1: 2}}, "limit: keys are texts, not of type int: 1"),
                          ({"description": "a\0b"}, "description: has a NUL character"),
                          ({"baseline": "\udcff"}, "baseline: is not UTF-8"),
                          ({"work": {"flops": 2**63}}, "work.flops: whole numbers of TOML are from")):
        with pytest.raises(assay.UserError, match=message):
            described(softmax64, **keys).case_file()
    text = described(softmax64, work={"flops": numpy.float32(2.5), "a b": numpy.arange(2)}, description="\x7f").case_file()
    assert 'flops = 2.5\n' in text and '"a b" = [0, 1]\n' in text
    assert tomllib.loads(text)["description"] == "\x7f"


FORKING = """
import os
import assay, numpy

FOLDER = {folder!r}

@assay.bench(parameters={{"n": [4], "dtype": ["f32"]}}, inputs={{"x": {{"shape": ["n"], "dtype": "dtype"}}}},
             outputs={{"y": ["n"]}}, oracle="none")
def forking(inputs, point):
    with open(FOLDER + "/calls", "a") as calls:
        calls.write(f"{{os.getpid()}}\\n")
    try:
        os.close(os.open(FOLDER + "/forked", os.O_CREAT | os.O_EXCL))  # once only, whoever calls
    except FileExistsError:
        return inputs["x"]
    child = os.fork()
    if child:
        with open(FOLDER + "/child", "w") as told:
            told.write(f"{{child}} {{os.waitpid(child, 0)[1]}}")
    return inputs["x"]

if __name__ == "__main__":
    rows = forking.run(out=FOLDER + "/results", rounds=1, {brief})
    print(list(rows["status"]))
"""


@needs("pandas")
@needs_program
def test_a_process_that_a_function_forked_measures_nothing(tmp_path):
    brief = ", ".join(f"{name}={value!r}" for name, value in BRIEF.items())
    (tmp_path / "forking.py").write_text(FORKING.format(folder=str(tmp_path), brief=brief))
    done = subprocess.run([sys.executable, str(tmp_path / "forking.py")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "['ok']\n"), done.stderr
    child, status = map(int, (tmp_path / "child").read_text().split())
    callers = set(map(int, (tmp_path / "calls").read_text().split()))
    assert child not in callers and os.waitstatus_to_exitcode(status) == 1


# Of two cases: one has no n, no row has a commit, one text looks like a number, one like nothing.
ROWS = (
    'run_id,attempt_id,suite,case,point,provider,platform,cores,round,status,failure_code,commit,fidelity_error,'
    'point.dtype,point.exact,point.n,point.scale,point.some,point.tag,point.wide,steady_time,unseen\r\n'
    'r1,a1,own,one,"{{""dtype"":""f32"",""exact"":true,""n"":64,""scale"":2,""some"":1,""tag"":""1"",""wide"":18446744073709551615}}",'
    'null,cpu,1,0,ok,,,0.25,f32,true,64,2,1,1,18446744073709551615,1e-3,\r\n{second}')
SECOND = ('r1,a2,own,two,"{""dtype"":""f32"",""scale"":0.5,""some"":""x""}",nan,cpu,1,1,failed,none,,,f32,,,0.5,x,,,nan,\r\n')
TYPES = {
    "run_id": "String", "attempt_id": "String", "suite": "String", "case": "String", "point": "String",
    "provider": "String", "platform": "String", "cores": "Int64", "round": "Int64", "status": "String",
    "failure_code": "String", "commit": "String", "fidelity_error": "Float64", "point.dtype": "String",
    "point.exact": "Boolean", "point.n": "Int64", "point.scale": "Float64", "point.some": "String", "point.tag": "String",
    "point.wide": "String", "steady_time": "Float64", "unseen": "Float64"}
IN_PANDAS = {"String": "string", "Int64": "Int64", "Boolean": "boolean", "Float64": "float64"}


@needs("pandas")
@needs("polars")
def test_types_of_frames_are_those_of_columns():
    table = ROWS.format(second=SECOND)
    pandas, polars = (_frames.frame_of_rows(table, kind) for kind in ("pandas", "polars"))
    assert {name: str(of) for name, of in polars.schema.items()} == TYPES
    assert {name: str(of) for name, of in pandas.dtypes.items()} == {name: IN_PANDAS[of] for name, of in TYPES.items()}
    for name in TYPES:
        in_pandas = [None if pandas[name].isna()[i] else pandas[name][i] for i in range(2)]
        in_polars = [None if value != value else value for value in polars[name].to_list()]
        assert in_pandas == in_polars, name
    assert polars["provider"].to_list() == ["null", "nan"] and polars["failure_code"].to_list() == [None, "none"]
    assert polars["point.tag"].to_list() == ["1", None] and polars["point.exact"].to_list() == [True, None]
    assert polars["point.wide"][0] == "18446744073709551615" and polars["commit"].is_null().all()


@needs("pandas")
@needs("polars")
def test_types_of_frames_do_not_depend_on_rows():
    whole = ROWS.format(second=SECOND)
    titles, first = ROWS.format(second="").split("\r\n")[:2]
    metric = {"steady_time": "Float64", "unseen": "Float64", "fidelity_error": "Float64", "commit": "String"}
    for table in (whole, f"{titles}\r\n{first}\r\n", f"{titles}\r\n"):
        polars, pandas = (_frames.frame_of_rows(table, kind) for kind in ("polars", "pandas"))
        for name, of in {**metric, "cores": "Int64", "status": "String"}.items():
            assert str(polars.schema[name]) == of and str(pandas.dtypes[name]) == IN_PANDAS[of]
        if first in table:  # a parameter is what points say that it is
            assert str(polars.schema["point.n"]) == "Int64" and str(pandas.dtypes["point.exact"]) == "boolean"


@needs("pandas")
@needs("polars")
def test_comparisons_as_frames_have_their_types_without_values():
    side = {"provider": "p", "status": "failed", "median": None}
    pair = {"suite": "own", "case": "c", "point": {"n": 1}, "provider": None, "platform": "cpu", "fingerprint": "f", "cores": 1,
            "isolation": None, "metric": "steady_time", "pairing": None, "ratio": None, "low": None, "high": None, "p": None,
            "p_adjusted": None, "differs": None, "verdict": "only in b", "rounds": 0, "minimum_detectable_effect": "inf",
            "rounds_needed": None, "a": None, "b": side}
    for pairs in ([], [pair], [pair, {**pair, "ratio": 1.5, "differs": True, "rounds_needed": 4}]):
        found = lab.Comparison({"comparisons": pairs})
        pandas, polars = found.frame(), found.frame("polars")
        assert str(polars.schema["ratio"]) == "Float64" and str(pandas.dtypes["ratio"]) == "float64"
        assert str(polars.schema["differs"]) == "Boolean" and str(pandas.dtypes["differs"]) == "boolean"
        assert str(polars.schema["rounds_needed"]) == "Int64" and str(pandas.dtypes["rounds_needed"]) == "Int64"
        assert list(polars.columns) == list(pandas.columns) and polars.height == len(pandas) == len(pairs)


@needs_program
@pytest.mark.parametrize("call", [lab.rows, lambda source: lab.compare(source, "b"), lambda source: lab.compare("a", source),
                                  lambda source: lab.compare("a", "b", source), lambda source: lab.gate(source, "b"),
                                  lambda source: lab.gate("a", source), lab.check_baseline])
def test_sources_are_no_options_of_the_program(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for source in ("--help", "-x", "--version"):
        with pytest.raises(assay.UserError) as caught:
            call(source)
        assert source in str(caught.value) or "'a'" in str(caught.value), caught.value


@needs("pandas")
@needs_program
def test_a_source_may_begin_with_a_dash(measured, tmp_path, monkeypatch):
    rows, out = measured
    monkeypatch.chdir(tmp_path)
    shutil.copytree(out, "-results")
    assert len(lab.rows("-results")) == len(lab.rows("-results", run=rows["run_id"].iloc[0])) == len(lab.rows(out))
    assert len(lab.compare("softmax", "twice", "-results").frame()) == 1
    assert softmax.run(out="-more", quick=True, rounds=1, providers="softmax", **BRIEF)["status"].isin(["ok", "excluded"]).all()


@pytest.mark.parametrize("call,name", [
    (lab.rows, "rows: source 0"), (lambda value: lab.rows("results", value), "rows: source 1"),
    (lambda value: lab.compare(value, "b"), "compare: a"), (lambda value: lab.compare("a", value), "compare: b"),
    (lambda value: lab.compare("a", "b", value), "compare: source 0"), (lambda value: lab.gate(value, "b"), "gate: baseline"),
    (lambda value: lab.gate("a", value), "gate: current"), (lambda value: lab.gate("a", "b", junit=value), "gate: junit"),
    (lab.check_baseline, "check_baseline: baseline"), (lambda value: softmax.run(out=value), "run: out")])
def test_sources_that_are_none_are_refused_by_name(call, name):
    for value, error in ((b"results", TypeError), (5, TypeError), (None, TypeError), ("a\0b", assay.UserError),
                         (os.fsdecode(b"caf\xe9"), assay.UserError), (pathlib.Path("a\0b"), assay.UserError)):
        if value is None and name == "gate: junit":
            continue
        with pytest.raises(error, match=f"^{name}: "):
            call(value)


def test_options_that_say_nothing_are_refused_by_name():
    for call, message in ((lambda: lab.rows(run=""), "run: nothing was given"),
                          (lambda: lab.compare("a", "b", metric=""), "metric: nothing was given")):
        with pytest.raises(assay.UserError, match=message):
            call()


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
