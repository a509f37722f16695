# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay transport` as a user types it: files, plots, ranks, a kill in the middle, bad input."""

import json
import os
import signal
import subprocess

import numpy as np

from assay_cli import ASSAY, CliTest, full_disk, main

SINGLE = """
[surface]
type = "w7x_eim_sample"
[grid]
n_theta = 7
n_zeta = 9
n_xi = 16
[case]
nu_hat = 1e-2
er_hat = 1e-3
[output]
include_modes = true
"""
SCAN = """
[surface]
type = "sample_dkes"
[grid]
n_theta = {n_theta}
n_zeta = 11
n_xi = {n_xi}
[case]
nu_hat = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2]
er_hat = [-1e-3, 0, 1e-3, 2e-3]
[solver]
batch = 2
"""


class Transport(CliTest):
    def fine(self, *arguments):
        return self.run_ok("transport", *arguments)

    def tool(self, *command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def test_one_case_in_every_format(self):
        source = self.write("in.toml", SINGLE)
        answer = json.loads(self.fine(source, "--json").stdout)
        d = answer["coefficients"]
        self.assertEqual(set(d), {"D11", "D31", "D13", "D33", "D33_spitzer"})
        self.assertEqual(set(answer["timings"]), {"prepare", "solve", "write", "plot", "total"})
        self.assertGreater(answer["peak_memory"], 1e6)
        self.assertEqual(answer["warnings"], [])
        self.assertLess(answer["residual"], 1e-12)
        for suffix in ("nc", "h5", "npz"):
            out = self.path("run." + suffix)
            text = self.fine(source, "--output", out).stdout
            self.assertIn("wrote " + out, text)
        arrays = np.load(self.path("run.npz"))
        self.assertEqual(arrays["D11"].item(), d["D11"])
        self.assertEqual(arrays["modes"].shape, (2, 3, 9, 7))
        self.assertEqual(arrays["input"].tobytes().decode(), SINGLE)
        header = self.tool("ncdump", "-h", self.path("run.nc"))
        self.assertIn('D11:units = "1/(m T^2)"', header)
        self.assertIn("resolved_input_sha256", header)
        dump = self.tool("h5dump", "-d", "D31", self.path("run.h5"))
        self.assertIn(f"{d['D31']:.4g}"[:6], dump)

    def test_a_full_disk_is_said_and_nothing_is_left(self):
        source = self.write("in.toml", SINGLE)
        for suffix in ("nc", "h5", "npz"):
            for size in (100, 3000):
                out = self.path("run." + suffix)
                result = self.assay("transport", source, "--output", out, **full_disk(size))
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(result.stderr, f"assay: cannot write '{out}': File too large\n")
                self.assertEqual(os.listdir(self.folder), ["in.toml"])

    def test_every_answer_says_how_good_it_is(self):
        good, coarse = self.write("in.toml", SINGLE), self.write("coarse.toml", SINGLE.replace("n_xi = 16", "n_xi = 4"))
        text = self.fine(good, "--strict").stdout
        self.assertRegex(text, r"digits +method")
        self.assertRegex(text, r" 1\d/1\d/1\d/1\d  structured\n")
        quality = json.loads(self.fine(good, "--json").stdout)["quality"]
        self.assertLess(quality["residual"], 1e-12)
        self.assertGreaterEqual(min(quality["digits"].values()), 10)
        self.assertLess(quality["errors"]["D31"], 1e-10)
        # Without --strict a warning is a warning.
        out = self.path("run.npz")
        self.assertIn("warning: n_xi = 4 is too small", self.fine(coarse, "--output", out).stdout)
        arrays = np.load(out)
        self.assertGreater(arrays["legendre_share"].item(), 1e-3)
        self.assertLess(arrays["D31_error"].item(), 1e-10)
        self.assertGreaterEqual(arrays["warned"].item(), 1)
        self.assertIn("n_xi = 4", arrays["warnings"].tobytes().decode())
        for arguments in (("--strict",), ("--strict", "--json")):
            result = self.assay("transport", coarse, *arguments)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("n_xi = 4 is too small", result.stdout)

    def test_a_vanishing_field_is_none(self):
        text = SCAN.format(n_theta=11, n_xi=8).replace("er_hat = [-1e-3, 0, 1e-3, 2e-3]", "er_hat = [0, 1e-16]")
        answer = json.loads(self.fine(self.write("in.toml", text), "--json").stdout)
        zero, tiny = answer["cases"][:2]
        self.assertEqual(zero["coefficients"], tiny["coefficients"])
        self.assertEqual(zero["warnings"], tiny["warnings"])
        self.assertIn("nearly rational", tiny["warnings"][0])

    def test_flags_alone(self):
        by_file = json.loads(self.fine(self.write("in.toml", SINGLE), "--json").stdout)
        flags = ("solve", "--surface", "w7x_eim_sample", "--nu", "1e-2", "--er", "1e-3", "--grid", "7x9x16")
        by_flags = json.loads(self.fine(*flags, "--json").stdout)
        self.assertEqual(by_flags["coefficients"], by_file["coefficients"])
        d, psi = by_flags["coefficients"], -0.5237
        scaled = json.loads(self.fine(*flags, "--json", "--normalisation", "monkes").stdout)["normalised"]
        for key, power in (("11", 2), ("31", 1), ("13", 1), ("33", 0)):
            self.assertAlmostEqual(scaled[key] / (d["D" + key] * psi**power), 1, 12)
        # B_theta = 0: L11 = 8 B0/(sqrt(pi) G) D11 psi'^2, L33 = -2 B0/(sqrt(pi) G) D33.
        sfincs = json.loads(self.fine(*flags, "--json", "--normalisation", "sfincs").stdout)["normalised"]
        unit = 2.4311 / (-14.0876 * np.sqrt(np.pi))
        self.assertAlmostEqual(sfincs["11"] / (8 * unit * scaled["11"]), 1, 9)
        self.assertAlmostEqual(sfincs["31"] / (4 * unit * scaled["31"]), 1, 9)
        self.assertAlmostEqual(sfincs["33"] / (-2 * unit * d["D33"]), 1, 9)
        text = self.fine(*flags, "--normalisation", "dkes").stdout
        self.assertIn("Spitzer part subtracted", text)
        scan = json.loads(self.fine(*flags[:3], "--nu", "1e-2,3e-2", "--grid", "7x9x16", "--json").stdout)
        self.assertEqual([case["nu_hat"] for case in scan["cases"]], [1e-2, 3e-2])
        for bad, word in (
            (("solve", "--surface", "nowhere", "--nu", "1"), "nowhere"),
            ((*flags[:-1], "7x9"), "--grid"),
            ((*flags, "--normalisation", "x"), "dkes, monkes or sfincs"),
            (("inspect", self.path("in.toml"), "--normalisation", "dkes"), "normalisation"),
        ):
            result = self.assay("transport", *bad)
            self.assertEqual(result.returncode, 2)
            self.assertIn(word, result.stderr)

    def test_a_surface_spelled_out(self):
        spelled = SINGLE.replace('type = "w7x_eim_sample"', """type = "modes"
nfp = 5
iota = -0.8615619629558908
psi_prime = -0.5237
b_theta = 0
b_zeta = -14.0876
b = [[0, 0, 2.4311], [0, 1, 0.11149], [1, 1, -0.094228], [1, 0, -0.040776], [1, -1, 0.0054553], [2, 0, -0.0037086]]
""")
        built_in = json.loads(self.fine(self.write("in.toml", SINGLE), "--json").stdout)["coefficients"]
        mine = json.loads(self.fine(self.write("modes.toml", spelled), "--json").stdout)["coefficients"]
        for key, value in built_in.items():
            self.assertAlmostEqual(mine[key] / value, 1, 10)

    def test_plot(self):
        out = self.path("run.nc")
        self.fine(self.write("in.toml", SINGLE), "--output", out, "--plot")
        with open(self.path("run.png"), "rb") as image:
            self.assertEqual(image.read(8), b"\x89PNG\r\n\x1a\n")

    def scan_arrays(self, name):
        arrays = np.load(self.path(name))
        return {key: arrays[key] for key in ("nu_hat", "D11", "D31", "D13", "D33", "residual")}

    def assert_equal_scans(self, a, b):
        for key, value in self.scan_arrays(a).items():
            np.testing.assert_array_equal(value, self.scan_arrays(b)[key], err_msg=key)

    def test_threads_and_ranks_equal_serial(self):
        source = self.write("scan.toml", SCAN.format(n_theta=7, n_xi=8))
        self.fine("scan", source, "--output", self.path("serial.npz"))
        self.fine("scan", source, "--output", self.path("threads.npz"), "--threads", "2")
        environment = dict(
            os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"
        )
        ranks = subprocess.run(
            ["mpirun", "-n", "2", "--oversubscribe", ASSAY, "transport", "scan", source,
             "--output", self.path("ranks.npz")],
            capture_output=True, text=True, env=environment,
        )  # fmt: skip
        self.assertEqual(ranks.returncode, 0, ranks.stderr)
        self.assert_equal_scans("serial.npz", "threads.npz")
        self.assert_equal_scans("serial.npz", "ranks.npz")
        self.assertEqual(self.scan_arrays("serial.npz")["D11"].shape, (6, 4))
        # Bad input under mpirun: one line, from one rank.
        bad = subprocess.run(
            ["mpirun", "-n", "2", "--oversubscribe", ASSAY, "transport", "scan",
             self.path("none.toml")],
            capture_output=True, text=True, env=environment,
        )  # fmt: skip
        self.assertNotEqual(bad.returncode, 0)
        self.assertEqual(bad.stderr.count("none.toml"), 1, bad.stderr)

    def test_a_killed_scan_resumes_to_the_same_datasets(self):
        source = self.write("scan.toml", SCAN.format(n_theta=9, n_xi=80))
        out, journal = self.path("killed.npz"), self.path("killed.npz.journal")
        scan = subprocess.Popen(
            [ASSAY, "transport", "scan", source, "--output", out],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        # Until some cases are in the journal; a scan that is faster than this look ends the wait too.
        while scan.poll() is None and not (
            os.path.exists(journal) and os.path.getsize(journal) > 1000
        ):
            os.sched_yield()
        scan.send_signal(signal.SIGKILL)
        scan.wait()
        self.assertFalse(os.path.exists(out), "the scan was too fast to be killed")
        resumed = self.fine("scan", source, "--output", out)
        self.assertRegex(resumed.stderr, r"[1-9]\d* resumed")
        self.fine("scan", source, "--output", self.path("whole.npz"))
        self.assert_equal_scans("killed.npz", "whole.npz")
        self.assertFalse(os.path.exists(journal), "a finished scan leaves no journal")

    def test_converge(self):
        result = self.fine("converge", "w7x_eim_sample", "--nu", "1e-2")
        self.assertIn("converged:", result.stdout)
        rational = self.assay("transport", "converge", "sample_dkes", "--nu", "1e-2", "--json")
        self.assertEqual(rational.returncode, 3)
        answer = json.loads(rational.stdout)
        self.assertEqual(answer["outcome"], "out of scope")
        self.assertIn("(5, -1)", answer["solution"]["warnings"][0])

    def test_what_an_action_does_not_do_is_refused(self):
        source = self.write("in.toml", SINGLE)
        converge = ("converge", "w7x_eim_sample", "--nu", "1e-2")
        self.refused(*converge, "--output", "x.nc", says="--output")
        self.refused(*converge, "--plot", says="--plot")
        self.refused("--output", "x.nc", *converge, says="'converge' writes no file")
        self.refused("--plot", "inspect", source, says="'inspect' draws nothing")
        self.refused(*converge, "--max-xi", "-5", says="--max-xi -5")
        self.refused(*converge, "--max-points", "1", says="--max-points 1")
        self.refused(*converge, "--tolerance", "0", says="--tolerance must be above 0, got 0")
        self.refused(source, "--output", "", says="--output")

    def test_every_action_has_examples_of_its_own(self):
        for name in ("scan", "inspect", "converge", "database"):
            examples = self.fine(name, "--help").stdout.partition("Examples:")[2]
            lines = [line for line in map(str.strip, examples.splitlines()) if line]
            self.assertTrue(lines, name)
            for line in lines:
                self.assertIn(f"assay transport {name} ", line)

    def test_inspect(self):
        source = self.write("in.toml", SINGLE)
        answer = json.loads(self.fine("inspect", source, "--json").stdout)
        self.assertEqual(answer["nfp"], 5)
        self.assertIn("resonance", self.fine("inspect", source).stdout)

    def test_the_suite_runs_under_the_lab(self):
        def statuses(case, point, providers):
            self.run_ok(
                "run", case, "--points", json.dumps(point), "--providers", providers, "--rounds",
                "1", "--batches", "5", "--steady", "1ms", "--warm-up", "0", "--max-steal", "100%", "--max-foreign", "100%",
                "--out", self.path(case + ".jsonl"),
            )  # fmt: skip
            rows = self.read(case + ".jsonl").decode().splitlines()
            return {row["provider"]: row["status"] for row in map(json.loads, rows)}

        grid = {"n_theta": 5, "n_zeta": 7, "n_xi": 6}
        solvers = "assay-dense,assay-structured,assay-mixed,assay-parity,numpy"
        found = statuses("transport_solve", {**grid, "field": "zero"}, solvers)
        self.assertEqual(found, dict.fromkeys(solvers.split(","), "ok"))
        lanes = "serial,threads,processes,mpi"
        found = statuses("transport_scan", {**grid, "cases": 6}, lanes)
        self.assertEqual(found, dict.fromkeys(lanes.split(","), "ok"))

    def refused(self, *arguments, says, status=2):
        result = self.assay("transport", *arguments)
        lines = [line for line in result.stderr.splitlines() if line]
        self.assertEqual(result.returncode, status, f"{arguments}: {result.stderr}")
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertIn(says.lower(), lines[0].lower())
        self.assertEqual(result.stdout, "")

    def test_bad_input_gets_one_line(self):
        source = self.write("in.toml", SINGLE)

        def bad(old, new, says):
            self.refused(self.write("bad.toml", SINGLE.replace(old, new)), says=says)

        bad("n_theta = 7", "n_theta = 2", "n_theta")
        bad("er_hat = 1e-3", "er_hat = 1e-3\nepsi_hat = 1e-3", "not both")
        bad("er_hat", "er_hut", "er_hut: unknown key")
        bad("nu_hat = 1e-2", "nu_hat = nan", "nu_hat")
        bad('type = "w7x_eim_sample"', 'type = "dkes"\npath = "none.data"', "none.data")
        bad('type = "w7x_eim_sample"', 'type = "vmec"\npath = "none.nc"\npsi_n = 0.5', "none.nc")
        nan = self.write(
            "nan.data",
            "&datain\n nzperiod=1, psip=1, chip=1, btheta=0, bzeta=1,\n borbi(0,0)=nan\n/\n",
        )
        bad('type = "w7x_eim_sample"', f'type = "dkes"\npath = "{nan}"', "not finite")
        self.refused(says="input file")
        self.refused(self.path("none.toml"), says="none.toml")
        self.refused(source, "--output", self.path("run.txt"), says="run.txt")
        self.refused(source, "--output", self.path("no/run.nc"), says="no/run.nc")
        self.refused(source, "--method", "quick", says="'quick'")
        self.refused(source, "--threads", "0", says="got 0")
        self.refused(source, "--method", "parity", says="parity")
        self.refused(source, "--plot", says="--output")
        database = ("database", "--rho", "0.5", "--nu", "1e-3", "--er", "0")
        out = ("--output", self.path("d.h5"))
        self.refused(*database, "--wout", "none.nc", *out, says="none.nc")
        self.refused(*database, "--wout", "x", "--device", "cuda", *out, says="cuda", status=5)
        for words in ("--accuracy 1%", "--device cpu --device abacus"):
            self.refused("scan", "example", "--device", "cuda", *words.split(), says="--device")
        self.refused("inspect", "x.toml", "--device", "cuda", says="--device")
        self.refused(*database, "--wout", "x", "--device", "abacus", *out, says="'abacus'")
        self.refused(*database, "--wout", "x", "--grid", "9x9", *out, says="'9x9'")
        self.assertEqual(sorted(os.listdir(self.folder)), ["bad.toml", "in.toml", "nan.data"])


if __name__ == "__main__":
    main()
