# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay.chip: what the command line prints, as dataclasses."""

import json
import os
import shutil
import subprocess

import assay
import pytest
from assay import chip

PROGRAM = shutil.which(os.environ.get("ASSAY_PROGRAM", "assay"))


@pytest.mark.skipif(PROGRAM is None, reason="no program assay: ASSAY_PROGRAM, or `make install`")
def test_the_command_line_says_the_same():
    def printed(*arguments):
        return json.loads(subprocess.run([PROGRAM, "chip", *arguments, "--json"], capture_output=True, text=True,
                                         check=True).stdout)

    assert chip.simulate(512, 256, 384).data == printed("run", "--gemm", "512x256x384")
    ours = chip.collective("all_gather", "64KiB", network="torus:2x4", algorithm="ring").data
    assert ours == printed("collective", "--collective", "all_gather", "--bytes", "64KiB", "--network", "torus:2x4",
                           "--algorithm", "ring")


def test_simulation_and_theory():
    result = chip.simulate(512, 512, 512)
    assert result.time_ns == result.closed_form_ns >= result.bound_ns > 0 and 0 < result.mac_utilisation <= 1
    assert set(result.stages) == {"dma_in", "fetch", "gemm", "dma_out"} and "512" in result.explanation
    done = chip.collective("all_reduce", 1 << 20, ranks=8)
    assert done.time_ns >= done.bound_ns > 0 and 0 < done.link_use <= 1


def test_a_topology_of_ones_own():
    text = chip.default_topology_text()
    slower = chip.topology(text=text.replace("channel_GBps = 32.0", "channel_GBps = 8.0"))
    assert slower.data["hbm"]["channel_GBps"] == 8
    assert chip.simulate(256, 256, 256, on=slower).time_with_load_ns > chip.simulate(256, 256, 256).time_with_load_ns
    assert str(chip.topology()) == chip.topology().text


def test_errors_are_the_engines(tmp_path):
    for call, message in ((lambda: chip.simulate(0, 1, 1), "m is from 1 to 2147483648, not 0"),
                          (lambda: chip.simulate(8, 8, 8, variant="fast"), "fast"),
                          (lambda: chip.collective("reduce", 64, ranks=4), "reduce"),
                          (lambda: chip.collective("all_reduce", "1 elephant", ranks=4), "elephant"),
                          (lambda: chip.topology(tmp_path / "none.toml"), "none.toml")):
        with pytest.raises(assay.UserError, match=message):
            call()
