# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay run semiring_matmul --quick`, end to end, and what its rows must be."""

import json
import os
import signal
import subprocess
import time

import jsonschema

from assay_cli import ALONE, ASSAY, ROOT, CliTest, main


class QuickRun(CliTest):
    def rows(self, journal):
        with open(self.path(journal)) as file:
            return [json.loads(line) for line in file]

    def test_rows_of_semiring_matmul(self):
        # The points of --quick, but small ones: their references take minutes.
        points = [{"algebra": algebra, "n": 64} for algebra in ("real", "log", "max_plus", "euclidean")]
        result = self.run_ok(
            "run", "semiring_matmul", "--points", json.dumps(points), "--rounds", "6",
            "--steady", "20ms", "--batches", "5", "--json", "--out", "j.jsonl",
            "--store", "sqlite:a.db", "--trace", "traces", "--max-steal", "100%", "--max-foreign", "100%",
        )  # fmt: skip
        rows = self.rows("j.jsonl")

        with open(os.path.join(ROOT, "docs/row.schema.json")) as file:
            schema = json.load(file)
        validator = jsonschema.validators.validator_for(schema)(schema)
        for row in rows:
            validator.validate(row)

        by_point = {}
        for row in rows:
            by_point.setdefault(row["point"]["algebra"], []).append(row)
        self.assertEqual(sorted(by_point), ["euclidean", "log", "max_plus", "real"])
        for algebra, at in by_point.items():
            expected = {"reference", "naive", "assay-simd", "numpy"}
            if algebra == "real":
                expected |= {"openblas", "blis"}
            ran = [row for row in at if row["status"] == "ok"]
            self.assertEqual({row["provider"] for row in ran}, expected, algebra)
            refused = {row["provider"]: row for row in at if row["status"] != "ok"}
            if algebra != "real":
                self.assertEqual(refused["openblas"]["failure"]["code"], "provider_not_applicable")
            self.assertEqual(len(ran), 6 * len(expected))
            # Interleaved: each round has every provider once before the next begins.
            ran.sort(key=lambda row: row["order"])
            for i in range(0, len(ran), len(expected)):
                block = ran[i : i + len(expected)]
                self.assertEqual({row["provider"] for row in block}, expected)
                self.assertEqual(len({row["round"] for row in block}), 1)
            self.assertGreater(len({tuple(r["provider"] for r in ran[i : i + len(expected)]) for i in range(0, len(ran), len(expected))}), 1)
            for row in ran:
                self.assertEqual(row["provenance"]["isolation"], "process")
                self.assertEqual(len(row["provenance"]["cpus"]), row["cores"])
                self.assertEqual(len(row["samples"]["steady_s"]), 5)
                self.assertEqual(row["fidelity"]["status"], "pass")
                self.assertLessEqual(row["fidelity"]["error"], 1)
                self.assertGreater(row["metrics"]["steady_time"], 0)

        printed = json.loads(result.stdout)
        self.assertEqual(sorted(printed), ["journal", "results", "run_id"])
        self.assertEqual(printed["run_id"], rows[0]["run_id"])
        for entry in printed["results"]:
            self.assertEqual(
                sorted(entry),
                sorted("suite case point provider platform status rounds median_s ratio ratio_low "
                       "ratio_high p_adjusted baseline fraction_of_limit fidelity_error peak_rss "
                       "peak_device_memory".split()),
            )
        numpy_log = [e for e in printed["results"] if e["provider"] == "numpy" and e["point"]["algebra"] == "log"][0]
        self.assertEqual(numpy_log["rounds"], 6)
        self.assertLessEqual(numpy_log["ratio_low"], numpy_log["ratio"])
        self.assertGreaterEqual(numpy_log["ratio_high"], numpy_log["ratio"])

        traces = os.listdir(self.path("traces"))
        self.assertEqual(len(traces), len(rows))
        ran_id = [row["attempt_id"] for row in rows if row["status"] == "ok"][0]
        with open(self.path(f"traces/{ran_id}.json")) as file:
            names = [event["name"] for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
        self.assertEqual(names, ["prepare", "cold", "warm_up", "calibrate", "steady", "output", "report"])

        # The store gives the journal back, byte for byte; a flipped byte is found.
        self.run_ok("store", "verify", "sqlite:a.db")
        self.run_ok("store", "export", "sqlite:a.db", "--run", printed["run_id"], "--out", "back.jsonl")
        self.assertEqual(self.read("back.jsonl"), self.read("j.jsonl"))
        self.assertIn("semiring_matmul", self.run_ok("report", "a.db").stdout)
        data = bytearray(self.read("a.db"))
        at = data.index(b'"steady_time_p95":') + 20
        data[at] ^= 1
        self.write("flipped.db", bytes(data))
        damaged = self.assay("store", "verify", "sqlite:flipped.db")
        self.assertEqual(damaged.returncode, 2)
        self.assertIn(printed["run_id"], damaged.stdout)

    def test_missing_module_leaves_the_rest_alone(self):
        result = self.run_ok(
            *self.SMALL[:4], "--rounds", "2", "--steady", "1ms", "--providers", "reference,numpy", "--json",
            "--max-steal", "100%", "--max-foreign", "100%", environment={"ASSAY_PYTHON_NUMPY": self.python_without_numpy()},
        )  # fmt: skip
        status = {entry["provider"]: entry["status"] for entry in json.loads(result.stdout)["results"]}
        self.assertEqual(status, {"reference": "ok", "numpy": "env_missing"})

    def python_without_numpy(self):
        path = self.write("python-bare", '#!/bin/sh\nexec /usr/bin/python3 -S -I "$@"\n')
        os.chmod(path, 0o755)
        return path

    # What a worker can run, the runner can run inside itself.
    def test_every_suite_runs_in_process(self):
        runs = (
            ("chip_buffers", "--quick"),
            ("transport_solve", "--points", '{"n_theta":5,"n_zeta":7,"n_xi":6}', "--skip", "numpy"),
            ("semiring_matmul", "--points", '{"n":24}', "--skip", "numpy"),
            ("einsum_pair", "--points", '{"contraction":"small"}', "--providers", "assay-blas,reference"),
            ("egraph_saturation", "--points", '{"iterations":5}', "--providers", "assay,assay-explained"),
            ("graph_fusion", "--points", '{"graph":"norm","n":4096}', "--providers", "assay,assay-reference"),
            ("graph_blocks", "--points", '{"block":"transformer","tokens":3,"cached":4}', "--providers", "assay"),
            ("llm_decode", "--points", '{"prompt":5,"tokens":2,"context":16}', "--providers", "assay-unsearched"),
        )
        listed = json.loads(self.run_ok("list", "--json").stdout)
        suites = {case["case"]: case["suite"] for case in listed}
        # The harness's own case draws its times from the attempt's identity: processes alone have one.
        self.assertEqual({suites[run[0]] for run in runs}, set(suites.values()) - {"harness"})
        for arguments in runs:
            self.run_ok(
                "run", *arguments, "--rounds", "1", "--steady", "1ms", "--batches", "5", "--warm-up", "0",
                "--max-steal", "100%", "--max-foreign", "100%", "--in-process", "--out", arguments[0] + ".jsonl",
                environment={"XDG_CACHE_HOME": self.folder},
            )  # fmt: skip
            statuses = {row["status"] for row in self.rows(arguments[0] + ".jsonl")}
            self.assertIn("ok", statuses)
            self.assertNotIn("failed", statuses)

    def test_in_process_rows_say_so(self):
        self.run_ok(*self.SMALL, "--in-process", "--out", "j.jsonl")
        for row in self.rows("j.jsonl"):
            self.assertEqual(row["provenance"]["isolation"], "in-process")

    def test_wrong_results_that_are_expected_do_not_fail_the_run(self):
        result = self.run_ok(
            "run", "dense_matmul", "--points", '{"n":64}', "--rounds", "1", "--steady", "1ms",
            "--providers", "openblas,bf16-accumulate", "--json", "--max-steal", "100%", "--max-foreign", "100%",
        )  # fmt: skip
        status = {entry["provider"]: entry["status"] for entry in json.loads(result.stdout)["results"]}
        self.assertEqual(status, {"openblas": "ok", "bf16-accumulate": "wrong_result"})

    def test_ctrl_c_writes_what_is_complete_and_exits_130(self):
        process = subprocess.Popen(
            [ASSAY, "run", "semiring_matmul", "--points", '{"n":64}', "--rounds", "200", "--out", "j.jsonl",
             "--max-steal", "100%", "--max-foreign", "100%"],
            cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **ALONE, "ASSAY_LOCK_DIR": self.folder},
        )  # fmt: skip
        while not os.path.exists(self.path("j.jsonl")) or self.read("j.jsonl").count(b"\n") < 3:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("--resume", errors)
        rows = self.rows("j.jsonl")
        self.assertLessEqual(sum(row["status"] == "interrupted" for row in rows), 1)

    def test_dry_run_prints_the_plan_and_writes_nothing(self):
        result = self.run_ok("run", "all", "--quick", "--dry-run")
        self.assertIn("round 6", result.stdout)
        self.assertIn("provider_not_applicable", result.stdout)
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_committed_report_follows_from_its_rows(self):
        printed = self.run_ok("report", os.path.join(ROOT, "reports/example.jsonl")).stdout
        with open(os.path.join(ROOT, "reports/example.md")) as file:
            self.assertEqual(printed, file.read())

    def test_the_rest_of_the_program_answers(self):
        self.assertIn("semiring_matmul", self.run_ok("list").stdout)
        self.assertEqual(json.loads(self.run_ok("list", "--json").stdout)[0]["suite"], "semiring")
        self.assertIn("parameters", self.run_ok("list", "dense_matmul").stdout)
        doctor = json.loads(self.run_ok("doctor", "--json").stdout)
        self.assertGreater(doctor["harness_overhead_s"], 0)
        self.assertIn("fingerprint", self.run_ok("doctor").stdout)
        self.assertRegex(self.run_ok("--version").stdout, r"^assay \d+\.\d+\.\d+ \(commit ([0-9a-f]{12}|unknown)(, with uncommitted changes)?\)\n$")
        for command in ("list", "run", "report", "store", "doctor", "chip"):
            self.assertIn("Example", self.run_ok(command, "--help").stdout)


if __name__ == "__main__":
    main()
