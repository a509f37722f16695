# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What somebody may give for an argument, whatever it is."""

import numpy

within_itself: list = []
within_itself.append(within_itself)
WRONG = {
    "none": None, "flag": True, "text": "x", "empty": "", "long": "x" * 5000, "nul": "a\0b", "no_utf8": "\udcff", "bytes": b"x", "real": 1.5, "nan": float("nan"),
    "complex": 1j, "below": -1, "wide": 2**70, "huge": 10**5000, "list": [], "texts": ["x"], "itself": within_itself, "dict": {},
    "array": numpy.array([1, 2]), "matrix": numpy.ones((40, 40)), "numpy_complex": numpy.complex128(1j), "object": object(),
}
