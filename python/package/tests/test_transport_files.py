# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Equilibria from files, databases over them, profiles: assay.transport."""

import tempfile
from concurrent.futures import ThreadPoolExecutor

import assay
import equilibrium_files
import numpy
import pytest
from arrays import needs
from assay import _toml, transport

GRID, RHO = (15, 3, 24), 0.5
SLOPE = 2 * equilibrium_files.EDGE_FLUX * RHO / equilibrium_files.MINOR_RADIUS  # dψ/dr


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("equilibrium")
    return equilibrium_files.wout(folder / "wout_t.nc"), equilibrium_files.boozmn(folder / "boozmn_t.nc")


@pytest.fixture(scope="module")
def made(files):
    return transport.database(files[0], rho=[0.4, RHO], nu_v=[1e-2, 1e-1], er_tilde=[0.0, 1e-3], grid=GRID)


def coefficients(surface, nu_hat=1e-1, epsi_hat=0.0):
    solution = transport.solve(transport.prepare(surface, GRID), nu_hat, epsi_hat)
    return numpy.array([solution.d11, solution.d31, solution.d13, solution.d33])


def test_three_routes_to_one_surface_agree(files):
    wout, boozmn = files
    vmec = transport.surface(wout=wout, psi_n=RHO**2)
    booz = transport.surface(boozer=boozmn, psi_n=RHO**2)
    spelled = transport.surface(modes=[(m, 0, b) for m, b in equilibrium_files.MODULUS.items()], iota=equilibrium_files.IOTA,
                                psi_prime=SLOPE, b_theta=equilibrium_files.I, b_zeta=equilibrium_files.G)
    assert (vmec.angles, booz.angles, spelled.angles) == ("vmec", "boozer", "boozer")
    assert vmec.psi_n == booz.psi_n == RHO**2 and spelled.psi_n == 0
    assert vmec.psi_prime == pytest.approx(SLOPE, rel=1e-12) == booz.psi_prime
    assert (vmec.minor_radius, vmec.psi_edge) == pytest.approx((equilibrium_files.MINOR_RADIUS, equilibrium_files.EDGE_FLUX))
    expected = coefficients(spelled)
    numpy.testing.assert_allclose(coefficients(booz), expected, rtol=1e-9)
    numpy.testing.assert_allclose(coefficients(vmec), expected, rtol=1e-6)
    field = transport.prepare(vmec, GRID).b[0]
    angle = 2 * numpy.pi * numpy.arange(GRID[0]) / GRID[0]
    numpy.testing.assert_allclose(field, sum(b * numpy.cos(m * angle) for m, b in equilibrium_files.MODULUS.items()), rtol=1e-12)


def test_what_stands_in_place_of_the_files(files):
    wide = transport.surface(wout=files[0], psi_n=0.25, minor_radius=1.0)
    assert wide.psi_prime == pytest.approx(SLOPE / 2) and wide.minor_radius == 1.0
    assert transport.surface(boozer=files[1], psi_n=0.25, psi_prime=3.0).psi_prime == 3.0
    few = transport.surface(boozer=files[1], wout=files[0], psi_n=0.25, min_bmn=0.05)
    assert few.modes[:, 0].tolist() == [0, 1]


def test_a_database_holds_what_surfaces_give(files, made):
    assert made.d11.shape == (2, 2, 2) and made.rho.tolist() == [0.4, RHO]
    # Coefficients of s = ρ²: times (dr/ds)² in r, where r = aρ with a of the volume, which this file does not have.
    drds = made.data["drds"][1]
    assert drds == pytest.approx(equilibrium_files.MINOR_RADIUS / (2 * RHO))
    epsi = made.data["Es"][1] / equilibrium_files.EDGE_FLUX
    surface = transport.surface(wout=files[0], psi_n=RHO**2)
    for column in (0, 1):
        d11, d31, d13, d33 = coefficients(surface, 1e-1, epsi[column])
        found = made.d11[1, 1, column] * drds**2, made.d31[1, 1, column] * drds, made.d13[1, 1, column] * drds
        assert found == pytest.approx((d11, d31, d13), rel=1e-9) and made.d33[1, 1, column] == pytest.approx(d33, rel=1e-9)
    of_boozer = transport.database(files[0], boozer=files[1], rho=RHO, nu_v=1e-1, grid=GRID)
    assert of_boozer.d11.ravel()[0] == pytest.approx(made.d11[1, 1, 0], rel=1e-6)
    assert made.units["D11"] == "m/T^2" and made.attributes["source_name"] == "wout_t.nc"


