# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay import` of files that Google Benchmark and hyperfine write here and now, and of small files
as pytest-benchmark, pyperf and nvbench document them; and `assay export`."""

import csv
import io
import json
import os
import struct
import subprocess
import sys

import jsonschema

from assay_cli import ASSAY, ROOT, CliTest, main
from journals import HOSTILE, journal, rounds

GOOGLE = r"""
#include <benchmark/benchmark.h>
#include <vector>
static void add(benchmark::State& state) {
  std::vector<double> v(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (auto& x : v) x += 1;
    benchmark::DoNotOptimize(v.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
}
BENCHMARK(add)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);
static void broken(benchmark::State& state) {
  state.SkipWithError("no \"device\" <here>");
  for (auto _ : state) {}
}
BENCHMARK(broken);
BENCHMARK_MAIN();
"""

PYTEST = {
    "machine_info": {"node": "host", "machine": "x86_64", "system": "Linux", "release": "6.1.0",
                     "cpu": {"brand_raw": "Example CPU", "count": 8}},
    "commit_info": {"id": "0123456789abcdef0123456789abcdef01234567", "time": None, "dirty": False,
                    "project": "example", "branch": "main"},
    "benchmarks": [
        {"group": None, "name": "test_sum[10]", "fullname": "test_x.py::test_sum[10]", "params": {"n": 10},
         "param": "10", "extra_info": {}, "options": {"min_rounds": 5},
         "stats": {"min": 2.8e-7, "max": 3.5e-5, "mean": 3.2e-7, "stddev": 8e-7, "rounds": 4, "median": 2.9e-7,
                   "iqr": 8e-9, "q1": 2.8e-7, "q3": 2.98e-7, "total": 5e-4, "iterations": 10,
                   "data": [2.8e-7, 2.9e-7, 2.9e-7, 3.5e-5]}},
    ],
    "datetime": "2026-01-31T12:00:00.500000+00:00", "version": "4.0.0",
}  # fmt: skip

PYPERF = {
    "version": "1.0",
    "metadata": {"name": "sort", "unit": "second", "loops": 64, "cpu_count": 8, "cpu_model_name": "Example CPU",
                 "hostname": "host", "python_version": "3.11.2 (64-bit)", "python_implementation": "cpython",
                 "perf_version": "2.6.0"},
    "benchmarks": [{"runs": [
        {"metadata": {"calibrate_loops": 64, "date": "2026-01-31 12:00:00.000001"}, "warmups": [[64, 6e-6]]},
        *({"metadata": {"date": f"2026-01-31 12:00:{i:02}"}, "values": [5.5e-6 + 1e-8 * i, 5.6e-6],
           "warmups": [[64, 6e-6]]} for i in range(1, 9)),
    ]}],
}  # fmt: skip

NVBENCH = {
    "meta": {"argv": ["./bench_copy", "--jsonbin", "nv.json"],
             "version": {"json": {"string": "1.0.0"}, "nvbench": {"string": "0.1.0"}}},
    "devices": [{"id": 0, "name": "NVIDIA H200", "sm_version": 900, "number_of_sms": 132,
                 "global_memory_size": 150000000000}],
    "benchmarks": [{"name": "copy", "index": 0, "devices": [0], "axes": [], "states": [
        {"name": "Device=0 N=2^20", "device": 0, "type_config_index": 0,
         "axis_values": [{"name": "N", "type": "int64", "value": "1048576"}],
         "summaries": [
             {"tag": "nv/cold/time/gpu/mean", "name": "GPU Time", "hint": "duration",
              "data": [{"name": "value", "type": "float64", "value": "2.5e-05"}]},
             {"tag": "nv/json/bin:nv/cold/sample_times", "hint": "file/sample_times",
              "data": [{"name": "filename", "type": "string", "value": "nv.json-bin/0.bin"},
                       {"name": "size", "type": "int64", "value": "3"}]}],
         "is_skipped": False},
        {"name": "Device=0 N=2^40", "device": 0, "axis_values": [{"name": "N", "type": "int64", "value": "1099511627776"}],
         "summaries": None, "is_skipped": True, "skip_reason": "needs too much memory"},
    ]}],
}  # fmt: skip


class Import(CliTest):
    def rows(self, name):
        with open(self.path(name)) as file:
            rows = [json.loads(line) for line in file]
        with open(os.path.join(ROOT, "docs/row.schema.json")) as file:
            schema = json.load(file)
        validator = jsonschema.validators.validator_for(schema)(schema)
        for one in rows:
            validator.validate(one)
            self.assertEqual(one["fidelity"]["status"], "not_applicable")
            self.assertIn("none", one["fidelity"]["oracle"])
        return rows

    def command(self, *arguments):
        return subprocess.run(arguments, cwd=self.folder, check=True, capture_output=True, text=True)

    def google(self):
        self.write("bench.cc", GOOGLE)
        self.command("g++", "-O1", "-std=c++17", "bench.cc", "-o", "bench", "-lbenchmark", "-lpthread")
        self.command("./bench", "--benchmark_repetitions=4", "--benchmark_min_time=0.01",
                     "--benchmark_out=google.json", "--benchmark_out_format=json")  # fmt: skip
        return "google.json"

    def hyperfine(self, name="hyperfine.json"):
        self.command("hyperfine", "-N", "-i", "--warmup", "0", "--runs", "7", "--export-json", name, "true", "false")
        return name

    def shown(self, journal, *words):
        """The views take the rows like any others."""
        for command in (("report", journal), ("export", journal), ("export", journal, "--format", "junit")):
            text = self.run_ok(*command).stdout
            for word in words:
                self.assertIn(word, text, command)
        self.run_ok("store", "ingest", f"sqlite:{journal}.db", journal)
        self.run_ok("store", "verify", f"sqlite:{journal}.db")

    def test_google_benchmark(self):
        text = self.run_ok("import", self.google(), "--out", "g.jsonl").stdout
        self.assertIn("add/1024", text)
        rows = {one["case"]: one for one in self.rows("g.jsonl")}
        self.assertEqual(sorted(rows), ["add/1024", "add/64", "broken"])
        source = json.loads(self.read("google.json"))
        times = [1e-6 * b["real_time"] for b in source["benchmarks"] if b["name"] == "add/1024"]
        self.assertEqual(len(times), 4)
        for ours, theirs in zip(rows["add/1024"]["samples"]["steady_s"], times):
            self.assertAlmostEqual(ours / theirs, 1, delta=1e-12)
        median = [1e-6 * b["real_time"] for b in source["benchmarks"] if b["name"] == "add/1024_median"][0]
        self.assertAlmostEqual(rows["add/1024"]["metrics"]["steady_time"] / median, 1, delta=1e-9)
        self.assertEqual(rows["add/64"]["provider"], "bench")
        self.assertEqual(rows["add/64"]["status"], "ok")
        self.assertEqual(rows["broken"]["status"], "failed")
        self.assertEqual(rows["broken"]["failure"]["message"], 'no "device" <here>')
        self.shown("g.jsonl", "add/64")

    def test_hyperfine(self):
        result = self.run_ok("import", self.hyperfine(), "--out", "h.jsonl")
        self.assertIn("says nothing of its machine", result.stderr)
        rows = self.rows("h.jsonl")
        self.assertEqual(len(rows), 14)
        times = json.loads(self.read("hyperfine.json"))["results"][0]["times"]
        ours = [one["metrics"]["steady_time"] for one in rows if one["case"] == "true"]
        self.assertEqual(ours, times)
        self.assertEqual({one["status"] for one in rows if one["case"] == "false"}, {"failed"})
        self.shown("h.jsonl", "true", "hyperfine")

    def test_imported_runs_can_be_compared(self):
        for name in ("a", "b"):
            self.run_ok("import", self.hyperfine(name + ".json"), "--here", "--commit", name * 7, "--out", name + ".jsonl")
        result = json.loads(self.run_ok("compare", "a.jsonl", "b.jsonl", "--json").stdout)["comparisons"]
        true = [c for c in result if c["case"] == "true"][0]
        self.assertEqual((true["pairing"], true["rounds"]), ("unpaired", 7))
        self.assertIsNotNone(true["low"])
        # Commands of one file were not made in turn: compared, but never as pairs.
        self.run_ok("import", "a.json", "--case", "nothing", "--out", "c.jsonl")
        self.assertIn("false: failed", self.assay("compare", "true", "false", "c.jsonl").stdout)

    def test_the_others_as_they_are_documented(self):
        self.write("pytest.json", json.dumps(PYTEST))
        self.run_ok("import", "pytest.json", "--out", "pt.jsonl")
        one = self.rows("pt.jsonl")[0]
        self.assertEqual(one["run_id"], "20260131T120000.500000Z-0123456")
        self.assertEqual((one["case"], one["point"]), ("test_x.py::test_sum[10]", {"n": 10}))
        self.assertEqual(one["metrics"]["steady_time"], 2.9e-7)
        self.shown("pt.jsonl", "test_sum")

        self.write("pyperf.json", json.dumps(PYPERF))
        self.run_ok("import", "pyperf.json", "--out", "pp.jsonl")
        rows = self.rows("pp.jsonl")
        self.assertEqual([r["round"] for r in rows], list(range(8)))
        self.assertEqual(rows[0]["provider"], "cpython 3.11.2")
        self.shown("pp.jsonl", "sort")

        self.write("nv.json", json.dumps(NVBENCH))
        self.run_ok("import", "nv.json", "--out", "nv-mean.jsonl")
        self.assertEqual(self.rows("nv-mean.jsonl")[0]["metrics"]["steady_time"], 2.5e-5)
        os.mkdir(self.path("nv.json-bin"))
        self.write("nv.json-bin/0.bin", struct.pack("<3f", 1.0, 2.0, 4.0))
        self.run_ok("import", "nv.json", "--out", "nv.jsonl")
        rows = self.rows("nv.jsonl")
        self.assertEqual(rows[0]["samples"]["steady_s"], [1, 2, 4])
        self.assertEqual((rows[0]["platform"], rows[1]["status"]), ("cuda", "skipped"))
        self.shown("nv.jsonl", "copy")

    def test_no_file_outside_of_the_folder_is_opened(self):
        os.mkdir(self.path("in"))
        secret = self.write("secret.bin", struct.pack("<3f", 1.25, 2.5, 5.0))
        os.symlink(secret, self.path("in/link.bin"))
        os.symlink(self.folder, self.path("in/up"))
        os.mkfifo(self.path("in/fifo.bin"))
        for name in (secret, "../secret.bin", "link.bin", "up/secret.bin", "x/../../secret.bin", "/dev/zero"):
            text = json.dumps(NVBENCH).replace("nv.json-bin/0.bin", name)
            self.write("in/nv.json", text)
            for place, folder in (("in/nv.json", self.folder), ("nv.json", self.path("in"))):
                result = subprocess.run([ASSAY, "import", place, "--out", self.path("out.jsonl")], cwd=folder,
                                        capture_output=True, text=True, timeout=60)  # fmt: skip
                self.assertEqual(result.returncode, 2, name)
                self.assertIn("outside of its folder", result.stderr, name)
                self.assertFalse(os.path.exists(self.path("out.jsonl")), name)
        # What is no file is not there, and nothing waits for it.
        self.write("in/nv.json", json.dumps(NVBENCH).replace("nv.json-bin/0.bin", "fifo.bin"))
        self.run_ok("import", "in/nv.json", "--out", "mean.jsonl")

    def test_what_has_no_end_is_refused(self):
        os.mkfifo(self.path("fifo"))
        for path in ("fifo", "/dev/zero", "/dev/stdin", "."):
            result = self.assay("import", path, stdin=subprocess.PIPE)
            self.assertEqual(result.returncode, 2, path)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_many_samples_need_little_memory(self):
        def imported(name, content):
            self.write(name + ".json", json.dumps(content))
            # Through a small process: what was ours before the program began would count as its own.
            result = subprocess.run(
                [sys.executable, "-c", "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, "
                 "stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                 ASSAY, "import", self.path(name + ".json"), "--out", self.path(name + ".jsonl")],
                check=True, capture_output=True, text=True,
            )  # fmt: skip
            return 1024 * int(result.stdout)

        def google(times):
            entry = {"name": "x", "family_index": 0, "per_family_instance_index": 0, "run_name": "x", "run_type": "iteration",
                     "repetitions": len(times), "threads": 1, "iterations": 100, "time_unit": "s", "items_per_second": 5.0}  # fmt: skip
            return {"context": {}, "benchmarks": [{**entry, "repetition_index": i, "real_time": t, "cpu_time": t / 2}
                                                  for i, t in enumerate(times)]}  # fmt: skip

        def pyperf(times):
            runs = [{"metadata": {"date": "2026-01-31 12:00:00", "mem_max_rss": 1, "uptime": 2.5}, "values": [t]} for t in times]
            return {"benchmarks": [{"runs": runs}], "metadata": {"name": "x"}, "version": "1.0"}

        def pytest(times):
            return {"machine_info": {}, "benchmarks": [{"name": "x", "stats": {"data": times}}]}

        def hyperfine(times):
            return {"results": [{"command": "x", "times": times, "exit_codes": [0] * len(times)}]}

        times = [round(1e-3 * (1 + 1e-6 * ((7919 * i) % 1000)), 9) for i in range(100_000)]
        for form, blocks in ((hyperfine, 1000), (pyperf, 1000), (google, 1), (pytest, 1)):
            with self.subTest(form.__name__):
                few = imported("few", form(times[:1000]))
                many = imported("many", form(times))
                rows = self.rows("many.jsonl")
                self.assertEqual(len(rows), blocks)
                self.assertEqual([t for one in rows for t in one["samples"]["steady_s"]], times)
                if blocks > 1:
                    self.assertEqual({one["provenance"]["import"]["details"]["processes"] for one in rows}, {100})
                    self.assertLess(os.path.getsize(self.path("many.jsonl")), 40 * len(times))
                self.shown("many.jsonl", "x")
                self.assertLess(many - few, 200 * len(times))
            for name in ("few.jsonl", "many.jsonl", "many.jsonl.db"):
                os.remove(self.path(name))

    def test_into_a_store_twice_is_once(self):
        self.write("p.json", json.dumps(PYTEST))
        self.assertIn("1 rows added", self.run_ok("import", "p.json", "--store", "sqlite:s.db").stderr)
        self.assertIn("0 rows added to sqlite:s.db, 1 known", self.run_ok("import", "p.json", "--store", "sqlite:s.db").stderr)
        self.assertFalse(os.path.exists(self.path("results")))
        self.run_ok("import", "p.json")
        self.assertEqual(os.listdir(self.path("results")), ["20260131T120000.500000Z-0123456.jsonl"])
        self.write("taken.jsonl", "something else\n")
        refused = self.assay("import", "p.json", "--out", "taken.jsonl")
        self.assertEqual(refused.returncode, 2)
        self.assertEqual(self.read("taken.jsonl"), b"something else\n")

    def test_truncated_and_foreign_files_are_refused_with_the_reason(self):
        def refused(content, says, *arguments):
            self.write("bad.json", content)
            result = self.assay("import", "bad.json", *arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn(says, result.stderr)
            self.assertFalse(os.path.exists(self.path("results")))

        with open(self.path(self.hyperfine()), "rb") as file:
            whole = file.read()
        refused(whole[: len(whole) // 2], "bad.json: not valid JSON")
        for content in (PYTEST, PYPERF, NVBENCH):
            refused(json.dumps(content)[:-20], "bad.json: not valid JSON")
        refused(b"", "the file is empty")
        refused(b"\x89PNG\r\n\x1a\n\0\0", "not valid JSON")
        refused(b"name,real_time\nadd,3\n", "not valid JSON")
        refused(b'{"hello": "world"}', "not as google-benchmark, hyperfine, pytest-benchmark, pyperf, nvbench write it")
        refused(journal(rounds("20260101T000000.000000Z-aaaaaaa", "p")), "not valid JSON")
        refused(b'{"results": []}', "without a single benchmark")
        refused(whole, "benchmarks", "--format", "pyperf")
        refused(whole, "'xml'", "--format", "xml")
        refused(whole, "--time", "--time", "yesterday")
        self.assertEqual(self.assay("import", "nowhere.json").returncode, 2)

    def test_hostile_names(self):
        for name in HOSTILE:
            self.write("h.json", json.dumps({"results": [{"command": name, "times": [1.0, 2.0], "parameters": {name: name}}]}))
            self.run_ok("import", "h.json", "--here", "--out", f"{HOSTILE.index(name)}.jsonl")
            one = self.rows(f"{HOSTILE.index(name)}.jsonl")[0]
            self.assertEqual(one["case"], name)


class Export(CliTest):
    def test_csv_is_what_a_csv_reader_expects(self):
        rows = [r for name in HOSTILE for r in rounds("20260101T000000.000000Z-aaaaaaa", name, count=2)]
        self.write("j.jsonl", journal(rows))
        self.run_ok("export", "j.jsonl", "--out", "rows.csv")
        text = self.read("rows.csv").decode()
        self.assertNotRegex(text, "[^\r]\n")
        table = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual(len(table), len(rows))
        for ours, theirs in zip(table, rows):
            self.assertNotIn(None, ours)
            self.assertEqual(float(ours["steady_time"]), theirs["metrics"]["steady_time"])
            self.assertEqual(json.loads(ours["point"]), theirs["point"])
            self.assertEqual(ours["point.n"], "64")
            for cell in ours.values():
                self.assertFalse(cell.startswith(("=", "+", "@")), cell)

    def test_trace_of_a_schedule(self):
        self.run_ok(*self.SMALL, "--out", "j.jsonl")
        events = json.loads(self.run_ok("export", "j.jsonl", "--format", "trace").stdout)["traceEvents"]
        attempts = sorted((e for e in events if e.get("cat") == "attempt"), key=lambda e: e["ts"])
        self.assertEqual(len(attempts), 4)
        for first, second in zip(attempts, attempts[1:]):
            self.assertLessEqual(first["ts"] + first["dur"], second["ts"])  # one core group: one at a time
        phases = [e for e in events if e.get("cat") == "phase"]
        self.assertIn("steady", {e["name"] for e in phases})
        for phase in phases:
            self.assertTrue(any(a["ts"] - 1 <= phase["ts"] and phase["ts"] + phase["dur"] <= a["ts"] + a["dur"] + 1 for a in attempts))
        self.assertTrue(any(e["name"] == "thread_name" and "CPUs" in e["args"]["name"] for e in events))

    def test_bundle_and_feed(self):
        self.run_ok("run", "semiring_matmul", "--points", '{"n":32}', "--providers", "reference,naive,assay-simd", "--rounds",
                    "6", "--steady", "1ms", "--max-steal", "100%", "--max-foreign", "100%", "--out", "j.jsonl")  # fmt: skip
        point = ("--point", '{"n":32,"algebra":"real"}')
        bundle = json.loads(self.run_ok("bundle", "semiring_matmul", "j.jsonl", "--json", *point).stdout)
        self.assertIsNone(bundle["recommendation"])
        self.assertEqual(len(bundle["places"][0]["providers"]), 3)
        self.assertIn("None, on purpose", self.run_ok("bundle", "semiring_matmul", "j.jsonl", *point).stdout)
        self.assertEqual(self.assay("bundle", "semiring_matmul", "j.jsonl", "--point", '{"n":3}').returncode, 2)
        fragment = json.loads(self.run_ok("feed", "op-matrix", "j.jsonl", *point).stdout)["semiring_matmul"]
        self.assertEqual(fragment["perf_cpu_baseline"], "reference")
        self.assertGreater(fragment["perf_cpu_ratio"], 0)
        self.assertIsNone(fragment["perf_gpu_ratio"])
        matrix = {"ops": [{"qualname": "lib.semiring_matmul", "jit": "pass"}], "other": 1}
        self.write("m.json", json.dumps(matrix))
        self.run_ok("feed", "op-matrix", "j.jsonl", "--apply", "m.json", "--out", "out.json", *point)
        self.assertEqual(json.loads(self.read("m.json")), matrix)
        merged = json.loads(self.read("out.json"))
        self.assertEqual(merged["ops"][0]["perf_cpu_ratio"], fragment["perf_cpu_ratio"])
        self.assertEqual((merged["ops"][0]["jit"], merged["other"]), ("pass", 1))
        for arguments in (("--apply", "m.json"), ("--apply", "m.json", "--out", "m.json"), ("--apply", "j.jsonl", "--out", "x")):
            self.assertEqual(self.assay("feed", "op-matrix", "j.jsonl", *point, *arguments).returncode, 2)
        self.assertEqual(json.loads(self.read("m.json")), matrix)


if __name__ == "__main__":
    main()
