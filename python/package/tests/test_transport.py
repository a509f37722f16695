# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay.transport: laws that the coefficients keep, arrays and files."""

import os
import resource

import assay
import numpy
import pytest
from arrays import needs
from assay import transport


@pytest.fixture(scope="module")
def prepared():
    return transport.prepare("example", (13, 17, 24))


def test_onsager_symmetry_and_signs(prepared):
    found = transport.scan(prepared, [1e-1, 1.0], [0.0, 1e-3])
    assert found.d11.shape == (2, 2) and len(set(numpy.sign(found.d11).flat)) == 1
    numpy.testing.assert_allclose(found.d13, -found.d31, rtol=1e-3)
    assert (found.d33 > 0).all() and (found.d33 <= found.d33_spitzer).all()
    assert found.method[0] == "parity" and len(found.warnings) == 4


def test_one_case_and_a_scan_agree(prepared):
    found = transport.scan(prepared, [1e-1, 1.0], [0.0, 1e-3])
    one = transport.solve(prepared, 1.0, 1e-3)
    assert (one.d11, one.d31, one.d33) == (found.d11[1, 1], found.d31[1, 1], found.d33[1, 1])
    er = transport.solve(prepared, 1.0, er_hat=1e-3 * prepared.surface.psi_prime)
    assert er.d11 == pytest.approx(one.d11, rel=1e-12)


def test_methods_agree(prepared):
    dense, structured = (transport.solve(prepared, 0.1, 1e-3, method=method) for method in ("dense", "structured"))
    assert dense.d11 == pytest.approx(structured.d11, rel=1e-9) and dense.method == "dense"


def test_derivatives_are_those_of_finite_differences(prepared):
    found, step = transport.derivatives(prepared, 0.3, 1e-3), 1e-5
    up, down = (transport.solve(prepared, 0.3 * (1 + sign * step), 1e-3) for sign in (1, -1))
    for name, value in found.by_nu_hat.items():
        difference = (getattr(up, name) - getattr(down, name)) / (0.6 * step)
        assert value == pytest.approx(difference, rel=1e-5), name


def test_a_spelled_surface_is_the_built_in_one():
    builtin = transport.surface("tokamak")
    spelled = transport.surface(modes=[(0, 0, 1.0), (1, 0, -0.1)], iota=0.5, b_zeta=5.0, nfp=1)
    b = transport.prepare(spelled, (11, 3, 8)).b
    theta = 2 * numpy.pi * numpy.arange(11) / 11
    numpy.testing.assert_allclose(b, numpy.broadcast_to(1 - 0.1 * numpy.cos(theta), (3, 11)), rtol=1e-14)
    assert builtin.modes.shape[1] == 4


def test_a_scan_goes_on_where_it_ended(prepared, tmp_path):
    journal = tmp_path / "scan.journal"
    first = transport.scan(prepared, [0.5, 1.0], journal=journal)
    numpy.testing.assert_array_equal(transport.scan(prepared, [0.5, 1.0], journal=journal).d11, first.d11)
    with pytest.raises(assay.UserError, match="scan.journal"):
        transport.scan(prepared, [0.5, 2.0], journal=journal)