def test_accuracy_chooses_grids(files, made):
    chosen = transport.database(files[0], rho=RHO, nu_v=1e-1, accuracy=0.01)
    assert chosen.d33.ravel()[0] == pytest.approx(made.d33[1, 1, 0], rel=0.02) and "solves" in chosen.data


def test_databases_are_saved_and_go_on_where_they_ended(files, made, tmp_path):
    for name in ("d.nc", "d.h5", "d.npz"):
        made.save(tmp_path / name)
    with numpy.load(tmp_path / "d.npz") as saved:
        numpy.testing.assert_array_equal(saved["D11"], made.d11)
    with pytest.raises(assay.UserError, match="d.txt"):
        made.save(tmp_path / "d.txt")
    one = {"rho": RHO, "nu_v": [1e-1, 1.0], "grid": GRID, "journal": tmp_path / "kept"}
    first = transport.database(files[0], **one)
    assert (tmp_path / "kept.0").exists()
    numpy.testing.assert_array_equal(transport.database(files[0], **one).d11, first.d11)


PLASMA = {"species": [{"name": "e", "density": {"polynomial": [4e19, 0, -3e19]}, "temperature": {"polynomial": [1000, -600]}},
                      {"name": "H", "temperature": {"rho": [0, 0.5, 1], "value": [900, 600, 100]}}]}


@pytest.fixture(scope="module")
def table(files):
    return transport.database(files[0], rho=[0.4, 0.6], nu_v=numpy.logspace(-4, 1, 8), er_tilde=[0.0, 1e-4, 1e-3], grid=(15, 3, 40))


def test_profiles_over_a_database(files, table, tmp_path):
    plasma = {**PLASMA, "field": {"er": -1000}}
    found = transport.profiles(plasma, database=table)
    assert found.species == ["e", "H"] and found.rho.tolist() == [0.4, 0.6] and found.particle_flux.shape == (2, 2)
    assert found.er.tolist() == [-1000, -1000] and not numpy.isnan(found.bootstrap).any()
    # A symmetric field is ambipolar whatever E_r is: to what the grid resolves, and the square of a Mach number.
    numpy.testing.assert_allclose(found.particle_flux[:, 0], found.particle_flux[:, 1], rtol=0.05)
    assert (numpy.abs(found.bootstrap) > 1e4).all() and (found.heat_flux > 0).all()
    sought = transport.profiles(PLASMA, database=table)
    assert numpy.isnan(sought.er).all() and "rho 0.4: no stable root" in sought.warnings[0]
    table.save(tmp_path / "database.nc")
    lines = "\n".join(f"{key} = {_toml.toml_value(value, key)}" for key, value in plasma.items())
    (tmp_path / "plasma.toml").write_text(lines)
    of_files = transport.profiles(tmp_path / "plasma.toml", database=tmp_path / "database.nc")
    numpy.testing.assert_array_equal(of_files.heat_flux, found.heat_flux)
    inner = transport.profiles({**plasma, "plasma": {"rho": [0.4]}}, database=table)
    numpy.testing.assert_array_equal(inner.bootstrap, found.bootstrap[:1])


