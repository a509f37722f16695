# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a test in the environment that has the provider's modules; exits 77, saying why, if none has."""

import os
import subprocess
import sys
import tempfile

ROOT, PROVIDER, TEST = sys.argv[1:4]
MODULES = {
    "numpy": "numpy", "torch": "torch", "torch-compile": "torch", "jax": "jax",
    "pyg": "torch_geometric", "pyg-edge-index": "torch_geometric", "keops": "pykeops",
    "onnxruntime": "onnxruntime", "transformers": "transformers", "hf-eager": "transformers",
    "llama-cpp": "llama_cpp",
}  # fmt: skip
if TEST.startswith("transport"):
    MODULES["numpy"] = "scipy"
if TEST.startswith("language"):
    MODULES["torch-compile"] = "transformers"
SKIPPED = 77

peers = os.path.join(os.environ.get("ASSAY_PEERS") or os.path.join(ROOT, ".peers"), "bin/python3")
probe = f"import importlib.util as u, sys; sys.exit(u.find_spec({MODULES[PROVIDER]!r}) is None)"
candidates = [peers, sys.executable]
for python in candidates:
    if os.access(python, os.X_OK) and subprocess.run([python, "-c", probe], check=False).returncode == 0:
        test = os.path.join(os.path.dirname(os.path.abspath(__file__)), TEST)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        with tempfile.TemporaryDirectory() as folder:
            environment["TMPDIR"] = folder
            command = [python, test, ROOT, PROVIDER, folder, *sys.argv[4:]]
            sys.exit(subprocess.run(command, env=environment, check=False).returncode)
print(
    f"skipped: no module {MODULES[PROVIDER]} in {' or '.join(candidates)}; `make peers` installs it"
)
sys.exit(SKIPPED)
