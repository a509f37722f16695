# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Google Benchmark programs: as providers of a case file, and two of them beside each other. No time is asserted."""

import itertools
import json
import os
import re
import shutil
import subprocess
import unittest

from assay_cli import CliTest, main

# A program that takes Google Benchmark's options and says whatever it is told to.
FAKE = r'''#!/usr/bin/env python3
import json, os, re, signal, subprocess, sys, time
options = dict(a.lstrip("-").split("=", 1) for a in sys.argv[1:] if "=" in a)
mode = options.get("mode", "fine")
scale = float(options.get("scale", "1"))
names = options.get("names", "BM_A/8+BM_B<int, float>/8").split("+")
if mode == "banner":
    print("loading the data …", flush=True)
chosen = [n for n in names if re.search(options.get("benchmark_filter", "."), n)]
if options.get("benchmark_list_tests") == "true":
    if mode == "no_list": sys.exit(3)
    print("\n".join(chosen)); sys.exit(0)
count = int(options.get("benchmark_repetitions", "1"))
def entry(name, i, /, **more):
    return {"name": name, "family_index": names.index(name), "per_family_instance_index": 0, "run_name": name,
            "run_type": "iteration", "repetitions": count, "repetition_index": i, "threads": 1, "iterations": 100,
            "real_time": scale * (10.0 + 0.01 * i), "cpu_time": 9.0, "time_unit": "us", **more}
context = {"library_version": "v1.9.1", "library_build_type": "release", "caches": []}
def write(text):
    with open(options["benchmark_out"], "w") as f: f.write(text)
def document(entries, **more): return json.dumps({"context": context, "benchmarks": entries, **more})
if not chosen:
    write(""); sys.stderr.write("Failed to match any benchmarks against regex: x\n"); sys.exit(0)
entries = [entry(n, i) for n in chosen for i in range(count)]
if mode == "exit": write(document(entries)); sys.stderr.write("no licence\n"); sys.exit(1)
if mode == "signal": os.kill(os.getpid(), signal.SIGSEGV)
if mode == "hang": time.sleep(3600)
if mode == "terminal": sys.stdin.read()
if mode == "fork":
    subprocess.Popen(["sleep", "3611"], start_new_session=True)
if mode == "nothing": sys.exit(0)
if mode == "truncated": text = document(entries)[:-40]
elif mode == "not_json": text = "BM_A 10 us"
elif mode == "other_json": text = "[1, 2]"
elif mode == "no_list_of_benchmarks": text = json.dumps({"context": context})
elif mode == "nan_time": text = document([entry(chosen[0], 0, real_time=float("nan"))])
elif mode == "nan_counter":
    text = document(entries + [entry(chosen[0], 0, run_type="aggregate", aggregate_name="cv", real_time=float("nan"), load=float("-inf"))])
elif mode == "zero": text = document([entry(chosen[0], 0, real_time=0)])
elif mode == "negative": text = document([entry(chosen[0], 0, real_time=-1)])
elif mode == "longer_than_life": text = document([entry(chosen[0], 0, real_time=1e12)])
elif mode == "text_time": text = document([entry(chosen[0], 0, real_time="fast")])
elif mode == "missing": text = document([{"name": chosen[0]}])
elif mode == "no_name": text = document([{"real_time": 1}])
elif mode == "unit": text = document([entry(chosen[0], 0, time_unit="weeks")])
elif mode == "million":
    one = json.dumps(entry(chosen[0], 0))
    text = '{"context":{},"benchmarks":[' + ",".join([one] * 1_000_000) + "]}"
elif mode == "error": text = document([entry(chosen[0], 0, error_occurred=True, error_message="no such file")])
elif mode == "skipped": text = document([{"name": chosen[0], "skipped": True, "skip_message": "no GPU"}])
elif mode == "one_error": text = document(entries + [entry(chosen[0], count, error_occurred=True, error_message="later")])
elif mode == "same_name": text = document([entry(chosen[0], 0), entry(chosen[0], 0, family_index=7)])
elif mode == "other_name": text = document([entry(chosen[0], 0, name="BM_Z", run_name="BM_Z")])
elif mode == "old_format":
    text = json.dumps({"context": {}, "benchmarks": [
        {"name": chosen[0], "iterations": 10, "real_time": 2.0, "cpu_time": 1.0, "time_unit": "ms"}] * 3})
elif mode == "aggregates":
    text = document([entry(chosen[0], 0, run_type="aggregate", aggregate_name=a, name=chosen[0] + "_" + a) for a in ("mean", "median", "stddev")])
elif mode == "rates": text = document([entry(n, i, items_per_second=5.0, bytes_per_second=7.0) for n in chosen for i in range(count)])
elif mode == "deep": text = '{"context":' + "[" * 100000
elif mode == "prints":
    for _ in range(20000): print("x" * 100)
    text = document(entries)
else: text = document(entries)
write(text)
'''
CASE = """case = "bench"
oracle = "none"
[parameters]
n = [8]
[providers.bench]
google_benchmark = ["./fake", "--mode=MODE", "--benchmark_filter=BM_A/{n}"]
"""
FAST = ("--steady", "10ms", "--max-steal", "100%", "--max-foreign", "100%")
PROGRAM = """
#include <benchmark/benchmark.h>
static void BM_Sum(benchmark::State& state) {
  for (auto _ : state) {
    double sum = 0;
    for (int i = 0; i < state.range(0); ++i) benchmark::DoNotOptimize(sum += i);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["nothing"] = 0;  // its coefficient of variation is no number
}
BENCHMARK(BM_Sum)->Arg(8)->Arg(80);
template <class T, class U> static void BM_Template(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(T(1) + U(2));
}
BENCHMARK_TEMPLATE(BM_Template, int, float);
static void BM_Manual(benchmark::State& state) {
  for (auto _ : state) state.SetIterationTime(1e-6);
}
BENCHMARK(BM_Manual)->UseManualTime()->Iterations(50);
static void BM_Fails(benchmark::State& state) { state.SkipWithError("no such device"); for (auto _ : state) {} }
BENCHMARK(BM_Fails);
EXTRA
BENCHMARK_MAIN();
"""