def test_errors_are_the_engines(files, made, tmp_path):
    wout, boozmn = files
    cut = tmp_path / "wout_cut.nc"
    cut.write_bytes(wout.read_bytes()[:-100])
    one = {"rho": RHO, "nu_v": 1.0, "grid": GRID}
    for call, message in ((lambda: transport.surface(wout=wout), "wout needs psi_n"),
                          (lambda: transport.surface("tokamak", psi_n=0.5), "psi_n belongs to wout and boozer"),
                          (lambda: transport.surface("tokamak", iota=0.5), "iota belongs to modes"),
                          (lambda: transport.surface("tokamak", psi_prime=0.5), "psi_prime belongs to"),
                          (lambda: transport.surface(wout=wout, dkes="d"), "not 2 of them"),
                          (lambda: transport.surface(wout=wout, psi_n=1.5), "psi_n: above 0 and at most 1, not 1.5"),
                          (lambda: transport.surface(wout=wout, psi_n=0.5, min_bmn=1.5), "min_bmn"),
                          (lambda: transport.surface(wout=cut, psi_n=0.5), "wout_cut.nc"),
                          (lambda: transport.surface(boozer=wout, psi_n=0.5), "wout_t.nc"),
                          (lambda: transport.surface(wout=tmp_path / "none.nc", psi_n=0.5), "none.nc"),
                          (lambda: transport.database(wout, **{**one, "rho": 2.0}), "rho must be above 0 and at most 1"),
                          (lambda: transport.database(wout, **{**one, "grid": (3, 3)}), "grid: n_theta, n_zeta and n_xi, not (3, 3)"),
                          (lambda: transport.database(wout, **{**one, "nu_v": -1.0}), "nu must be above 0"),
                          (lambda: transport.database(wout, **one, accuracy=2.0), "accuracy"),
                          (lambda: transport.database(wout, **one, method="quick"), "quick"),
                          (lambda: transport.profiles(PLASMA), "neither was given"),
                          (lambda: transport.profiles({**PLASMA, "colour": 1}, database=made), "colour"),
                          (lambda: transport.profiles(tmp_path / "none.toml", database=made), "none.toml"),
                          (lambda: transport.profiles(PLASMA, database=tmp_path / "none.h5"), "none.h5")):
        with pytest.raises(assay.UserError) as caught:
            call()
        assert message in str(caught.value), str(caught.value)


def test_errors_of_a_plasma_name_its_keys(table, tmp_path):
    species = PLASMA["species"]
    for change, message in (({"species": [{**species[0], "density": None}, species[1]]}, r"plasma: species\[0\].density: .*None"),
                            ({"species": [{**species[0], "density": b"1e19"}]}, r"plasma: species\[0\].density: .*bytes"),
                            ({"field": {"er": {"rho": [0.1, object()]}}}, r"plasma: field.er.rho\[1\]: .*object"),
                            ({"field": {"points": 2**64}}, "plasma:.*field.points: expected an integer, got a number"),
                            ({"field": {"points": 10**400}}, "plasma: field.points: whole numbers of TOML are from"),
                            ({"species": [*species, species[1]]}, "plasma:.*name: 'H' is there twice"),
                            ({"field": {3: 4}}, "plasma: field: keys are texts, not of type int: 3"), ({5: 6}, "plasma: keys.*5"),
                            ({"field": {"er": float("nan")}}, "plasma:.*er: expected a finite number, got nan"),
                            ({"field": {"a\"b.c": 1}}, 'plasma:.*a"b.c'),
                            ({"field": {"root": "io\x7fn"}}, r"plasma:.*root: .*'io\\x7fn'")):
        with pytest.raises(assay.UserError, match=message):
            transport.profiles({**PLASMA, **change}, database=table)
    with pytest.raises(assay.UserError, match="none.toml"):
        transport.profiles(tmp_path / "none.toml")
    (tmp_path / "plasma.toml").write_text("[field]\npoints = 2\n[[species]]\nname = 'e'\ndensity = 1.0\ntemperature = 1.0\n")
    with pytest.raises(assay.UserError, match=r"plasma.toml:2: field.points: expected an integer from 3 .*got 2"):
        transport.profiles(tmp_path / "plasma.toml", database=table)


