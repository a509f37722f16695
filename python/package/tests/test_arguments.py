# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Every public function, each of its arguments, and whatever somebody may give for it: what is not taken is refused by a
documented exception of one line."""

import inspect

import assay
import equilibrium_files
import numpy
import pytest
from arrays import needs
from assay import chip, lab, semiring, transport
from softmax_bench import softmax, softmax64, twice
from wrong_values import WRONG

A = numpy.arange(6.0).reshape(2, 3)
NEIGHBOURS = numpy.array([[1, -1], [0, 1]], dtype=numpy.int32)
PLASMA = {
    "plasma": {"minor_radius": 1.0}, "field": {"er": 0.0}, "grid": {"n_theta": 5, "n_zeta": 3, "n_xi": 6},
    "species": [{"name": "e", "density": 1e19, "temperature": 500.0}, {"name": "H", "temperature": 500.0}],
    "surface": [{"rho": 0.5, "type": "modes", "nfp": 1, "iota": 0.5, "psi_prime": 0.5, "b_theta": 0.0, "b_zeta": 5.0,
                 "b": [[0, 0, 1.0], [1, 0, -0.1]]}], "table": {"nu_hat": [1e-3, 1e-1, 10.0], "er_hat": [0.0]}}
MODES = [(0, 0, 1.0), (1, 0, -0.1)]
CASE = {"parameters": {"n": [4]}, "inputs": {"x": {"shape": ["n"], "dtype": "f32"}}, "outputs": {"y": ["n"]}, "oracle": softmax64}


def prepared():
    return transport.prepare("example", (5, 5, 6))


def einsum(expression, operand, **options):
    return assay.einsum(expression, operand, **options)


def plan(expression, operand, **options):
    return assay.plan(expression, operand, **options)


def path(expression, operand, optimize):
    return assay.einsum_path(expression, operand, optimize=optimize)


def planned(operand, out):
    return assay.plan("ij->i", A)(operand, out=out)


def case(**keys):
    return assay.bench(**keys)(twice).case_file()


def provider(name, function):
    return described().provider(name)(function)


def described():
    return assay.bench(**CASE)(softmax64)


def run(**options):
    return softmax.run(**options)


def rows(source, **options):
    return lab.rows(source, **options)


def frame(kind):
    return lab.Comparison({"comparisons": []}).frame(kind)


def spelled(**keys):
    return transport.surface(modes=keys.pop("modes"), **keys)


def equilibrium(**keys):
    return transport.surface(wout=keys.pop("wout"), **keys)


def save(path):
    transport.profiles(PLASMA).save(path)


def plot(coefficient, axes):
    transport.scan(prepared(), 0.1).plot(coefficient, axes)


def plot_profiles(quantity, axes):
    transport.profiles(PLASMA).plot(quantity, axes)


ANY_TEXT = {"text", "long"}
EVERY_TEXT = {"text", "empty", "long", "nul", "no_utf8"}
# A function, arguments that it takes, and of each what of the above it takes as well.
CALLS = [
    (einsum, {"expression": "ij->i", "operand": A, "out": None, "dtype": None, "memory": None, "backend": None, "optimize": True},
     {"operand": {"matrix"}, "dtype": {"numpy_complex"}, "optimize": EVERY_TEXT}),
    (plan, {"expression": "ij->i", "operand": (2, 3), "dtype": None, "memory": None, "backend": None, "objective": None},
     {"operand": {"matrix"}, "dtype": {"numpy_complex"}}),
    (planned, {"operand": A, "out": None}, {}),
    (path, {"expression": "ij->i", "operand": A, "optimize": True}, {"operand": {"matrix"}, "optimize": EVERY_TEXT}),
    (assay.tensordot, {"a": A, "b": A.T, "axes": 1}, {}),
    (assay.transpose, {"a": A, "axes": (1, 0)}, {"a": {"matrix"}}),
    (assay.set_threads, {"threads": 2}, {}),
    (assay.cp, {"x": A, "rank": 1, "sweeps": 2, "change": 1e-9, "init": "svd", "restarts": 0, "nonnegative": False, "seed": 0},
     {"x": {"matrix"}, "change": {"real", "below", "wide"}, "nonnegative": {"flag"}}),
    (assay.tucker, {"x": A, "ranks": (1, 1), "tolerance": None, "method": "hooi", "seed": 0}, {"x": {"matrix"}, "ranks": {"array"}, "tolerance": {"real", "wide"}}),
    (assay.tt, {"x": A, "ranks": (1,), "tolerance": None}, {"x": {"matrix"}, "tolerance": {"real", "wide"}}),
    (assay.mp2_energy, {"b": numpy.full((1, 1, 1), 0.1), "occupied": [-0.5], "virtual": [0.5], "frozen_occupied": 0, "frozen_virtual": 0}, {}),
    (assay.load_pt2, {"path": "none.pt2"}, {}),
    (semiring.matmul, {"a": A, "b": A.T, "algebra": "log", "out": None, "backend": "simd"}, {}),
    (semiring.ell_aggregate, {"values": numpy.ones((2, 2)), "indices": NEIGHBOURS, "x": A, "w": None, "algebra": "real",
                              "reduce": "sum", "backend": "simd"}, {"x": {"matrix"}}),
    (transport.Grid, {"n_theta": 5, "n_zeta": 5, "n_xi": 6}, {}),
    (transport.prepare, {"of": "example", "grid": (5, 5, 6), "adjoint_consistent": False}, {"adjoint_consistent": {"flag"}}),
    (transport.scan, {"on": prepared(), "nu_hat": 0.1, "epsi_hat": 0.0, "er_hat": None, "method": "auto", "journal": None},
     {"nu_hat": {"real", "wide", "array"}, "epsi_hat": {"real", "below", "array"}, "er_hat": {"real", "below", "array"}, "journal": {"text"}}),
    (transport.solve, {"on": prepared(), "nu_hat": 0.1, "epsi_hat": 0.0, "er_hat": None, "method": "auto"},
     {"nu_hat": {"real", "wide"}, "epsi_hat": {"real", "below"}, "er_hat": {"real", "below"}}),
    (transport.derivatives, {"on": prepared(), "nu_hat": 0.1, "epsi_hat": 0.0}, {"nu_hat": {"real", "wide"}, "epsi_hat": {"real", "below"}}),
    (transport.surface, {"name": "example"}, {}),
    (spelled, {"modes": MODES, "name": "mine", "nfp": 1, "iota": 0.5, "psi_prime": 1.0, "b_theta": 0.0, "b_zeta": 5.0, "b0": None},
     {"name": {"none", "text", "empty", "long"}, "iota": {"real", "below", "wide"}, "psi_prime": {"none", "real", "below", "wide"},
      "b_theta": {"real", "below", "wide"}, "b_zeta": {"real", "below", "wide"}, "b0": {"real", "below", "wide"}}),
    (equilibrium, {"wout": None, "psi_n": 0.25, "minor_radius": None, "min_bmn": 0.0, "psi_prime": None},
     {"minor_radius": {"real", "wide"}, "psi_prime": {"real", "below", "wide"}}),
    (transport.surface, {"dkes": "none.dkes"}, {}), (transport.surface, {"text": "none.txt"}, {}),
    (transport.database, {"wout": None, "boozer": None, "rho": 0.5, "nu_v": 0.1, "er_tilde": 0.0, "grid": (5, 3, 6), "accuracy": None,
                          "min_bmn": 0.0, "method": "auto", "journal": None},
     {"nu_v": {"real", "wide", "array"}, "er_tilde": {"real", "below", "array"}, "journal": {"text"}}),
    (transport.profiles, {"plasma": PLASMA, "database": None, "method": "auto"}, {}),
    (save, {"path": "profiles.npz"}, {}),
    (chip.topology, {"path": None}, {}), (chip.topology, {"text": chip.default_topology_text()}, {"text": {"none"}}),
    (chip.simulate, {"m": 64, "k": 64, "n": 64, "on": None, "variant": "load_ref", "order": "mnk", "multicast": 1}, {}),
    (chip.collective, {"kind": "all_reduce", "size": 4096, "network": "ring", "ranks": 4, "algorithm": "ring", "splits": 1, "on": None}, {}),
    (case, CASE, {"parameters": {"dict"}, "inputs": {"dict"}, "outputs": {"dict"}, "oracle": {"text", "empty", "long"}}),
    (case, {**CASE, "reduction": None, "rtol": None, "atol": None, "work": {"flops": 1}},
     {"parameters": {"dict"}, "inputs": {"dict"}, "outputs": {"dict"}, "oracle": {"text", "empty", "long"}, "reduction": {"text", "empty", "long"},
      "rtol": {"real", "nan", "below", "wide"} - {"wide"}, "atol": {"real", "nan", "below"},
      "work": {"flag", "text", "empty", "long", "real", "nan", "below", "list", "texts", "dict", "array", "matrix"}}),
    (provider, {"name": "other", "function": twice}, {"name": {"text", "empty", "long"}}),
    (run, {"out": "results", "points": None, "rounds": 1},
     {"out": {"text"}, "points": {"flag", "text", "long", "real", "below", "wide", "list", "texts", "dict", "array", "matrix"},
      "rounds": {"flag", "text", "long", "real", "nan", "below"}}),
    (rows, {"source": "results", "run": None, "latest": False}, {"source": ANY_TEXT, "run": ANY_TEXT, "latest": {"flag"}}),
    (lab.compare, {"a": "a", "b": "b", "metric": None, "pool": False},
     {"a": ANY_TEXT, "b": ANY_TEXT, "metric": ANY_TEXT, "pool": {"flag"}}),
    (lab.gate, {"baseline": "a", "current": "b", "delta": 0.05, "alpha": 0.05, "strict": False, "junit": None},
     {"baseline": ANY_TEXT, "current": ANY_TEXT, "delta": {*ANY_TEXT, "real", "nan", "below", "wide"},
      "alpha": {*ANY_TEXT, "real", "nan", "below", "wide"}, "strict": {"flag"}, "junit": ANY_TEXT}),
    (lab.check_baseline, {"baseline": "a"}, {"baseline": ANY_TEXT}),
]
PLOTS = [(plot, {"coefficient": "d11", "axes": None}, {}), (plot_profiles, {"quantity": "Er", "axes": None}, {})]
FRAMES = [(rows, {"source": "results", "frame": "pandas"}, {"source": ANY_TEXT}), (run, {"frame": "pandas"}, {}), (frame, {"kind": "pandas"}, {})]

def torch_matmul(a, b, **options):
    import torch

    return semiring.matmul(torch.tensor(a, requires_grad=True), b, **options)


def torch_aggregate(x, **options):
    import torch

    return semiring.ell_aggregate(x=torch.tensor(x, requires_grad=True), **options)


def jax_matmul(a, b, **options):
    import jax

    return jax.jit(lambda traced: semiring.matmul(traced, b, **options))(numpy.float32(a))


def jax_aggregate(x, **options):
    import jax

    return jax.jit(lambda traced: semiring.ell_aggregate(x=traced, **options))(numpy.float32(x))


PRODUCT = {"b": A.T, "algebra": "log", "backend": "simd"}
NARROW = {"b": numpy.float32(A.T), "algebra": "log", "backend": "simd"}
SUM = {"values": numpy.ones((2, 2)), "indices": NEIGHBOURS, "w": None, "algebra": "real", "reduce": "sum", "backend": "simd"}
DIFFERENTIATED = [
    *(pytest.param((function, {}, given, arguments), marks=[needs("torch")], id=function.__name__)
      for function, given, arguments in ((torch_matmul, {"a": A}, PRODUCT), (torch_aggregate, {"x": A}, SUM))),
    *(pytest.param((function, {}, given, arguments), marks=[needs("jax")], id=function.__name__)
      for function, given, arguments in ((jax_matmul, {"a": A}, NARROW), (jax_aggregate, {"x": A}, {**SUM, "values": numpy.ones((2, 2), "f4")})))]

# Answers whatever it is asked, so that what the package itself looks at is seen.
PROGRAM = """#!/bin/sh
case $1 in export) echo point;; *) echo '{"journal": "results", "comparisons": []}';; esac
"""


@pytest.fixture(autouse=True)
def aside(tmp_path, monkeypatch):
    """What is written, nobody keeps; and nothing is measured."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program").write_text(PROGRAM)
    (tmp_path / "program").chmod(0o755)
    monkeypatch.setenv("ASSAY_PROGRAM", str(tmp_path / "program"))
    threads = assay.get_threads()
    yield
    assay.set_threads(threads)


