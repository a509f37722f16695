# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Installs the Python package as a user would, `pip install .`, and runs its tests (python/package/tests).

package_test.py SOURCE BUILD [PYTEST ARGUMENT…]. Everything is kept in BUILD/python, so that a second time takes
seconds. What is in the environment of `make peers` (torch, jax) can be seen from the tests; without it, those that
need it are skipped. Exits 77 where the packages that building and testing take cannot be had."""

import os
import pathlib
import subprocess
import sys
import venv

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
SKIPPED = 77


def environment():
    """The interpreter of the tests' environment."""
    folder = BUILD / "python-package"
    python = folder / "bin/python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    return folder, python


def show_peers(folder, python):
    """Lets the environment see what the peers' has, which comes after its own."""
    version = "python%d.%d" % sys.version_info[:2]
    peers = pathlib.Path(os.environ.get("ASSAY_PEERS") or SOURCE / ".peers").resolve() / "lib" / version / "site-packages"
    link = folder / "lib" / version / "site-packages/peers.pth"
    if peers.is_dir():
        link.write_text(f"{peers}\n")
    else:
        link.unlink(missing_ok=True)


def main():
    folder, python = environment()
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    link = folder / "lib" / ("python%d.%d" % sys.version_info[:2]) / "site-packages/peers.pth"
    link.unlink(missing_ok=True)  # pip would take what is there for installed here
    needed = subprocess.run([*pip, "--requirement", SOURCE / "python/package/tests/requirements.txt"],
                            capture_output=True, text=True, check=False)
    if needed.returncode != 0:
        print(f"skipped: the package cannot be built and tested here: {needed.stderr.strip().splitlines()[-1]}")
        return SKIPPED
    # The compiler by the name that CMake finds it by in BUILD, so that ccache serves both.
    jobs = {"CMAKE_BUILD_PARALLEL_LEVEL": "2", "CXX": "c++", **os.environ}
    subprocess.run([*pip, "--no-build-isolation", "--no-deps", SOURCE], env=jobs, check=True)
    show_peers(folder, python)
    tests = SOURCE / "python/package/tests"
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rs", tests, *sys.argv[3:]]
    surroundings = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "ASSAY_PROGRAM": str(BUILD / "assay")}
    return subprocess.run(command, env=surroundings, cwd=folder, check=False).returncode


sys.exit(main())
