# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay chip`: what its commands print, and that each can be reached."""

import json
import os

from assay_cli import CliTest, main


class Chip(CliTest):
    def json_of(self, *arguments):
        return json.loads(self.run_ok("chip", *arguments, "--json").stdout)

    def test_each_command_shows_its_own_examples(self):
        for command in (("run",), ("explain",), ("collective",), ("systolic",), ("topology", "check")):
            text = self.run_ok("chip", *command, "--help").stdout
            examples = [l for l in text.splitlines() if l.strip().startswith("assay chip")]
            self.assertTrue(examples, command)
            for line in examples:
                self.assertTrue(line.strip().startswith("assay chip " + " ".join(command)), line)

    def test_times_with_and_without_the_load(self):
        run = self.json_of("run", "--gemm", "512x512x512", "--variant", "load_load")
        self.assertEqual(run["time_ns"], 32792)
        self.assertEqual(run["time_with_load_ns"], 32792 + 4096)
        self.assertEqual(run["roofline_ns"], 32768)  # and not 32767.999
        whole = self.json_of("run", "--gemm", "512x512x512", "--variant", "load_load",
                             "--window", "composite+load")  # fmt: skip
        self.assertEqual(whole["time_ns"], run["time_with_load_ns"])
        text = self.run_ok("chip", "run", "--gemm", "512x512x512", "--variant", "load_load").stdout
        self.assertIn("36888.000 ns end to end", text)
        one = self.json_of("run", "--gemm", "64x64x64", "--window", "pe")
        self.assertEqual(one["window"], "pe:0")
        self.refused("pe:1", "run", "--gemm", "64x64x64", "--window", "pe:1")

    def refused(self, says, *arguments):
        result = self.assay("chip", *arguments)
        self.assertEqual(result.returncode, 2)
        self.assertIn(says, result.stderr)

    def test_op_log(self):
        self.run_ok("chip", "run", "--gemm", "64x128x32", "--op-log", "ops.csv")
        lines = self.read("ops.csv").decode().splitlines()
        self.assertTrue(lines[0].startswith("id,pe,engine,slot,stage,tile,t_request_ps"))
        # Two panels of A, four steps through three engines, two outputs.
        self.assertEqual(len(lines) - 1, 2 + 4 * 3 + 2)

    def test_costs_never_below_their_bound(self):
        for network in ("ring", "switch"):
            run = self.json_of("collective", "--network", network, "--ranks", "8", "--collective",
                               "all_to_all", "--algorithm", "direct", "--bytes", "64MiB")  # fmt: skip
            self.assertGreaterEqual(run["alpha_beta_ns"], run["bound_ns"], network)

    def test_segments_and_groups(self):
        tree = ("collective", "--network", "fully_connected", "--ranks", "8", "--algorithm",
                "double_binary_tree", "--bytes", "16MiB")  # fmt: skip
        self.assertGreater(self.json_of(*tree, "--segments", "1")["time_ns"],
                           2 * self.json_of(*tree, "--segments", "32")["time_ns"])  # fmt: skip
        self.refused("group", "collective", "--network", "ring", "--ranks", "6", "--algorithm",
                     "hierarchical", "--bytes", "1KiB", "--group", "4")  # fmt: skip
        ring = ("collective", "--network", "ring", "--ranks", "8", "--bytes", "1MiB")
        self.refused("only double_binary_tree has segments", *ring, "--segments", "5")
        self.refused("only hierarchical has groups", *ring, "--group", "4")
        self.refused("only hierarchical has groups", *tree, "--group", "4")

    def test_use_of_links(self):
        busy = ("collective", "--network", "ring", "--ranks", "64", "--collective", "all_to_all",
                "--algorithm", "direct", "--latency", "0", "--endpoint", "0")  # fmt: skip
        # 5 KiB over 64 ranks: messages of 80 bytes, 1.49 ns that astra cuts to 1.
        for model in ("fifo", "fluid", "astra"):
            run = self.json_of(*busy, "--bytes", "5KiB", "--contention", model)
            self.assertGreater(run["link_use"], 0.5, model)
            self.assertLessEqual(run["link_use"], 1, model)
        unaware = (*busy, "--bytes", "1MiB", "--contention", "astra-unaware")
        run = self.json_of(*unaware)
        self.assertIsNone(run["link_use"])
        self.assertLess(run["time_ns"], run["bound_ns"])
        self.assertIn("may be below the lower bound", self.run_ok("chip", *unaware).stdout)
        text = self.run_ok("chip", *busy, "--bytes", "1MiB").stdout
        self.assertNotIn("may be below", text)
        self.assertIn("cost of the schedule", text)
        self.assertNotIn("textbook", text)

    def test_systolic(self):
        self.write("layers.csv", "Layer Name, M, N, K,\none, 128, 128, 128,\ntwo, 100, 70, 130,\n")
        layers = self.json_of("systolic", "--scalesim-topology", "layers.csv")["layers"]
        self.assertEqual([l["scalesim_compute_cycles"] for l in layers], [3039, 2303])
        self.write("scale.cfg", "[architecture_presets]\nArrayHeight: 32\nArrayWidth: 32\nDataflow: ws\n")
        layers = self.json_of("systolic", "--gemm", "128x128x128", "--scalesim-config", "scale.cfg")
        self.assertEqual(layers["layers"][0]["scalesim_compute_cycles"], 3551)
        self.refused("--scalesim-topology", "systolic")

    def test_systolic_files_as_people_write_them(self):
        self.write("mkn.csv", "Layer,M,K,N,\n\x1b[2Jone,100,130,70,\n")
        layers = self.json_of("systolic", "--scalesim-topology", "mkn.csv")["layers"]
        self.assertEqual(layers[0]["gemm"], "100x130x70")
        text = self.run_ok("chip", "systolic", "--scalesim-topology", "mkn.csv").stdout
        self.assertNotIn("\x1b", text)
        self.assertIn("\\x1b[2Jone", text)
        self.write("x.csv", "Layer,A,B,C,\none,1,2,3,\n")
        self.refused("got 'A'", "systolic", "--scalesim-topology", "x.csv")
        self.write("two.cfg", "[architecture_presets]\nArrayHeight: 32\nArrayHeight: 8\n"
                   "ArrayWidth: 32\nDataflow: ws\n")  # fmt: skip
        self.refused("repeated key architecture_presets.ArrayHeight", "systolic", "--gemm",
                     "64x64x64", "--scalesim-config", "two.cfg")  # fmt: skip

    def test_files_without_an_end(self):
        os.mkfifo(self.path("pipe"))
        with open(self.path("large"), "wb") as file:
            file.truncate((64 << 20) + 1)
        for path, says in (("/dev/zero", "not a regular file: '/dev/zero'"),
                           ("pipe", "not a regular file: 'pipe'"),
                           ("large", "larger than the 64.00 MiB that such a file may have: 'large'")):  # fmt: skip
            self.refused(says, "systolic", "--scalesim-topology", path)
            self.refused(says, "systolic", "--gemm", "64x64x64", "--scalesim-config", path)
            self.refused(says, "run", "--gemm", "64x64x64", "--topology", path)
            self.refused(says, "topology", "check", path)

    def test_sizes_are_whole_bytes(self):
        ring = ("collective", "--network", "ring", "--ranks", "2", "--bytes")
        self.refused("--bytes: expected a whole number of bytes, got '8.5B'", *ring, "8.5B")
        self.assertIn(" 4.000 TiB,", self.run_ok("chip", *ring, "4TiB").stdout)


if __name__ == "__main__":
    main()
