# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What assay.bench and assay.lab refuse, and how: disks, folders, functions, values. Some need the program assay."""

import functools
import resource
import shutil

import assay
import numpy
import pytest
from arrays import needs
from assay import lab
from measuring import BRIEF, described, needs_program
from softmax_bench import softmax, softmax64


@pytest.mark.parametrize("out", ["/dev/null", "/proc/none", "/dev/full"])
def test_folders_that_cannot_be_written(out):
    with pytest.raises(assay.UserError, match=f"cannot write '{out}/cases/softmax.toml': "):
        softmax.run(out=out)


@pytest.fixture
def files_of():
    """Limits how long files may grow: writes fail as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_takes_no_case_file(files_of, tmp_path):
    files_of(16)
    with pytest.raises(assay.DiskError, match="cannot write .*softmax.toml': File too large"):
        softmax.run(out=tmp_path)


@needs("pandas")
@needs_program
def test_a_disk_that_is_full_later_is_a_disk_error(measured, files_of, tmp_path):
    before = shutil.copytree(measured[1], tmp_path / "before")
    files_of(len(softmax.case_file().encode()) + 8)
    with pytest.raises(assay.DiskError, match="cannot .*jsonl?.*: File too large"):
        softmax.run(out=tmp_path, quick=True, rounds=1, providers="softmax", **BRIEF)
    with pytest.raises(assay.DiskError, match="cannot write .*gate.xml': File too large"):
        lab.gate(before, measured[1], junit=tmp_path / "gate.xml")


@needs_program
def test_arguments_that_the_system_does_not_take():
    with pytest.raises(assay.UserError, match="cannot start '.*': Argument list too long: what was given is too long"):
        lab.rows("x" * 200_000)
    with pytest.raises(assay.UserError, match="^no such journal, folder or store: 'xxx"):
        lab.rows("x" * 5000)
    with pytest.raises(assay.UserError, match="File name too long"):
        softmax.run(out="x" * 5000)


@needs_program
def test_shares_are_numbers_or_texts(measured, tmp_path):
    before = shutil.copytree(measured[1], tmp_path / "before")
    found = [lab.gate(before, measured[1], delta=delta).data for delta in ("5%", 0.05, "0.05", numpy.float64(0.05))]
    assert all(one == found[0] for one in found)
    with pytest.raises(assay.UserError, match="--delta: expected a share such as 2% or 0.02, got 'much'"):
        lab.gate("a", "b", delta="much")


async def coroutine(inputs, point):
    pass


def generator(inputs, point):
    yield


async def both(inputs, point):
    yield


@pytest.mark.parametrize("function", [coroutine, generator, both, functools.wraps(coroutine)(lambda inputs, point: None)])
def test_functions_that_only_promise_are_refused(function):
    message = "is async or a generator, which called does nothing yet.*: (coroutine|generator|both)"
    with pytest.raises(assay.UserError, match=f"bench: provider {function.__name__} {message}"):
        described(function)
    with pytest.raises(assay.UserError, match=f"bench: oracle {message}"):
        described(softmax64, oracle=function)


def test_parameters_within_themselves_are_refused():
    listed, table = [1], {"n": [1]}
    listed.append(listed)
    table["n"].append(table)
    for keys, message in (({"parameters": {"n": listed}}, r"parameters.n\[1\]: is within itself"),
                          ({"parameters": table}, r"parameters.n\[1\].n: is within itself"), ({"work": {"flops": listed}}, "work.flops")):
        with pytest.raises(assay.UserError, match=message):
            described(softmax64, **keys).case_file()
    assert "[[1], [1]]" in described(softmax64, work={"flops": [[1]] * 2}).case_file()
    with pytest.raises(assay.UserError, match="run: points: no JSON can be made of it"):
        softmax.run(points=listed)


@needs_program
def test_options_that_measure_nothing_are_refused(tmp_path):
    for options in ({"help": True}, {"dry_run": True}):
        with pytest.raises(assay.UserError, match=f"run: nothing is measured with these options: {next(iter(options))}"):
            softmax.run(out=tmp_path, **options)


def test_providers_are_no_table():
    with pytest.raises(assay.UserError, match="bench: providers are functions"):
        described(softmax64, providers={"a": 1})


def test_a_provider_is_there_once():
    benchmark = described(softmax64)
    with pytest.raises(assay.UserError, match="there is a provider of this name already: 'softmax64'"):
        benchmark.provider("softmax64")(softmax64)
