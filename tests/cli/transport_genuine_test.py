# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""--accuracy on genuine surfaces at low collisionality, beside grids that are much finer; takes minutes."""

import json
import os

from assay_cli import ROOT, CliTest, main

NAMES = ("D11", "D31", "D13", "D33")


class Genuine(CliTest):
    def accurate(self, kind, name, expected):
        """At nu = 1e-4 without field: within one per cent and its own error bars of what finer grids give."""
        data = os.environ.get("ASSAY_SHARED_DATA", os.path.join(ROOT, "../shared/data"))
        path = os.path.join(data, "transport/real", name)
        if not os.path.exists(path):
            self.skipTest(f"no file {path}: set ASSAY_SHARED_DATA to the folder that holds transport/real")
        source = self.write("s.toml", f'[surface]\ntype = "{kind}"\npath = "{path}"\n')
        result = self.run_ok("transport", "scan", source, "--accuracy", "1%", "--nu", "1e-4", "--er", "0", "--json")
        case = json.loads(result.stdout)
        # What may vanish is relative to what it could be.
        least = 0.01 * (expected["D11"] * expected["D33"]) ** 0.5
        for key in NAMES:
            scale = abs(expected[key]) if key in ("D11", "D33") else max(abs(expected[key]), least)
            error = case["resolution"]["relative_errors"][key]
            self.assertLessEqual(abs(case["coefficients"][key] - expected[key]) / scale, error, key)
        return case["resolution"]

    def test_w7x_eim(self):
        # Of 27 x 79 x 235.
        expected = {"D11": 0.00969917, "D31": 0.2329061, "D13": -0.2329061, "D33": 4016.351}
        resolution = self.accurate("text", "w7x_eim.magnetic_configuration.dat", expected)
        self.assertTrue(resolution["reached"])
        self.assertLessEqual(max(resolution["relative_errors"].values()), 0.01)


if __name__ == "__main__":
    main()
