# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Surfaces and equilibria as files: what the field writes is taken, what is damaged is one line and 2."""

import json
import os
import subprocess

import equilibria
import numpy as np

from assay_cli import ASSAY, ROOT, CliTest, main

INPUT = """
[surface]
{surface}
[grid]
n_theta = 5
n_zeta = 5
n_xi = {n_xi}
[case]
nu_hat = {nu}
er_hat = {er}
"""
DKES = """ &datain
 nzperiod= 2, chip = -0.5, psip = 1.25,
 btheta = .15, bzeta=1.4,
 borbi(0,0)= 2.4, borbi(0,1)= 0.12, borbi(1,0)= 0.08,
 borbi(-1,1)= -0.03
 /
"""
TEXT = """Number of periods = 2
psi_p = 1.25
chi_p = 0.5
iota = 0.4
B00 = 2.4
B_theta = 0.15
B_zeta = 1.4
m n B_mn
0 0 2.4
1 0 0.12
0 1 0.08
1 -1 -0.03
"""
MONKES = TEXT.replace("B_zeta = 1.4\n", "B_zeta = 1.4\nB00/(B_zeta+iota*B_theta) =  1.643\n *** Stellarator\n")
MONKES = MONKES.replace("m n B_mn", "m n B_mn B_mn/B00").replace("0 0 2.4", "0 0 2.4 1.0")
MONKES = MONKES.replace("1 0 0.12", "1 0 0.12 0.05").replace("0 1 0.08", "0 1 0.08 3.3333333E-2")
MONKES = MONKES.replace("1 -1 -0.03", "1 -1 -0.03 -1.25E-2")


