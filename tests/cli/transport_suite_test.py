# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The transport suite from a command to rows, traces, figures and summaries."""

import json

from assay_cli import CliTest, main

SMALL = {"n_theta": 5, "n_zeta": 7, "n_xi": 6}
FAST = ("--rounds", "1", "--batches", "5", "--steady", "0.01s", "--max-steal", "100%", "--max-foreign", "100%")
STAGES = ["surface", "prepare", "scan", "database", "integrals", "output"]


class TransportSuite(CliTest):
    def measure(self, case, points, *more, status=0):
        result = self.assay("run", case, "--points", json.dumps(points), "--out", "rows.jsonl", *FAST, *more)
        self.assertEqual(result.returncode, status, result.stderr)
        with open(self.path("rows.jsonl")) as file:
            rows = [json.loads(line) for line in file]
        rows = [row.get("row", row) for row in rows]
        return [row for row in rows if "provider" in row]

    def test_the_stages_of_the_workflow(self):
        point = {**SMALL, "collisionalities": 4, "fields": 2}
        rows = self.measure("transport_workflow", point, "--trace", "traces",
                            "--providers", "assay,assay-threads")  # fmt: skip
        self.assertEqual([row["status"] for row in rows], ["ok", "ok"])
        for row in rows:
            metrics, samples = row["metrics"], row["samples"]
            for stage in STAGES:
                self.assertGreater(metrics["cold_stage_" + stage], 0)
                self.assertEqual(len(samples["stage_" + stage]), 5)
            # Stages are all of a call but the two ends of its clock.
            whole = sum(metrics["cold_stage_" + stage] for stage in STAGES)
            self.assertLessEqual(whole, metrics["cold_time"])
            with open(self.path(f"traces/{row['attempt_id']}.json")) as file:
                events = json.load(file)["traceEvents"]
            cold = next(e for e in events if e["name"] == "cold")
            inside = [e for e in events if e.get("cat") == "stage"][: len(STAGES)]
            self.assertEqual([e["name"] for e in inside], STAGES)
            self.assertGreaterEqual(inside[0]["ts"], cold["ts"])
            self.assertLessEqual(inside[-1]["ts"] + inside[-1]["dur"], cold["ts"] + cold["dur"] + 1)
        trace = json.loads(self.run_ok("export", "rows.jsonl", "--format", "trace").stdout)
        self.assertIn("stage", [e.get("cat") for e in trace["traceEvents"]])

        self.run_ok("figures", "rows.jsonl", "--out", "figures", "--formats", "svg")
        name = "figures/transport_workflow-stages-n_theta-5-n_zeta-7-n_xi-6.json"
        bars = json.loads(self.read(name))
        self.assertEqual(bars["categories"], [*STAGES, "whole call"])
        self.assertEqual([s["label"] for s in bars["series"]],
                         [f"{provider}, {call}" for provider in ("assay", "assay-threads")
                          for call in ("repeated", "first")])  # fmt: skip
        for series in bars["series"]:
            *stages, whole = [point["y"] for point in series["points"]]
            self.assertEqual(len(stages), len(STAGES))
            self.assertLess(max(stages), whole)

    def test_lanes_of_a_scan(self):
        """Every lane, ranks included: memory of its children, the serial lane's numbers, a summary."""
        points = [{**SMALL, "cases": n, "layout": "ladder", "batch": 4} for n in (4, 8)]
        rows = self.measure("transport_scan", points, "--providers", "serial,threads,processes,mpi")
        self.assertEqual({row["status"] for row in rows}, {"ok"}, [r["failure"] for r in rows])
        by_lane = {row["provider"]: row["metrics"] for row in rows if row["point"]["cases"] == 8}
        self.assertEqual(by_lane["serial"]["lanes"], 1)
        for lane, metrics in by_lane.items():
            self.assertEqual(metrics["difference_from_baseline"], 0, lane)
        # Each rank is a program of its own, with MPI in it; forked processes share all but what they
        # touch.
        self.assertGreater(by_lane["mpi"]["peak_rss_steady"], 1.5 * by_lane["serial"]["peak_rss_steady"])

        self.run_ok("figures", "rows.jsonl", "--out", "figures", "--formats", "svg")
        page = "n_theta-5-n_zeta-7-n_xi-6"
        summary = json.loads(self.read(f"figures/transport_scan-summary-{page}.json"))["table"]
        self.assertEqual(len(summary["lines"]), 8)
        for line in summary["lines"]:
            for key in ("lanes", "case_rate", "speedup", "efficiency", "peak_rss_steady"):
                self.assertGreater(line[key], 0, line)
            self.assertAlmostEqual(line["efficiency"], line["speedup"] / line["lanes"])
            self.assertIn("crossover", line)
        self.assertIn(b"| serial | 4 |", self.read(f"figures/transport_scan-summary-{page}.md"))
        speedup = json.loads(self.read(f"figures/transport_scan-speedup-{page}.json"))
        self.assertEqual(speedup["series"][-1]["label"], "ideal")
        efficiency = json.loads(self.read(f"figures/transport_scan-efficiency-{page}.json"))
        self.assertEqual([m["y"] for m in efficiency["marks"]], [1, 0.9])

    def test_lanes_beyond_the_cores_are_skipped(self):
        point = {**SMALL, "cases": 4, "batch": 4, "layout": "ladder", "lanes": 256}
        rows = self.measure("transport_strong_scaling", point, status=3)  # nothing was measured
        self.assertEqual({row["status"] for row in rows}, {"skipped"})
        self.assertIn("256 lanes", rows[0]["failure"]["message"])


if __name__ == "__main__":
    main()
