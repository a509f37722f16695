# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""A benchmark of functions, as somebody would write it: two providers that are right, one that is not."""

import assay
import numpy


def softmax64(inputs, point):
    x = inputs["x"]
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@assay.bench(
    parameters={"n": [64, 128], "dtype": ["f32"], "quick": {"n": 64}},
    inputs={"x": {"shape": ["n", "n"], "dtype": "dtype", "low": -4.0, "high": 4.0}},
    outputs={"y": ["n", "n"]},
    oracle=softmax64,
    reduction="n",
    description="softmax along rows",
    work={"flops": "5 * n * n"},
)
def softmax(inputs, point):
    e = numpy.exp(inputs["x"])
    return e / e.sum(axis=1, keepdims=True)


@softmax.provider("twice", description="does the work two times")
def twice(inputs, point):
    for _ in range(8):
        softmax64(inputs, point)
    return softmax64(inputs, point)


@softmax.provider("wrong")
def wrong(inputs, point):
    return softmax64(inputs, point) * 1.01
