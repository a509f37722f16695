# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay transport` with --accuracy chooses grids by itself; lists and ranges as they are typed."""

import json
import os
import signal
import subprocess
import time

import equilibria
import numpy as np

from assay_cli import ASSAY, CliTest, main

NAMES = ("D11", "D31", "D13", "D33")
QUICK = ("scan", "example", "--accuracy", "5%", "--nu", "1e-2:1:5log", "--er", "0,1e-3")


class Accuracy(CliTest):
    def refused(self, *arguments, says):
        result = self.assay("transport", *arguments)
        self.assertEqual(result.returncode, 2, f"{arguments}: {result.stderr}")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(says, result.stderr)
        self.assertEqual(result.stdout, "")

    def arrays(self, name):
        arrays = np.load(self.path(name))
        return {key: arrays[key] for key in arrays}

    def test_every_case_has_its_grid_and_error_bars(self):
        answer = json.loads(self.run_ok("transport", *QUICK, "--json", "--strict").stdout)
        self.assertEqual(len(answer["cases"]), 10)
        for case in answer["cases"]:
            self.assertTrue(case["resolution"]["reached"])
            self.assertEqual(set(case["resolution"]["relative_errors"]), set(NAMES))
            self.assertLessEqual(max(case["resolution"]["relative_errors"].values()), 0.05)
        cost = answer["accuracy_cost"]
        self.assertEqual(cost["cases"], 10)
        self.assertEqual(cost["solves"], sum(case["resolution"]["solves"] for case in answer["cases"]))
        text = self.run_ok("transport", *QUICK, "--output", "s.npz").stdout
        self.assertRegex(text, r"grids chosen for an accuracy of 5 %, at most \d+ x \d+ x \d+\n")
        self.assertRegex(text, r"errors D11/D31/D13/D33 +grid  solves  method\n")
        self.assertRegex(text, r"\d solves a case on average, .*for every case would have been .* times as much\n")
        arrays = self.arrays("s.npz")
        for name in NAMES:
            self.assertEqual(arrays[name + "_relative_error"].shape, (5, 2))
        # Grids grow as collisions become rare, and a fixed grid gives the same numbers.
        self.assertGreater(arrays["grid_n_xi"][0, 0], arrays["grid_n_xi"][4, 0])
        case = answer["cases"][0]
        grid = "".join(f"{key} = {case['resolution'][key]}\n" for key in ("n_theta", "n_zeta", "n_xi"))
        fixed = f'[surface]\ntype = "example"\n[grid]\n{grid}[case]\nnu_hat = 1e-2\n'
        single = json.loads(self.run_ok("transport", self.write("fixed.toml", fixed), "--json").stdout)
        self.assertEqual(single["coefficients"], case["coefficients"])

    def test_a_killed_scan_resumes_to_the_same_bits(self):
        arguments = ("scan", "w7x_eim_sample", "--accuracy", "1%", "--nu", "1e-3:1e-1:5log", "--er", "0,1e-3")
        journal = self.path("killed.npz.journal")
        for least in (1, 3, 5):
            scan = subprocess.Popen(
                [ASSAY, "transport", *arguments, "--output", "killed.npz"], cwd=self.folder,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            while scan.poll() is None and not (
                os.path.exists(journal) and self.read("killed.npz.journal").count(b"\n") > least
            ):
                time.sleep(0.002)
            scan.send_signal(signal.SIGKILL)
            scan.wait()
            self.assertFalse(os.path.exists(self.path("killed.npz")), "the scan was too fast to be killed")
        other = self.assay("transport", *arguments, "--output", "killed.npz", "--max-xi", "300")
        self.assertIn("max_xi 400 there, 300 here", other.stderr)
        resumed = self.run_ok("transport", *arguments, "--output", "killed.npz")
        self.assertRegex(resumed.stderr, r"[5-9] resumed")
        self.run_ok("transport", *arguments, "--output", "whole.npz", "--threads", "1")
        whole = self.arrays("whole.npz")
        for key, value in self.arrays("killed.npz").items():
            if key != "created":
                np.testing.assert_array_equal(value, whole[key], err_msg=key)

    def test_what_was_not_reached_is_said_with_figures(self):
        arguments = ("scan", "w7x_eim_sample", "--accuracy", "1%", "--nu", "1e-4", "--max-points", "150")
        fine = self.run_ok("transport", *arguments)
        self.assertRegex(fine.stdout, r"accuracy 1 % is not reached: D\d\d may be wrong by \S+ % on \S+; .*--max-points 150")
        self.assertEqual(self.assay("transport", *arguments, "--strict").returncode, 3)

    def test_lists_and_what_stands_for_them(self):
        # Coarse grids: this is about the lists.
        source = self.write("s.toml", '[surface]\ntype = "example"\n')
        limits = ("--accuracy", "20%", "--max-points", "81", "--max-xi", "14")
        self.run_ok("transport", "scan", source, *limits, "--output", "s.npz")
        arrays = self.arrays("s.npz")
        np.testing.assert_allclose(arrays["nu_hat"], np.logspace(-5, 2, 15))
        np.testing.assert_allclose(arrays["er_hat"], [0, *np.logspace(-5, -2, 7)])
        text = '[surface]\ntype = "example"\n[case]\nnu_hat = "1:3:3"\ner_hat = [0, 0.1]\n'
        source = self.write("t.toml", text)
        self.run_ok("transport", "scan", source, *limits, "--output", "t.npz")
        np.testing.assert_array_equal(self.arrays("t.npz")["nu_hat"], [1, 2, 3])
        self.run_ok("transport", "scan", source, *limits, "--nu", "5", "--er=-1e-3,0:1:2", "--output", "t.npz")
        self.assertEqual(self.arrays("t.npz")["nu_hat"], [5])
        np.testing.assert_array_equal(self.arrays("t.npz")["er_hat"], [-1e-3, 0, 1])

    def test_database(self):
        equilibria.write(self.path("wout.nc"), equilibria.wout())
        database = ("database", "--wout", "wout.nc", "--output", "d.npz")
        self.run_ok("transport", *database, "--grid", "5x5x4")
        arrays = self.arrays("d.npz")
        self.assertEqual(arrays["D11"].shape, (9, 15, 8))
        np.testing.assert_allclose(arrays["rho"], np.linspace(0.1, 0.9, 9))
        self.assertNotIn("D11_relative_error", arrays)
        few = (*database, "--rho", "0.7,0.8", "--nu", "1e-1:1:2log", "--er", "1e-3:1e-2:2log")
        said = self.run_ok("transport", *few, "--accuracy", "2%", "--strict")
        self.assertIn("solves a case", said.stdout)
        arrays = self.arrays("d.npz")
        for name in NAMES:
            self.assertEqual(arrays[name + "_relative_error"].shape, (2, 2, 2))
            self.assertLess(arrays[name + "_relative_error"].max(), 0.02)
        self.run_ok("transport", *few, "--grid", "21x21x40")
        for name in NAMES:
            np.testing.assert_allclose(arrays[name], self.arrays("d.npz")[name], rtol=0.02)
        self.run_ok("transport", *few, "--grid", "21x21x40", "--min-bmn", "0.04")
        self.assertGreater(abs(arrays["D11"] / self.arrays("d.npz")["D11"] - 1).min(), 0.02)

    def test_hostile_flags_get_one_line(self):
        scan = ("scan", "example", "--nu", "1", "--er", "0")
        for text in ("0", "0%", "-1%", "100%", "1", "nan", "inf", "x", "1%%", "1e-3%x"):
            self.refused(*scan, f"--accuracy={text}", says="--accuracy")
        self.refused(*scan, says="needs --accuracy")
        accurate = (*scan, "--accuracy", "1%")
        self.refused(*accurate, "--max-points", "5", says="--max-points 5")
        self.refused(*accurate, "--max-xi", "-1", says="--max-xi -1")
        self.refused(*accurate, "--threads", "0", says="--threads")
        for text in ("1:2", "2:1:3", "1:2:1", "0:1:3log", "1:2:x", "1:2:99999999999", "nan", "x", "0", "-1"):
            self.refused("scan", "example", "--accuracy", "1%", f"--nu={text}", says="--nu")
            if text not in ("0", "-1"):
                self.refused("scan", "example", "--accuracy", "1%", f"--er={text}", says="--er")
        source = self.write("s.toml", '[surface]\ntype = "example"\n[case]\nnu_hat = "1:2"\n')
        self.refused("scan", source, "--accuracy", "1%", says="s.toml:4: case.nu_hat: ")
        self.refused("scan", source.replace("s.toml", "none.toml"), "--accuracy", "1%", says="none.toml")
        plain = self.write("p.toml", '[surface]\ntype = "example"\n')
        self.refused("scan", plain, says="grid: missing key")
        self.refused(plain, says="grid: missing key")
        self.refused("scan", plain, "--max-xi", "50", says="grid: missing key")
        grid = self.write("g.toml", '[surface]\ntype = "example"\n[grid]\nn_theta = 5\nn_zeta = 5\nn_xi = 4\n')
        self.refused("scan", grid, "--max-xi", "50", says="--max-xi goes with --accuracy")
        self.refused(grid, says="case: missing key")
        equilibria.write(self.path("wout.nc"), equilibria.wout())
        database = ("database", "--wout", "wout.nc", "--output", "d.h5")
        self.refused(*database, "--accuracy", "1%", "--grid", "9x9x9", says="leave out --grid '9x9x9'")
        self.refused(*database, "--max-points", "50", says="--max-points goes with --accuracy")
        self.refused(*database, "--rho", "0:1:3", says="rho must be above 0")
        self.refused(*database, "--rho", "0.5:1.5:3", says="rho must be above 0 and at most 1")
        for text in ("-0.1", "1", "nan"):
            self.refused(*database, f"--min-bmn={text}", says="min_bmn")
        ranks = subprocess.run(
            ["mpirun", "-n", "2", "--oversubscribe", ASSAY, "transport", *accurate], capture_output=True, text=True,
            env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"),
        )  # fmt: skip
        self.assertNotEqual(ranks.returncode, 0)
        self.assertEqual(ranks.stderr.count("--accuracy goes over threads, not over ranks"), 1)
        self.assertFalse([name for name in os.listdir(self.folder) if name.startswith("d.h5")])



if __name__ == "__main__":
    main()
