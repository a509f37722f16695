# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The chip suite from nothing to figures, and figures as a function of rows."""

import json
import os

from assay_cli import CliTest, main
from journal_lines import line_of

FIGURES = [
    "chip_allreduce-busbw-ring-ranks-8", "chip_allreduce-ranks-torus",
    "chip_allreduce-theory-switch", "chip_buffers-knee", "chip_gemm-closed-form",
    "chip_gemm-roofline-load_ref", "chip_gemm-scaling-m-512-k-512-n-512",
    "chip_gemm-stages-m-512-k-512-n-512", "chip_gemm-stages-m-100-k-130-n-70",
    "chip_gemm-use-pes-16", "chip_allreduce-links-torus-ranks-8", "chip_gemm-utilisation-ref_ref",
]  # fmt: skip


class Figures(CliTest):
    def draw(self, folder, *flags):
        return self.assay("figures", "rows.jsonl", "--out", folder, *flags)

    def test_the_chip_suite(self):
        self.run_ok("run", "chip_gemm", "chip_allreduce", "chip_buffers", "--out", "rows.jsonl")

        first = self.draw("first")
        self.assertEqual(first.returncode, 0, first.stderr)
        for name in FIGURES:
            for extension in ("png", "pdf", "svg", "json"):
                self.assertTrue(os.path.exists(self.path(f"first/{name}.{extension}")), name)
            figure = json.loads(self.read(f"first/{name}.json"))
            self.assertTrue(figure["series"], name)
            for series in figure["series"]:
                self.assertIn(series["origin"], ("simulated", "closed form"), name)
                self.assertTrue(series["points"], name)

        # On one processing element the closed form is exact: not one picosecond apart.
        against = json.loads(self.read("first/chip_gemm-closed-form.json"))
        exact = [s for s in against["series"] if "pes = 1" in s["label"].split(", ")]
        self.assertEqual(len(exact), 3)
        for series in exact:
            for point in series["points"]:
                self.assertEqual(point["x"], point["y"], series["label"])

        # The roof is drawn: 2 · 4096 operations a nanosecond, 256 GB/s; nothing lies above it.
        roofline = json.loads(self.read("first/chip_gemm-roofline-load_load.json"))
        (roof,) = roofline["roofs"]
        self.assertAlmostEqual(roof["peak"], 8192e9, delta=1)
        self.assertAlmostEqual(roof["slope"], 256e9, delta=1)
        for series in roofline["series"]:
            for point in series["points"]:
                self.assertLessEqual(point["y"], 1.000001 * min(roof["peak"], roof["slope"] * point["x"]))
        # 32×3072×32 reads both operands: 16 operations a byte, not 3072.
        self.assertIn(16, [point["x"] for point in roofline["series"][0]["points"]])
        # More elements do not help where every one loads its own operands.
        scaling = json.loads(self.read("first/chip_gemm-scaling-m-512-k-512-n-512.json"))
        (loaded,) = [s for s in scaling["series"] if s["label"] == "simulated, load_load"]
        times = [point["y"] for point in loaded["points"]]
        self.assertAlmostEqual(times[0], 36.888e-6, delta=1e-12)
        self.assertGreater(times[2], times[1])
        for name in FIGURES:
            figure = json.loads(self.read(f"first/{name}.json"))
            self.assertIn("feba45a62a372170", figure["subtitle"], name)

        # The same rows give the same bytes, PDF included.
        self.draw("second", "--case", "chip_gemm")
        for name in sorted(os.listdir(self.path("second"))):
            self.assertEqual(self.read("first/" + name), self.read("second/" + name), name)

        # Rows of another chip are refused by name.
        with open(self.path("rows.jsonl")) as file:
            text = file.read()
        self.assertIn("feba45a62a372170", text)
        journal = self.path("rows.jsonl")
        self.run_ok("store", "ingest", "sqlite:a.db", "rows.jsonl")
        os.remove(journal)
        row = json.loads(text.splitlines()[0])
        row["provenance"]["identity"]["topology"] = "0123456789abcdef"
        self.write("rows.jsonl", line_of(row))
        refused = self.draw("third")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("0123456789abcdef", refused.stderr)
        self.assertEqual(len(refused.stderr.strip().splitlines()), 1, refused.stderr)

        # A store draws as well as the journal it took in.
        self.run_ok("figures", "a.db", "--out", "fourth", "--formats", "svg", "--case", "chip_gemm")
        name = "chip_gemm-closed-form.svg"
        self.assertEqual(self.read("first/" + name), self.read("fourth/" + name))

    def test_nothing_to_draw(self):
        os.mkdir(self.path("empty"))
        empty = self.assay("figures", "empty", "--out", "x")
        self.assertEqual(empty.returncode, 2)
        self.assertIn("empty", empty.stderr)
        unknown = self.assay("figures", "empty", "--formats", "gif")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("'gif'", unknown.stderr)


if __name__ == "__main__":
    main()