def look(calls, tmp_path):
    function, usual, taken = calls
    if "wout" in usual:
        usual = {**usual, "wout": equilibrium_files.wout(tmp_path / "wout_t.nc")}
    if not {"path", "dkes", "text"} & set(usual) or function is save:
        function(**usual)
    wrong = []
    for name in usual:
        for kind, value in WRONG.items():
            if value is usual[name] or kind == "none" and usual[name] is None:
                continue
            try:
                function(**{**usual, name: value})
                if kind not in taken.get(name, ()):
                    wrong.append(f"{name}: {kind}: is taken")
            except (TypeError, assay.UserError) as error:
                said = str(error)
                if kind in taken.get(name, ()):
                    wrong.append(f"{name}: {kind}: is not taken: {said}")
                if "\n" in said or not said or "incompatible function" in said or len(said) > 6000:
                    wrong.append(f"{name}: {kind}: {type(error).__name__}: {said}")
            except BaseException as error:  # whatever else: a panic, an internal error, an iterator's end
                wrong.append(f"{name}: {kind}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)


def names(calls):
    return [f"{function.__name__}-{next(iter(usual))}" for function, usual, _ in calls]


@pytest.mark.filterwarnings("error::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("call", CALLS, ids=names(CALLS))
def test_whatever_is_given_is_taken_or_refused(call, tmp_path):
    look(call, tmp_path)


@pytest.mark.parametrize("call", DIFFERENTIATED)
def test_whatever_is_given_beside_what_is_differentiated(call, tmp_path):
    function, taken, given, arguments = call
    look((lambda **options: function(**given, **options), arguments, taken), tmp_path)


@needs("matplotlib")
@pytest.mark.parametrize("call", PLOTS, ids=names(PLOTS))
def test_plots_of_whatever_is_given(call, tmp_path):
    import matplotlib

    matplotlib.use("agg")
    look(call, tmp_path)


@needs("pandas")
@pytest.mark.parametrize("call", FRAMES, ids=names(FRAMES))
def test_frames_of_whatever_is_given(call, tmp_path):
    look(call, tmp_path)


def test_every_public_function_is_looked_at():
    looked = {function.__name__ for function, _, _ in CALLS} | {"bench", "einsum_path"}
    public = [(module, name) for module in (assay, chip, lab, semiring, transport) for name in module.__all__]
    functions = {name for module, name in public if inspect.isfunction(getattr(module, name))
                 and inspect.signature(getattr(module, name)).parameters}
    assert functions - looked == set()