class Files(CliTest):
    def surface(self, kind, path, more=""):
        return f"type = \"{kind}\"\npath = {json.dumps(path)}\n{more}"

    def source(self, surface, name="in.toml", n_xi=4, nu=1e-2, er=1e-3):
        return self.write(name, INPUT.format(surface=surface, n_xi=n_xi, nu=nu, er=er))

    def solved(self, surface, **case):
        return json.loads(self.run_ok("transport", self.source(surface, **case), "--json").stdout)["coefficients"]

    def refused(self, says, *arguments):
        result = self.assay("transport", *arguments)
        self.assertEqual(result.returncode, 2, f"{says}: {result.stdout}{result.stderr}")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(says, result.stderr)
        self.assertEqual(result.stdout, "")

    def bad_surface(self, says, surface):
        with self.subTest(says, surface=surface):
            self.refused(says, self.source(surface))

    def expected(self):
        return self.solved('type = "sample_dkes"')

    def assert_same(self, found, expected, tolerance=1e-9):
        for name, value in expected.items():
            self.assertAlmostEqual(found[name] / value, 1, delta=tolerance, msg=name)

    # What is taken.

    def test_every_form_of_one_surface_has_the_same_coefficients(self):
        expected = self.expected()
        for kind, text in (("dkes", DKES), ("text", TEXT), ("text", MONKES)):
            self.assert_same(self.solved(self.surface(kind, self.write("surface", text))), expected)
        for flux in (1, -1):
            vmec, booz = self.path("wout_a.nc"), self.path("boozmn_a.nc")
            equilibria.write(vmec, equilibria.wout(flux))
            variables = equilibria.boozmn(flux)
            equilibria.write(booz, variables)
            # Of 1/B^2 the tenth harmonic and beyond are missing.
            self.assert_same(self.solved(self.surface("vmec", vmec, "psi_n = 0.25")), expected, 1e-7)
            for more in ("", "minor_radius = 0.4", "psi_prime = 1.25", 'wout = "wout_a.nc"'):
                self.assert_same(self.solved(self.surface("booz", booz, "psi_n = 0.25\n" + more)), expected)
            del variables["phi_b"]  # as booz_xform_jax writes it: the flux is that of the wout beside it
            equilibria.write(booz, variables)
            self.assert_same(self.solved(self.surface("booz", booz, "psi_n = 0.25")), expected)
            os.remove(vmec)
            self.bad_surface("give psi_prime", self.surface("booz", booz, "psi_n = 0.25"))
            self.bad_surface("(phi_b)", self.surface("booz", booz, "psi_n = 0.25\nminor_radius = 1"))

    def test_namelists_as_fortran_reads_them(self):
        expected = self.expected()
        for old, new in (
            (" nzperiod=", " ! borbi(0,1) = 0.4, old: bzeta = -7.0\n nzperiod="),
            ("borbi(0,1)= 0.12", "borbi(0,1)= 7, borbi(0,1)= 0.12"),
            ("psip = 1.25", "psip = 3, psip = 1.25"),
            ("borbi(0,0)= 2.4, borbi(0,1)= 0.12, borbi(1,0)= 0.08", "borbi(0,0)= 2.4, 0.08, borbi(0,1) = 0.12, 2*0"),
            (" &datain", " &other bzeta = 9 /\n &DATAIN"),
            (" /", " &END"),
            (" /\n", " /\n &datain chip = -0.5D0 /\n"),
        ):
            with self.subTest(new):
                self.assertIn(old, DKES)
                path = self.write("surface", DKES.replace(old, new))
                self.assert_same(self.solved(self.surface("dkes", path)), expected)

    def test_sine_terms_are_not_dropped(self):
        booz = self.path("boozmn.nc")
        variables = equilibria.boozmn()
        surface = self.surface("booz", booz, "psi_n = 0.25\nminor_radius = 0.4")
        equilibria.write(booz, variables)
        symmetric = self.solved(surface)
        variables["lasym__logical__"] = 1
        equilibria.write(booz, variables)
        self.bad_surface("'bmns_b'", surface)
        variables["bmns_b"] = 0.5 * variables["bmnc_b"]
        variables["bmns_b"][:, 0] = 0
        equilibria.write(booz, variables)
        self.assertGreater(self.solved(surface)["D11"], 1.05 * symmetric["D11"])

    # What is refused.

    def test_bad_requests(self):
        path = self.write("surface", DKES)
        self.bad_surface("expected example", 'type = "sample"')
        self.bad_surface("surface.path: missing key", 'type = "dkes"')
        self.bad_surface("has no file", f'type = "sample_dkes"\npath = "{path}"')
        self.bad_surface("No such file", self.surface("dkes", "/nonexistent/file"))
        self.bad_surface("no such file", self.surface("vmec", "/nonexistent/file", "psi_n = 0.25"))
        self.bad_surface("surface.psi_n", self.surface("vmec", path))
        for value in ("0", "1.5", "nan", '"x"'):
            self.bad_surface("surface.psi_n", self.surface("vmec", path, f"psi_n = {value}"))
        self.bad_surface("psi_n", 'type = "sample_dkes"\npsi_n = 0.5')
        self.bad_surface("psi' must not be 0", 'type = "sample_dkes"\npsi_prime = 0')
        self.bad_surface("surface.psi_prime", 'type = "sample_dkes"\npsi_prime = nan')
        self.bad_surface("surface.min_bmn", 'type = "sample_dkes"\nmin_bmn = -1')
        self.bad_surface("surface.minor_radius", self.surface("dkes", path, "minor_radius = 1"))
        self.bad_surface("surface.minor_radius", self.surface("booz", path, "psi_n = 0.5\nminor_radius = 0"))
        self.bad_surface("surface.wout", self.surface("vmec", path, 'psi_n = 0.5\nwout = "x.nc"'))
        self.bad_surface("unknown key", 'type = "sample_dkes"\nradius = 1')
        for key, value in (("n_theta", "1000000000"), ("n_theta", "2"), ("n_xi", "1000000")):
            text = INPUT.format(surface='type = "sample_dkes"', n_xi=4, nu=1e-2, er=0)
            text = text.replace("n_theta = 5", f"n_theta = {value}") if key == "n_theta" else text.replace(
                "n_xi = 4", f"n_xi = {value}"
            )
            self.refused(key, self.write("in.toml", text))

    def test_what_is_no_file_is_refused_before_it_is_read(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        large = self.path("large")
        with open(large, "wb") as file:
            file.truncate(10 << 30)  # takes no room
        folder = self.path("folder")
        os.mkdir(folder)
        for kind in ("dkes", "text", "vmec", "booz"):
            more = "psi_n = 0.25\npsi_prime = 1" if kind in ("vmec", "booz") else ""
            for path in ("/dev/zero", fifo, folder):
                self.bad_surface(f"'{path}'", self.surface(kind, path, more))
            self.bad_surface(large, self.surface(kind, large, more))
        for path in ("/dev/zero", fifo, folder, large):
            self.refused(path, path)

    def bad_text(self, kind, text, says, old, new):
        self.assertIn(old, text)
        self.bad_surface(says, self.surface(kind, self.write("surface", text.replace(old, new, 1))))

    def test_bad_namelists(self):
        for says, old, new in (
            ("no namelist '&datain'", DKES, ""),
            ("no namelist '&datain'", "&datain", "&other"),
            ("no end '/'", " /", ""),
            ("no end '/'", "0.03\n /\n", "0.0"),
            ("not finite", "0.12", "nan"),
            ("not finite", "0.12", "inf"),
            ("B_00 must not be 0", "2.4", "0"),
            ("B must be positive", "2.4", "-2.4"),
            ("B must be positive", "0.12", "5"),
            ("mean field", "borbi(0,0)", "borbi(7,7)"),
            ("from 1 to 1000, got -5", "nzperiod= 2", "nzperiod= -5"),
            ("from 1 to 1000, got 0", "nzperiod= 2", "nzperiod= 0"),
            ("from 1 to 1000, got 2.5", "nzperiod= 2", "nzperiod= 2.5"),
            ("from 1 to 1000, got 1000000000000", "nzperiod= 2", "nzperiod= 1e12"),
            ("psip must not be 0", "psip = 1.25", "psip = 0"),
            ("missing value 'psip'", "psip = 1.25", ""),
            ("B_zeta + iota*B_theta must not be 0", "btheta = .15, bzeta=1.4", "btheta = 0, bzeta=0"),
            ("B_zeta must be finite", "bzeta=1.4", "bzeta=nan"),
            ("expected a number, got '1.4x'", "bzeta=1.4", "bzeta=1.4x"),
            ("two indices (n, m), got 1", "borbi(0,1)", "borbi(0)"),
            ("two indices (n, m), got 0", "borbi(0,1)", "borbi"),
            ("from -1000 to 1000, got '(2000000000,1)'", "borbi(0,1)", "borbi(2000000000,1)"),
            ("integer indices", "borbi(0,1)", "borbi(99999999999,1)"),
            ("integer indices", "borbi(0,1)", "borbi(a,1)"),
            ("more values", "borbi(0,1)= 0.12", "borbi(999,1)= 5*0.1"),
            ("repeat count", "0.12", "99999999*0.12"),
            ("expected a number, got ')'", "borbi(0,1)", ") borbi(0,1)"),
            ("expected 'name = value'", " nzperiod", " ) nzperiod"),
            ("not a text file", " /\n", " /\n\x01\x02"),
            ("quotation has no end", "btheta", "title = 'x\n btheta"),
        ):
            self.bad_text("dkes", DKES, says, old, new)
        for length in range(len(" &datain"), DKES.rindex("/"), 9):
            path = self.write("surface", DKES[:length])
            self.bad_surface("the namelist '&datain'", self.surface("dkes", path))

    def test_bad_texts(self):
        for says, old, new in (
            ("no row 'm n B_mn'", TEXT, "\n"),
            ("no row 'm n B_mn'", TEXT[TEXT.index("m n B_mn") :], ""),
            ("missing line", "psi_p = 1.25\n", ""),
            ("last line has no end", "1 -1 -0.03\n", "1 -1 -0.03"),
            (":8: b_zeta is there twice", "B_zeta = 1.4", "B_zeta = 1.4\nB_zeta = 2.8"),
            ("got -2", "periods = 2", "periods = -2"),
            ("got 2.7", "periods = 2", "periods = 2.7"),
            ("got nan", "periods = 2", "periods = nan"),
            ("got 1000000000000", "periods = 2", "periods = 1e12"),
            ("iota contradicts chi_p/psi_p", "iota = 0.4", "iota = 0.9"),
            ("B00 contradicts the row 0 0", "B00 = 2.4", "B00 = 9.9"),
            (":10: expected 'm n B_mn'", "1 0 0.12", "1 0"),
            (":10: expected 'm n B_mn'", "1 0 0.12", "1 0 x"),
            (":10: the mode (0, 0) stood on line 9", "1 0 0.12", "0 0 0.12"),
            (":10: mode numbers may be", "1 0 0.12", "1 -2000000 0.12"),
            (":4: iota: expected a number", "iota = 0.4", "iota = high"),
            ("psi_p must not be 0", "psi_p = 1.25", "psi_p = 0"),
        ):
            self.bad_text("text", TEXT, says, old, new)
        self.bad_text("text", MONKES, ":14: expected 'm n B_mn'", "-1.25E-2", "-1.25E-")
        self.bad_text("text", MONKES, "fourth column must be B_mn/B00", "-1.25E-2", "-1.2")

    def bad_file(self, kind, says, variables, **changes):
        for name, value in changes.items():
            if value is None:
                del variables[name]
            else:
                variables[name] = value
        path = self.path("file.nc")
        equilibria.write(path, variables)
        more = "psi_n = 0.25\n" + ("minor_radius = 0.4" if kind == "booz" else "")
        self.bad_surface(says, self.surface(kind, path, more))

    def test_bad_wouts(self):
        whole = equilibria.wout()
        needed = set(whole) - {"lasym__logical__", "Rmajor_p"}
        for name in needed:
            self.bad_file("vmec", f"missing variable '{name}'", dict(whole), **{name: None})
        oscillating = whole["gmnc"].copy()
        oscillating[:, 1] = 10
        broken = whole["bmnc"].copy()
        broken[2, 0] = np.nan
        for says, changes in (
            ("nfp must be an integer from 1 to 1000, got -2", {"nfp": -2}),
            ("nfp must be an integer from 1 to 1000, got 0", {"nfp": 0}),
            ("ns must be an integer from 3 to 100000, got 1000000000", {"ns": 1000000000}),
            ("ns must be an integer from 3 to 100000, got 2", {"ns": 2}),
            ("expected 9 values", {"ns": 9}),
            ("not finite", {"bmnc": broken}),
            ("the Jacobian must not vanish", {"gmnc": 0 * oscillating}),
            ("one sign on the surface", {"gmnc": oscillating}),
            ("the edge flux must not be 0", {"phi": np.zeros(5)}),
            ("phi must grow evenly", {"phi": np.full(5, np.nan)}),
            ("phi contradicts gmnc and bsupvmnc", {"phi": 2 * whole["phi"]}),
            ("phi contradicts gmnc and bsupvmnc", {"gmnc": 2 * whole["gmnc"]}),
            ("phi must grow evenly", {"phi": whole["phi"] * np.array([1, 1, 1, 1, 2])}),
            ("the other sign than signgs", {"signgs": 1.0}),
            ("Aminor_p contradicts volume_p", {"volume_p": 1e3}),
            ("Aminor_p must be positive, got -1", {"Aminor_p": -1.0}),
            ("Aminor_p must be positive, got nan", {"Aminor_p": np.nan}),
            ("iotaf contradicts bsup", {"iotaf": np.zeros(5)}),
            ("contradicts bsup", {"bsupumnc": 0 * oscillating, "bsupvmnc": 0 * oscillating}),
            ("B^2 differs from B.B", {"bmnc": 2 * whole["bmnc"]}),
            ("lasym", {"lasym__logical__": 1}),
            ("is there twice", {"xn_nyq": np.abs(whole["xn_nyq"])}),
            ("xn_nyq/nfp must be an integer", {"xn_nyq": whole["xn_nyq"] / 3}),
            ("xm_nyq must be an integer from -1000 to 1000, got", {"xm_nyq": whole["xm_nyq"] * 1e9}),
            ("expected a matrix", {"bmnc": whole["bmnc"][:, :-1]}),
            ("expected a matrix", {"bmnc": whole["bmnc"][0]}),
            ("differ in length", {"xn_nyq": whole["xn_nyq"][:-1]}),
        ):
            self.bad_file("vmec", says, dict(whole), **changes)
        self.bad_file("booz", "missing variable 'nfp_b'", dict(whole))

    def test_bad_boozmns(self):
        whole = equilibria.boozmn()
        for name in set(whole) - {"phi_b"}:
            self.bad_file("booz", f"missing variable '{name}'", dict(whole), **{name: None})
        broken = whole["bmnc_b"].copy()
        broken[1, 0] = np.nan
        for says, changes in (
            ("nfp_b must be an integer from 1 to 1000, got -2", {"nfp_b": -2}),
            ("not finite", {"bmnc_b": broken}),
            ("not in jlist", {"jlist": whole["jlist"] + 100}),
            ("jlist must ascend", {"jlist": whole["jlist"][::-1]}),
            ("jlist differ in length", {"jlist": whole["jlist"][:-1]}),
            ("must not be 0", {"buco_b": np.zeros(5), "bvco_b": np.zeros(5)}),
            ("no flux (phi_b)", {"phi_b": np.zeros(5)}),
            ("ixm_b must be an integer from -1000 to 1000", {"ixm_b": whole["ixm_b"] * 100000000}),
        ):
            self.bad_file("booz", says, dict(whole), **changes)
        self.bad_file("vmec", "missing variable 'nfp'", dict(whole))
        # No radius anywhere; then a wout of another equilibrium.
        path = self.path("file.nc")
        self.bad_surface("minor_radius", self.surface("booz", path, "psi_n = 0.25"))
        other = equilibria.wout()
        other["nfp"], other["xn_nyq"] = 4, 2 * other["xn_nyq"]
        equilibria.write(self.path("other.nc"), other)
        equilibria.write(path, whole)
        surface = self.surface("booz", path, 'psi_n = 0.25\nwout = "other.nc"')
        self.bad_surface("not of the same equilibrium", surface)

    def test_files_that_were_cut_short(self):
        path, cut = self.path("whole.nc"), self.path("cut.nc")
        for kind, variables in (("vmec", equilibria.wout()), ("booz", equilibria.boozmn())):
            equilibria.write(path, variables)
            content = self.read("whole.nc")
            surface = self.surface(kind, cut, "psi_n = 0.25\nminor_radius = 0.4")
            for part in (0, 0.01, 0.02, 0.1, 0.5, 0.82, 0.84, 0.88, 0.92, 0.99, 1):
                self.write("cut.nc", content[: min(len(content) - 1, int(part * len(content)))])
                self.bad_surface("NetCDF" if part == 0 else "cut short", surface)
            self.write("cut.nc", b"CDF\x01" + b"\xff" * 200)
            self.bad_surface("cut.nc", surface)

    # The database.

    AXES = ("--rho", "0.5,0.75", "--nu", "1e-2,1", "--er", "0,1e-3", "--grid", "5x5x4")

    def database(self, *files, before=()):
        out = self.path("d.npz")
        result = subprocess.run(
            [*before, ASSAY, "transport", "database", *files, *self.AXES, "--output", out],
            capture_output=True, text=True,
            env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"),
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        arrays = np.load(out)
        return {name: arrays[name] for name in arrays}, result.stderr

    def test_nothing_that_is_read_is_overwritten(self):
        whole = self.path("wout_x.nc")
        equilibria.write(whole, equilibria.wout())
        before = open(whole, "rb").read()
        other = os.path.join(os.path.dirname(whole), ".", "wout_x.nc")
        one = ("--surface", whole, "--psi-n", "0.25", "--nu", "1", "--grid", "5x5x4")
        self.refused("would overwrite", "solve", *one, "--output", other)
        self.refused("would overwrite", "database", "--wout", whole, "--output", other)
        self.assertEqual(open(whole, "rb").read(), before)

        # The wout beside a Boozer file is read as well, where flux or radius are missing.
        booz = self.path("boozmn_x.nc")
        equilibria.write(booz, equilibria.boozmn())
        one = ("--surface", booz, "--psi-n", "0.25", "--nu", "1", "--grid", "5x5x4")
        self.refused("would overwrite", "solve", *one, "--output", whole)
        # Nor is an output removed as the journal that it was asked to be.
        scan = self.source('type = "sample_dkes"', nu="[1e-2, 1]")
        output = self.path("one.npz")
        self.refused("one file", "scan", scan, "--output", output, "--journal", output)

    def test_near_the_axis_is_said(self):
        path = self.path("wout_x.nc")
        equilibria.write(path, equilibria.wout())
        for psi_n, said in ((0.1, True), (0.5, False)):
            surface = self.surface("vmec", path, f"psi_n = {psi_n}")
            warnings = json.loads(self.run_ok("transport", self.source(surface), "--json").stdout)["warnings"]
            self.assertEqual(any("surfaces from the axis" in w for w in warnings), said, warnings)

    def test_a_file_that_the_library_dies_of_is_refused(self):
        data = os.environ.get("ASSAY_SHARED_DATA", os.path.join(ROOT, "../shared/data"))
        genuine = os.path.join(data, "transport/real/boozmn_HSX_QHS_vacuum_ns201.nc")
        if not os.path.exists(genuine):
            self.skipTest(f"not here: {genuine}")
        content = bytearray(open(genuine, "rb").read())
        content[9771] ^= 1 << 6
        path = self.path("boozmn.nc")
        open(path, "wb").write(content)
        self.refused("cannot read as NetCDF", "solve", "--surface", path, "--psi-n", "0.25", "--nu", "1")

    def test_empty_values_are_not_taken_for_defaults(self):
        one = ("solve", "--surface", "sample_dkes", "--nu")
        self.refused("--grid", *one, "1", "--grid", "")
        self.refused("--nu", *one, "1,,2")
        self.refused("--accuracy", "scan", "sample_dkes", "--accuracy", "")
        self.refused("0.5 is there twice", "database", "--wout", "x.nc", "--rho", "0.5,0.5", "--output", self.path("o.h5"))
        self.bad_surface(
            "the mode (-1, -1) is there twice",
            'type = "modes"\nnfp = 2\niota = 0.4\npsi_prime = 1\nb_theta = 0\nb_zeta = 1\n'
            "b = [[0, 0, 2], [1, 1, 0.1], [-1, -1, 0.1]]",
        )

    def test_database_by_both_routes_and_over_ranks(self):
        vmec, booz = self.path("wout.nc"), self.path("booz.nc")
        for flux in (1, -1):
            equilibria.write(vmec, equilibria.wout(flux))
            equilibria.write(booz, {k: v for k, v in equilibria.boozmn(flux).items() if k != "phi_b"})
            by_vmec, _ = self.database("--wout", vmec)
            by_booz, _ = self.database("--wout", vmec, "--booz", booz)
            for name in ("D11", "D13", "D31", "D33", "Er", "Es", "drds", "B00", "R00", "iota", "I", "G", "psia", "a_b"):
                np.testing.assert_allclose(by_booz[name], by_vmec[name], rtol=1e-7, err_msg=name)
            self.assertEqual(by_vmec["D11"].shape, (2, 2, 2))
            self.assertGreater(by_vmec["psia"], 0)
            self.assertTrue((by_vmec["R00"] == 1.7).all())
            self.assertTrue({"Fac_SFINCS_TO_DKES_11", "Fac_DKES_TO_D33star", "format_version"} <= set(by_vmec))
        shared, said = self.database("--wout", vmec, before=("mpirun", "-n", "2", "--oversubscribe"))
        for name in ("D11", "D13", "D31", "D33"):
            np.testing.assert_array_equal(shared[name], by_vmec[name])
        self.assertIn("2 ranks", said)
        self.assertEqual(said.count("rho 0.5:"), 1, said)  # once, not once by each rank
        self.assertIn("4 cases solved", said)

    def test_a_genuine_pair(self):
        data = os.environ.get("ASSAY_SHARED_DATA", os.path.join(ROOT, "../shared/data"))
        folder = os.path.join(data, "transport/real")
        if not os.path.isdir(folder):
            self.skipTest(f"no folder {folder}: set ASSAY_SHARED_DATA to the folder that holds transport/real")
        found = {}
        for kind, name in (("vmec", "wout"), ("booz", "boozmn")):
            path = os.path.join(folder, f"{name}_HSX_QHS_vacuum_ns201.nc")
            surface = self.surface(kind, path, "psi_n = 0.25\nminor_radius = 0.12022675")
            text = INPUT.format(surface=surface, n_xi=60, nu=1e-2, er=0).replace(" = 5", " = 25")
            source = self.write("in.toml", text)
            found[kind] = json.loads(self.run_ok("transport", source, "--json").stdout)["coefficients"]
            self.assertAlmostEqual(found[kind]["D31"], -0.020837, delta=0.00021)
            inspected = json.loads(self.run_ok("transport", "inspect", source, "--json").stdout)
            self.assertAlmostEqual(inspected["iota"], 1.05314, delta=1e-5)
        self.assert_same(found["booz"], found["vmec"], 0.01)
        for name, kind in (("w7x_eim.magnetic_configuration.dat", "text"), ("ciemat_qi_s0250.ddkes2.data", "dkes")):
            self.solved(self.surface(kind, os.path.join(folder, name)))


if __name__ == "__main__":
    main()
