# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The source distribution has all that building takes: CMake finds every source that it names."""

import pathlib
import subprocess
import sys
import tarfile

import pytest

SOURCE = pathlib.Path(__file__).parents[3]
BUILDS = "import sys\nfrom scikit_build_core.build import build_sdist\nprint(build_sdist(sys.argv[1]))"


def run(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not (SOURCE / "pyproject.toml").exists(), reason="the tests stand apart from the sources")
def test_cmake_configures_what_the_sdist_holds(tmp_path):
    name = run(sys.executable, "-c", BUILDS, tmp_path, cwd=SOURCE).split()[-1]
    with tarfile.open(tmp_path / name) as packed:
        names = packed.getnames()
        packed.extractall(tmp_path)  # our own; Debian's Python knows no filter yet
    unpacked = tmp_path / name.removesuffix(".tar.gz")
    assert {f"{unpacked.name}/{file}" for file in ("LICENSE", "docs/python.md", "python/package/assay/py.typed")} <= set(names)
    assert not [file for file in names if file.endswith("_test.cc") or f"{unpacked.name}/build" in file]
    run("cmake", "-S", unpacked, "-B", tmp_path / "build", "-G", "Ninja", "-DASSAY_PYTHON=ON", "-DASSAY_ENGINES_ONLY=ON",
        "-DASSAY_TESTS=OFF", f"-DPython_EXECUTABLE={sys.executable}", "--log-level=WARNING")
