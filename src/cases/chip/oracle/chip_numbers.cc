// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/oracle/chip_numbers.h"

#include <cmath>
#include <string>

#include "base/toml.h"

namespace assay::cases::chip {

Ps duration(std::int64_t amount, double giga) {
  // amount · 10³ / giga picoseconds, giga given to a thousandth at least: exact in 128 bits.
  __extension__ using Wide = __int128;
  const auto rate = static_cast<Wide>(std::llround(giga * 1e9));
  const Wide product = static_cast<Wide>(amount) * 1'000'000'000'000;
  return static_cast<Ps>((product + rate - 1) / rate);
}

ChipNumbers read_chip_numbers(std::string_view text) {
  const auto file = TomlTable::parse(text, "the chip's description");
  const auto pe = file.table("pe"), mac = file.table("mac"), tile = file.table("tile"),
             dma = file.table("dma"), hbm = file.table("hbm"), noc = file.table("noc"),
             network = file.table("network");
  const auto ps = [](double ns) { return static_cast<Ps>(std::llround(ns * 1000)); };
  ChipNumbers c;
  c.rows = pe.integer("rows");
  c.columns = pe.integer("columns");
  c.buffers = pe.integer("buffer_depth");
  c.outputs = pe.integer("output_buffers");
  c.held_through_gemm = pe.text("buffer_release") == "gemm";
  c.queues = dma.integer("queues");
  c.sram_bytes = pe.integer("sram_bytes");
  c.m = tile.integer("m");
  c.k = tile.integer("k");
  c.n = tile.integer("n");
  c.element_bytes = tile.integer("element_bytes");
  c.channels = hbm.integer("channels");
  c.burst_bytes = hbm.integer("burst_bytes");
  c.burst = duration(c.burst_bytes, hbm.number("channel_GBps"));
  c.fetch = duration(c.a_bytes() + c.b_bytes(), pe.number("fetch_GBps"));
  c.macs_per_ns = mac.number("macs_per_ns");
  c.gemm = duration(c.m * c.k * c.n, c.macs_per_ns);
  c.link_burst = duration(c.burst_bytes, noc.number("link_GBps"));
  c.array_rows = mac.integer("array_rows");
  c.array_columns = mac.integer("array_columns");
  c.core_ghz = file.table("clock").number("core_GHz");
  c.link_gbps = network.number("link_GBps");
  c.latency = ps(network.number("link_ns"));
  c.endpoint = ps(network.number("endpoint_ns"));
  c.adding_takes_time = network.number("memory_GBps") > 0;

  const std::int64_t line = c.channels * c.burst_bytes;
  const auto ports = noc.integer_rows("memory_ports");
  c.ideal = mac.text("kind") == "rate" && hbm.text("layout") == "tile_contiguous" &&
            hbm.flag("separate_write_path") && hbm.number("refresh_share") == 0 &&
            dma.number("setup_ns") == 0 && noc.number("hop_ns") == 0 && ports.size() == 1 &&
            ports.front() == std::vector<std::int64_t>{0, 0} && c.a_bytes() % line == 0 &&
            c.b_bytes() % line == 0 && c.c_bytes() % line == 0 &&
            c.channels * c.link_burst <= c.burst;
  return c;
}

}  // namespace assay::cases::chip
