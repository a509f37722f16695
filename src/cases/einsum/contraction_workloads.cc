// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "cases/einsum/case_list.h"
#include "cases/einsum/contractions.h"
#include "einsum/calibrate/calibration.h"
#include "einsum/einsum.h"
#include "kernels/blas/blas.h"
#include "tensor/safetensors.h"

namespace assay::cases::einsum {
namespace {

namespace engine = assay::einsum;

// Two slots of operands, one result, computed by the engine on one backend.
class ContractionWorkload : public lab::Workload {
 public:
  ContractionWorkload(const Json& json, const std::vector<Contraction>& table,
                      engine::Backend backend, int cores)
      : point_(json, table),
        slots_{make_operands(point_), make_operands(point_)},
        c_(point_.dtype, point_.output),
        engine_({.backend = backend, .threads = cores, .model = engine::machine_model(cores)}) {
    for (std::size_t s = 0; s < 2; ++s) {
      for (const auto& t : slots_[s]) views_[s].push_back(t.view());
    }
  }
  void load(int slot, int set) override {
    fill_operands(point_, set, slots_[static_cast<std::size_t>(slot)]);
  }
  void call(int slot) override {
    engine_.einsum_into(point_.contraction.expression, views_[static_cast<std::size_t>(slot)],
                        c_.mutable_view());
  }
  void poison_outputs() override { std::memset(c_.bytes().data(), 0xFF, c_.bytes().size()); }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"c", c_.view()}});
  }
  std::map<std::string, std::string> versions() const override {
    if (engine_.get_backend() == engine::Backend::kReference) return {};
    return {{"openblas", blas::description()}, {"einsum-model", engine_.model().id}};
  }

 private:
  ContractionPoint point_;
  std::array<std::vector<Tensor>, 2> slots_;
  std::array<std::vector<TensorView>, 2> views_;
  Tensor c_;
  engine::Engine engine_;
};

}  // namespace

void add_contraction_workloads(lab::WorkloadRegistry& w) {
  for (const bool pair : {true, false}) {
    const char* name = pair ? "einsum_pair" : "einsum_network";
    const auto& table = pair ? pair_contractions() : network_contractions();
    const auto engine_provider = [&table](engine::Backend backend) {
      return [&table, backend](const Json& point, int cores) {
        return std::make_unique<ContractionWorkload>(point, table, backend, cores);
      };
    };
    w.add(name, "assay-blas", engine_provider(engine::Backend::kBlas));
    w.add(name, "reference", engine_provider(engine::Backend::kReference));
  }
}

}  // namespace assay::cases::einsum
