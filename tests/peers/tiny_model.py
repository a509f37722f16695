# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Folders with a model of the smallest size."""

import json
import os
import subprocess


def init(assay, folder, family, dtype, seed=3):
    subprocess.run([assay, "llm", "init", "--family", family, "--size", "tiny", "--dtype", dtype,
                    "--seed", str(seed), "--out", folder], check=True, capture_output=True)  # fmt: skip


def edit_config(folder, edit):
    """`edit` changes the dict that is config.json."""
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    edit(config)
    with open(path, "w") as file:
        json.dump(config, file)
