# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The Python package's source distribution, compiled by pip into a clean environment, as who has no checkout does it.

sdist_test.py SOURCE. pip fetches what building takes; exits 77 where it cannot."""

import os
import pathlib
import subprocess
import sys
import tempfile
import venv

SOURCE = pathlib.Path(sys.argv[1])
SKIPPED = 77
MAKES = "import sys\nfrom scikit_build_core.build import build_sdist\nprint(build_sdist(sys.argv[1]))"
TRIES = """
import assay, numpy
from assay import chip, semiring, transport
a = numpy.random.rand(30, 40)
assert abs(assay.einsum("ij,kj->ik", a, a) - a @ a.T).max() < 1e-12
assert abs(semiring.matmul(a, a.T, "max_plus") - (a[:, None] + a).max(-1)).max() == 0
assert transport.solve(transport.prepare("example", (9, 9, 8)), 0.1).onsager < 1e-2
assert chip.simulate(256, 256, 256).time_ns > 0
print(assay.__version__, assay.__file__)
"""


def environment(folder):
    venv.create(folder, with_pip=True)
    return folder / "bin/python", [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def main(folder):
    maker, install = environment(folder / "maker")
    needed = subprocess.run([*install, "scikit-build-core"], capture_output=True, text=True, check=False)
    if needed.returncode != 0:
        print(f"skipped: pip cannot fetch what building takes: {needed.stderr.strip().splitlines()[-1]}")
        return SKIPPED
    made = subprocess.run([maker, "-c", MAKES, folder], cwd=SOURCE, capture_output=True, text=True, check=True)
    packed = folder / made.stdout.split()[-1]
    python, install = environment(folder / "clean")
    # The compiler by the name that CMake finds it by elsewhere, so that ccache has what was compiled before.
    surroundings = {"CMAKE_BUILD_PARALLEL_LEVEL": "2", "CXX": "c++", **os.environ}
    subprocess.run([*install, "--no-cache-dir", packed], env=surroundings, check=True)
    subprocess.run([python, "-c", TRIES], cwd=folder, check=True)
    print(f"{packed.name}: {packed.stat().st_size:,} bytes, installed and tried with {sys.version.split()[0]}")
    return 0


with tempfile.TemporaryDirectory() as temporary:
    sys.exit(main(pathlib.Path(temporary)))