class GoogleBenchmark(CliTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.write("fake", FAKE), 0o755)
        self.numbers = itertools.count()

    def rows_of(self, text, *options):
        self.write("bench.toml", text)
        self.journal = f"j{next(self.numbers)}.jsonl"
        result = self.assay("run", "bench.toml", "--rounds", "1", "--out", self.journal, *FAST, *options)
        self.assertTrue(os.path.exists(self.path(self.journal)), result.stderr)
        return [json.loads(line) for line in self.read(self.journal).splitlines()]

    def row(self, mode, *options):
        rows = self.rows_of(CASE.replace("MODE", mode), *options)
        self.assertEqual(len(rows), 1)
        return rows[0]

    def expect(self, mode, code, message, *options, status="failed"):
        row = self.row(mode, *options)
        self.assertEqual((row["status"], row["failure"]["code"]), (status, code), (mode, row["failure"]))
        self.assertIn(message, row["failure"]["message"], mode)
        self.assertNotIn("\n", row["failure"]["message"], mode)

    def test_repetitions_are_samples_and_nobody_judges_them(self):
        row = self.row("rates", "--batches", "7")
        self.assertEqual(row["status"], "ok", row["failure"])
        self.assertEqual(row["fidelity"]["status"], "no_oracle")
        self.assertEqual(row["samples"]["steady_s"], [1e-6 * (10 + 0.01 * i) for i in range(7)])
        self.assertEqual(row["samples"]["batch_calls"], 100)
        self.assertAlmostEqual(row["metrics"]["steady_time"], 10.03e-6)
        self.assertAlmostEqual(row["metrics"]["cpu_time"], 9e-6)
        self.assertEqual(row["metrics"]["item_rate"], 5)
        self.assertEqual(row["metrics"]["bandwidth"], 7)
        self.assertEqual(row["provenance"]["versions"]["google-benchmark"], "v1.9.1")
        self.assertRegex(row["provenance"]["versions"]["fake"], "^sha256:[0-9a-f]{64}$")
        self.assertIn("no oracle", self.run_ok("report", self.journal).stdout)

    def test_what_is_strange_but_sound_is_taken(self):
        for mode, count in (("nan_counter", 10), ("old_format", 3), ("aggregates", 1), ("prints", 10), ("terminal", 10), ("banner", 10)):
            row = self.row(mode)
            self.assertEqual(row["status"], "ok", (mode, row["failure"]))
            self.assertEqual(len(row["samples"]["steady_s"]), count, mode)

    def test_whatever_it_writes_is_a_row(self):
        for mode, code, message in (
            ("exit", "exit_code", "exit status 1: no licence"),
            ("signal", "signal", "signal 11"),
            ("nothing", "no_output", "is it a Google Benchmark program?"),
            ("truncated", "bad_output", "not valid JSON"),
            ("not_json", "bad_output", "not valid JSON"),
            ("deep", "bad_output", "JSON"),
            ("other_json", "bad_output", "no list of benchmarks"),
            ("no_list_of_benchmarks", "bad_output", "no list of benchmarks"),
            ("nan_time", "bad_output", "real_time"),
            ("zero", "bad_output", "took 0 s"),
            ("negative", "bad_output", "took -1e-06 s"),
            ("text_time", "bad_output", "real_time"),
            ("missing", "bad_output", "real_time"),
            ("no_name", "bad_output", "name"),
            ("unit", "bad_output", "weeks"),
            ("million", "bad_output", "more than 10000 repetitions"),
            ("error", "error_occurred", "no such file"),
            ("one_error", "error_occurred", "later"),
            ("skipped", "skipped_by_benchmark", "no GPU"),
            ("same_name", "several_benchmarks", "several benchmarks have this name"),
        ):
            with self.subTest(mode):
                self.expect(mode, code, message)

    def test_times_that_cannot_be(self):
        self.expect("longer_than_life", "impossible_rate", "process that lived", status="wrong_result")

    def test_hanging_and_leaving_processes(self):
        self.expect("hang", "timeout", "own_clock", "--limit", "2s", status="timeout")
        row = self.row("fork")
        self.assertEqual(row["status"], "ok", row["failure"])
        running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        self.assertNotIn("sleep 3611", running)

    def test_a_filter_selects_one(self):
        def with_filter(word):
            return CASE.replace("MODE", "fine").replace("--benchmark_filter=BM_A/{n}", word)

        for word, code, message in (
            ("--benchmark_filter=BM_Q", "no_benchmark", "no benchmark matches"),
            ("--benchmark_filter=BM", "several_benchmarks", "2 benchmarks match, expected one: BM_A/8, BM_B<int, float>/8"),
            ("--names=" + "+".join(f"B{i}" for i in range(300)), "several_benchmarks", "at least 100 benchmarks match"),
        ):
            row = self.rows_of(with_filter(word))[0]
            self.assertEqual((row["status"], row["failure"]["code"]), ("failed", code))
            self.assertIn(message, row["failure"]["message"])
        exact = CASE.replace("MODE", "fine").replace(', "--benchmark_filter=BM_A/{n}"]', ']\nbenchmark = "BM_B<int, float>/{n}"')
        self.assertEqual(self.rows_of(exact)[0]["status"], "ok")
        other = exact.replace("fine", "other_name")
        row = self.rows_of(other)[0]
        self.assertEqual(row["failure"]["code"], "no_benchmark")
        self.assertIn("the program ran 'BM_Z'", row["failure"]["message"])

    def test_a_wrong_case_file_is_one_line(self):
        fine = CASE.replace("MODE", "fine")
        for text, says in (
            (fine.replace("{n}", "{m}"), "google_benchmark: nothing is called {m}"),
            (fine + 'benchmark = "BM_A"\n', "benchmark: the name of the benchmark, or a filter"),
            (fine.replace('["./fake", "--mode=fine", "--benchmark_filter=BM_A/{n}"]', "[]"), "expected a program"),
            (fine + 'command = ["./fake"]\n', "expected one of python, library, command and google_benchmark, got 2"),
            (fine.replace('oracle = "none"', "[oracle]\nfile = \"y.npy\""), "there are no [outputs] to look at"),
        ):  # fmt: skip
            self.write("bench.toml", text)
            result = self.assay("run", "bench.toml")
            self.assertEqual(result.returncode, 2, text)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(says, result.stderr)
        gone = self.rows_of(fine.replace("./fake", "./gone"))[0]
        self.assertEqual((gone["status"], gone["failure"]["code"]), ("env_missing", "command_missing"))

    # Two programs beside each other.

    def compare(self, old, new, *options, status, command="compare"):
        result = self.assay(command, "--run", old, new, "--rounds", "8", *FAST, *options)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def test_two_programs(self):
        slow = self.compare("./fake", "./fake --scale=1.2", "--out", "c.json", status=1)
        self.assertIn("NEW is slower", slow.stdout)
        self.assertIn("FAILED: 2 regressed (exit status 1)", slow.stdout)
        written = json.loads(self.read("c.json"))
        self.assertEqual([c["point"]["benchmark"] for c in written["comparisons"]], ["BM_A/8", "BM_B<int, float>/8"])
        for c in written["comparisons"]:
            self.assertAlmostEqual(c["ratio"], 1.2)
            self.assertEqual((c["pairing"], c["differs"]), ("paired", True))
        self.assertEqual(written["gate"]["exit_status"], 1)
        self.compare("./fake", "./fake --scale=1.2", command="gate", status=1)
        self.compare("./fake", "./fake --scale=1.02", command="gate", status=0)
        faster = self.compare("./fake", "./fake --scale=0.5", status=0)
        self.assertIn("NEW is faster", faster.stdout)
        cases = os.listdir(self.path("results/cases"))
        self.assertEqual(len(cases), 3)
        for name in cases:
            self.assertRegex(name, r"^compare-[0-9a-f]{12}\.toml$")
        # What was written is a case file like any other.
        again = self.run_ok("run", "results/cases/" + cases[0], "--rounds", "2", "--out", "again.jsonl", *FAST)
        self.assertIn("BM_A/8", again.stdout)
        self.run_ok("report", "results")

    def test_the_same_program_twice(self):
        shutil.copy(self.path("fake"), self.path("copy"))
        same = self.compare("./fake", "./copy", status=0)
        self.assertNotIn("slower", same.stdout.split("OLD:")[0])
        self.assertNotIn("the same program", same.stderr)
        self.assertIn("both sides are the same program", self.compare("./fake", "./fake", status=0).stderr)

    def test_the_gate_fails_only_where_the_table_says_slower(self):
        # Six rounds can show a difference one way, but not either way: there the gate measures more.
        result = self.assay("compare", "--run", "./fake", "./fake --scale=1.5", "--rounds", "6", *FAST)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("NEW is slower", result.stdout)
        self.assertNotIn("perhaps", result.stdout)

    def test_benchmarks_of_one_program_alone_are_named(self):
        result = self.compare("./fake --names=A+B+C", "./fake --names=B+C+D+E", status=0)
        self.assertIn("only in OLD: A; only in NEW: D, E", result.stderr)
        self.assertIn("dropped, only in the baseline and not measured: A", result.stdout)
        lost = self.compare("./fake --names=A+B", "./fake --names=B", "--strict", "--json", status=3)
        self.assertEqual(json.loads(lost.stdout)["gate"]["dropped"], ["A"])
        one = self.compare("./fake --names=A+B", "./fake --names=A+B", "--filter", "^B$", "--json", status=0)
        self.assertEqual([c["point"]["benchmark"] for c in json.loads(one.stdout)["comparisons"]], ["B"])
        doubled = self.compare("./fake --names=A+B+B", "./fake --names=A+B+B", status=0)
        self.assertIn("two of one name", doubled.stderr)
        banner = self.compare("./fake --mode=banner", "./fake --mode=banner", "--json", status=0)
        self.assertEqual(len(json.loads(banner.stdout)["comparisons"]), 2)

    def test_a_program_that_breaks_fails_whatever_its_time(self):
        result = self.compare("./fake", "./fake --mode=error --scale=0.1", status=4)
        self.assertIn("error_occurred", result.stdout)

    def test_what_cannot_be_compared_is_one_line(self):
        self.write("text", "not a program")
        for words, says in (
            (("./fake --names=A", "./fake --names=B"), "no benchmark in common (only in OLD: A; only in NEW: B)"),
            (("./fake", "./fake", "--filter", "nowhere"), "no benchmark in common that matches 'nowhere'"),
            (("./fake", "/bin/true"), "is a Google Benchmark program, '/bin/true' is not"),
            (("./fake", "./fake --mode=no_list"), "does not list its benchmarks (exit status 3)"),
            (("./fake", "./gone"), "no such program, folder or case file: './gone'"),
            (("./fake", "text"), "neither a program, a folder nor a case file"),
            (("/bin/true", "/bin/false", "--filter", "x"), "--filter is for Google Benchmark programs"),
            ((".", "."), "name the case file that both hold"),
            ((".", ".", "gone.toml"), "no such case file"),
        ):
            result = self.assay("compare", "--run", *words)
            self.assertEqual(result.returncode, 2, (words, result.stderr))
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(says, result.stderr)
        one = self.assay("gate", "--run", "./fake")
        self.assertEqual(one.returncode, 2)
        self.assertIn("gate --run OLD NEW", one.stderr)

    def test_commands_are_whole_processes(self):
        result = self.compare("sleep 0.001", "sleep 0.05", status=1)
        self.assertIn("NEW is slower", result.stdout)
        self.compare("test -e fake", "test -e nowhere", status=4)
        # By a shell where the line needs one, and in this folder.
        self.compare("cat fake | wc -c > /dev/null && test -e fake", "test -e fake && sleep 0.05", status=1)

    # The real library.

    def build(self, name, extra=""):
        source = self.write(name + ".cc", PROGRAM.replace("EXTRA", extra))
        made = subprocess.run(["c++", "-O2", "-o", self.path(name), source, "-lbenchmark", "-lpthread"], capture_output=True, text=True)
        if made.returncode != 0 and "benchmark.h" in made.stderr:
            raise unittest.SkipTest("Google Benchmark is not installed (libbenchmark-dev)")
        self.assertEqual(made.returncode, 0, made.stderr)

    def test_genuine_programs(self):
        self.build("old")
        self.build("new", "static void BM_More(benchmark::State& s) { for (auto _ : s) {} }\nBENCHMARK(BM_More);")
        result = self.assay("compare", "--run", "./old", "./new", "--rounds", "2", "--json", *FAST)
        self.assertIn("only in NEW: BM_More", result.stderr)
        rows = {c["point"]["benchmark"]: c for c in json.loads(result.stdout)["comparisons"]}
        self.assertEqual(
            set(rows), {"BM_Sum/8", "BM_Sum/80", "BM_Template<int, float>", "BM_Manual/iterations:50/manual_time", "BM_Fails"}
        )
        for name, row in rows.items():
            for side in "ab":
                self.assertEqual(row[side]["status"], "failed" if name == "BM_Fails" else "ok", name)
        self.assertAlmostEqual(rows["BM_Manual/iterations:50/manual_time"]["a"]["median"], 1e-6)
        self.write("bench.toml", CASE.replace("./fake", "./old").replace('"--mode=MODE", ', "").replace("BM_A", "BM_Sum") )
        several = self.rows_of(self.read("bench.toml").decode())[0]
        self.assertIn("BM_Sum/8, BM_Sum/80", several["failure"]["message"])
        one = self.rows_of(self.read("bench.toml").decode().replace("{n}", "{n}$"))[0]
        self.assertEqual(one["status"], "ok", one["failure"])
        self.assertGreater(one["metrics"]["item_rate"], 0)
        self.assertEqual(len(one["samples"]["steady_s"]), 10)


main()
