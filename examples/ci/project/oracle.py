# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What is right, in f64."""

import numpy as np


def smooth(inputs, point):
    x = np.pad(inputs["x"], 1, mode="edge")
    return (x[:-2] + x[1:-1] + x[2:]) / 3