def test_numbers_of_numpy_are_numbers_of_a_plasma(table):
    electrons, ions = PLASMA["species"]
    plasma = {"species": [{**electrons, "temperature": {"polynomial": numpy.array([1000, -600])}}, ions],
              "field": {"er": numpy.float32(0), "points": numpy.int64(161)}}
    found = transport.profiles(plasma, database=table)
    expected = transport.profiles({**PLASMA, "field": {"er": 0, "points": 161}}, database=table)
    numpy.testing.assert_array_equal(found.heat_flux, expected.heat_flux)


def test_large_whole_numbers_are_numbers_of_a_plasma(table):
    electrons, ions = PLASMA["species"]
    expected = transport.profiles({"species": [{**electrons, "density": 3e19}, ions], "field": {"er": 0.0}}, database=table)
    found = transport.profiles({"species": [{**electrons, "density": 3 * 10**19}, ions], "field": {"er": 0}}, database=table)
    numpy.testing.assert_array_equal(found.heat_flux, expected.heat_flux)


def test_a_database_that_no_temporary_file_can_hold(made, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(assay.UserError, match="cannot write a temporary folder: No such file"):
        transport.profiles(PLASMA, database=made)


def test_eight_threads_read_files_at_once(files):
    """NetCDF's library is not made for several threads."""
    def work(thread):
        return transport.surface(wout=files[0], psi_n=0.25).psi_prime if thread % 2 else transport.surface(
            boozer=files[1], wout=files[0], psi_n=0.25).psi_prime

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(80))) == pytest.approx([SLOPE] * 80)


@needs("xarray")
def test_xarray(made, table):
    data = made.to_xarray()
    assert data.D11.dims == ("rho", "nu_v", "Er_tilde") and data.D11.attrs["units"] == "m/T^2"
    assert float(data.D11.sel(rho=0.5, nu_v=0.1, Er_tilde=0)) == made.d11[1, 1, 0]
    found = transport.profiles({**PLASMA, "field": {"er": 0}}, database=table).to_xarray()
    assert found.heat_flux.dims == ("radius", "species") and found.attrs["species"] == "e H"


@needs("matplotlib")
def test_plots_show_the_numbers(made, table):
    import matplotlib

    matplotlib.use("agg")
    axes = made.plot("D33", rho=0.41)
    numpy.testing.assert_array_equal(axes.lines[1].get_ydata(), made.d33[0, :, 1])
    found = transport.profiles({**PLASMA, "field": {"er": 0}}, database=table)
    lines = found.plot("heat_flux").lines
    numpy.testing.assert_array_equal(lines[1].get_ydata(), found.heat_flux[:, 1])
    numpy.testing.assert_array_equal(found.plot().lines[0].get_ydata(), found.er)
    for call, message in ((lambda: made.plot("D99"), "D11, D13"), (lambda: found.plot("L"), "not 'L'")):
        with pytest.raises(assay.UserError, match=message):
            call()


def test_genuine_files():
    """HSX without a plasma, at half radius, by VMEC and by booz_xform."""
    names = ("wout_HSX_QHS_vacuum_ns201.nc", "boozmn_HSX_QHS_vacuum_ns201.nc")
    wout, boozmn = map(equilibrium_files.genuine, names)
    if wout is None or boozmn is None:
        pytest.skip(f"no file transport/real/{names[0]}, or {names[1]}: set ASSAY_SHARED_DATA to the folder that holds it")
    found = []
    for surface in (transport.surface(wout=wout, psi_n=0.25), transport.surface(boozer=boozmn, wout=wout, psi_n=0.25)):
        assert surface.nfp == 4 and abs(surface.iota) == pytest.approx(1.05, abs=0.02)
        solution = transport.solve(transport.prepare(surface, (21, 21, 24)), 1.0)
        assert solution.onsager < 1e-2
        found.append((solution.d11, solution.d31, solution.d33))
    # B_00 differs by 0.3 % between their angles, D31 by as much and D33 by twice that.
    assert found[0] == pytest.approx(found[1], rel=0.02)