def test_a_disk_that_refuses_is_a_disk_error(prepared, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
    try:
        with pytest.raises(assay.DiskError, match="File too large"):
            transport.scan(prepared, [0.5, 1.0], journal=tmp_path / "scan.journal")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_errors_are_the_engines(prepared, tmp_path):
    for call, message in ((lambda: transport.surface("w8x"), "w8x"), (lambda: transport.surface(), "not 0 of them"),
                          (lambda: transport.solve(prepared, -1.0), "-1"),
                          (lambda: transport.solve(prepared, 1.0, method="quick"), "quick"),
                          (lambda: transport.solve(prepared, 1.0, 1e-3, er_hat=1e-3), "not both"),
                          (lambda: transport.prepare("example", (1, 2, 3)), "n_theta"),
                          (lambda: transport.surface(dkes=tmp_path / "none.dkes"), "none.dkes"),
                          (lambda: transport.surface(modes=[(0, 0)]), "not 2 numbers")):
        with pytest.raises(assay.UserError, match=message):
            call()


def test_one_case_takes_one_number_of_each(prepared):
    for call, name in ((lambda: transport.solve(prepared, 0.1, [0, 0.1]), "epsi_hat"), (lambda: transport.solve(prepared, [0.1]), "nu_hat"),
                       (lambda: transport.solve(prepared, 0.1, er_hat=numpy.array([0, 0.1])), "er_hat"),
                       (lambda: transport.derivatives(prepared, (0.1, 0.2)), "nu_hat")):
        with pytest.raises(TypeError, match=f": {name}: a number.*, not of type (list|tuple|ndarray): "):
            call()
    one = transport.scan(prepared, 0.1, er_hat=[1e-3])
    assert transport.solve(prepared, numpy.float64(0.1), er_hat=numpy.array(1e-3)).d11 == one.d11[0, 0]


@pytest.mark.filterwarnings("error")
def test_imaginary_parts_are_not_lost(prepared):
    for value in (0.1 + 1j, numpy.complex128(0.1), numpy.complex64(1j), numpy.array(0.1j)):
        for call, name in ((lambda z: transport.solve(prepared, z), "nu_hat"), (lambda z: transport.solve(prepared, 0.1, er_hat=z), "er_hat"),
                           (lambda z: transport.scan(prepared, [0.1, z]), "nu_hat"), (lambda z: transport.scan(prepared, 0.1, z), "epsi_hat"),
                           (lambda z: transport.scan(prepared, 0.1, er_hat=[z]), "er_hat"),
                           (lambda z: transport.surface(modes=[(0, 0, 1.0), (1, 0, z)], iota=0.5, b_zeta=5.0), r"modes\[1\]"),
                           (lambda z: transport.surface(modes=[(0, 0, 1.0)], iota=z, b_zeta=5.0), "iota"),
                           (lambda z: transport.database("wout.nc", rho=0.5, nu_v=z), "nu_v")):
            with pytest.raises(TypeError, match=f": {name}: a number"):
                call(value)


def test_modes_that_are_none_or_there_twice_are_refused():
    for more, message in (((1.5, 0, 0.1), r"mode numbers are whole, from -1000 to 1000, not \(1.5, 0\)"),
                          ((0, 1001, 0.1), r"not \(0, 1001\)"), ((float("nan"), 0, 0.1), "not .nan, 0"), ((0, 0, 0.1), r"the mode \(0, 0\) is there twice"),
                          ((-1, 2, 0.1), r"the mode \(-1, 2\) is there twice"), ((1, -2, 0.1), r"the mode \(1, -2\) is there twice")):
        with pytest.raises(assay.UserError, match=f"surface: modes: .*{message}"):
            transport.surface(modes=[(0, 0, 1.0), (1, -2, -0.1), more], iota=0.5, b_zeta=5.0)
    assert transport.surface(modes=[(0, 0, 1.0), (1, 2, 0.1), (1, -2, 0.1)], iota=0.5, b_zeta=5.0).modes.shape == (3, 4)


def test_sizes_of_grids_are_refused_by_name(prepared):
    for sizes, message in (((2, 9, 8), "n_theta must be at least 3, got 2"), ((9, 0, 8), "n_zeta must be at least 3, got 0"),
                           ((9, 9, -2**70), "n_xi"), ((9, 9, 10**12), "n_xi must be at most"), ((9, 9, 10001), "n_xi must be at most 10000, got 10001"),
                           ((9, 9), r"n_theta, n_zeta and n_xi, not \(9, 9\)"), (9, "n_theta, n_zeta and n_xi, not 9")):
        with pytest.raises(assay.UserError, match=message):
            transport.prepare("example", sizes)
    for sizes, name in (((9.0, 9, 8), "n_theta .*float: 9.0"), ((9, "9", 8), "n_zeta .*str: '9'"), ((9, 9, None), "n_xi .*NoneType")):
        with pytest.raises(TypeError, match=f"grid: {name}"):
            transport.prepare("example", sizes)
    assert transport.Grid(numpy.int64(9), 9, 8) == transport.Grid(9, 9, 8)


def test_even_grids_warn_or_are_refused():
    for sizes, name in (((12, 9, 8), "n_theta must be odd, .*got 12"), ((9, 12, 8), "n_zeta must be odd, .*got 12")):
        even = transport.prepare("example", sizes)
        assert any("use odd numbers" in warning for warning in transport.solve(even, 0.1, 1e-3).warnings)
        with pytest.raises(assay.UserError, match=f"derivatives: {name}"):
            transport.derivatives(even, 0.1, 1e-3)


PATHS = {
    "surface: dkes": lambda path: transport.surface(dkes=path),
    "surface: text": lambda path: transport.surface(text=path),
    "surface: wout": lambda path: transport.surface(wout=path, psi_n=0.5),
    "surface: boozer": lambda path: transport.surface(boozer=path, psi_n=0.5),
    "scan: journal": lambda path: transport.scan(transport.prepare("example", (9, 9, 8)), 0.1, journal=path),
    "database: wout": lambda path: transport.database(path, rho=0.5, nu_v=0.1),
    "database: boozer": lambda path: transport.database("wout.nc", boozer=path, rho=0.5, nu_v=0.1),
    "database: journal": lambda path: transport.database("wout.nc", journal=path, rho=0.5, nu_v=0.1),
    "profiles: plasma": transport.profiles,
    "profiles: database": lambda path: transport.profiles({}, database=path),
    "topology: path": assay.chip.topology,
    "load_pt2: path": assay.load_pt2,
}


@pytest.mark.parametrize("name", PATHS)
def test_paths_that_are_none_are_refused_by_name(name, tmp_path):
    for value, error in ((b"path", TypeError), (5, TypeError), (str(tmp_path / "a\0b"), assay.UserError),
                         (tmp_path / "a\0b", assay.UserError), (os.fsdecode(b"caf\xe9"), assay.UserError)):
        with pytest.raises(error, match=f"^{name}: "):
            PATHS[name](value)
    with pytest.raises(assay.UserError, match=f"^{name}: nothing was given"):
        PATHS[name]("")
    with pytest.raises(assay.UserError, match="File name too long|no such file|/aaa|at least one .*species"):
        PATHS[name](str(tmp_path / ("a" * 5000)))
    assert not list(tmp_path.iterdir())


def test_bytes_of_a_file_that_are_no_text_are_shown(tmp_path):
    (tmp_path / "latin.dkes").write_bytes(b"&datain\n caf\xe9 = 1\n/\n")
    (tmp_path / "latin.toml").write_bytes(b'[[species]]\nname = "caf\xe9"\n')
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    (tmp_path / "chip.toml").write_bytes(b'name = "caf\xe9"\n')
    for call, name in ((lambda path: transport.surface(dkes=path), "latin.dkes"), (transport.profiles, "latin.toml:2"),
                       (lambda path: transport.surface(text=path), "latin.txt"), (assay.chip.topology, "chip.toml:1")):
        with pytest.raises(assay.UserError, match=name):
            call(tmp_path / name.partition(":")[0])


@needs("xarray")
def test_xarray(prepared):
    found = transport.scan(prepared, [0.5, 1.0], [0.0, 1e-3])
    data = found.to_xarray()
    assert data.d11.dims == ("nu_hat", "epsi_hat") and data.d33.attrs["units"] == "m"
    assert float(data.d11.sel(nu_hat=1.0, epsi_hat=1e-3)) == found.d11[1, 1]


@needs("matplotlib")
def test_plots_show_the_numbers(prepared):
    import matplotlib

    matplotlib.use("agg")
    found = transport.scan(prepared, [0.5, 1.0], [0.0, 1e-3])
    axes = found.plot("d33")
    numpy.testing.assert_array_equal(axes.lines[1].get_ydata(), found.d33[:, 1])
    assert axes.get_ylabel() == "|D33| [m]"
    shown = prepared.plot()
    assert shown.get_title() == prepared.surface.name and shown.get_ylim() == pytest.approx((0, 2 * numpy.pi))
    with pytest.raises(assay.UserError, match="'d99'"):
        found.plot("d99")
