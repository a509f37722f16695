// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The accelerator simulator: assay.chip. Results are the objects that `assay chip … --json` prints,
// as text.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/units.h"
#include "bindings/argument.h"
#include "bindings/module.h"
#include "bindings/threads.h"
#include "chip/collective.h"
#include "chip/show/explain.h"
#include "chip/simulate.h"

namespace assay::python {
namespace {

namespace nb = nanobind;

struct GemmRun {
  std::string json, text;
};

GemmRun simulate(const chip::Topology& topology, const std::string& gemm,
                 const std::string& variant, const std::string& order, std::int64_t multicast) {
  const chip::GemmOptions options{.shape = chip::parse_gemm_shape(gemm),
                                  .variant = chip::parse_variant(variant),
                                  .order = chip::parse_loop_order(order),
                                  .multicast = multicast};
  return without_gil([&]() -> GemmRun {
    const auto explained = chip::explain_gemm(options, topology);
    return {chip::to_json(explained.result).dump(), chip::to_text(explained)};
  });
}

GemmRun collective(chip::Topology topology, const std::string& kind, const std::string& algorithm,
                   const std::string& bytes, const std::string& network, std::int64_t ranks,
                   std::int64_t splits) {
  const chip::CollectiveOptions options{
      .collective = chip::parse_collective(kind),
      .algorithm = chip::parse_algorithm(algorithm),
      .bytes = static_cast<std::int64_t>(parse_whole_bytes(bytes, "bytes")),
      .splits = splits};
  topology.network = chip::parse_network(network, ranks, topology.network);
  return without_gil([&]() -> GemmRun {
    const auto result = chip::simulate_collective(options, topology);
    return {chip::to_json(result).dump(), chip::to_text(result)};
  });
}

}  // namespace

void bind_chip(nb::module_& module) {
  nb::class_<chip::Topology> topology(module, "Topology");
  refuse_pickling(topology, "a topology is not pickled: chip.topology() reads it again");
  topology.def("json", [](const chip::Topology& t) { return chip::describe(t).dump(); })
      .def("text", &chip::describe_text);
  module.def("topology", [](const std::string& path) {
    return path.empty() ? chip::default_topology() : chip::read_topology(path);
  });
  module.def("parse_topology",
             [](const std::string& text) { return chip::parse_topology(text, "topology"); });
  module.def("default_topology_text", [] { return std::string(chip::default_topology_text()); });
  module.def("chip_simulate",
             [](const chip::Topology& t, const std::string& gemm, const std::string& variant,
                const std::string& order, std::int64_t multicast) {
               const auto run = simulate(t, gemm, variant, order, multicast);
               return nb::make_tuple(run.json, run.text);
             });
  module.def("chip_collective",
             [](const chip::Topology& t, const std::string& kind, const std::string& algorithm,
                const std::string& bytes, const std::string& network, std::int64_t ranks,
                std::int64_t splits) {
               const auto run = collective(t, kind, algorithm, bytes, network, ranks, splits);
               return nb::make_tuple(run.json, run.text);
             });
}

}  // namespace assay::python
