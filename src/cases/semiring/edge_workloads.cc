// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "cases/semiring/case_list.h"
#include "cases/semiring/edge_inputs.h"
#include "semiring/ell.h"
#include "tensor/safetensors.h"

namespace assay::cases::semiring {
namespace {

using assay::semiring::Backend;

class EdgeWorkload : public lab::Workload {
 public:
  EdgeWorkload(const Json& point, Backend backend)
      : point_(point),
        slots_{EdgeInputs(point_), EdgeInputs(point_)},
        out_(point_.dtype, Shape({point_.n, point_.d})),
        backend_(backend) {}

  void load(int slot, int set) override {
    fill_inputs(point_, set, slots_[static_cast<std::size_t>(slot)]);
  }
  void call(int slot) override {
    const auto& in = slots_[static_cast<std::size_t>(slot)];
    assay::semiring::ell_edge_aggregate(point_.reduce, in.v.view(), in.idx.view(), in.x.view(),
                                        in.w.view(), out_.mutable_view(), {.backend = backend_});
  }
  void poison_outputs() override { std::memset(out_.bytes().data(), 0xFF, out_.bytes().size()); }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"out", out_.view()}});
  }

 private:
  EdgePoint point_;
  std::array<EdgeInputs, 2> slots_;
  Tensor out_;
  Backend backend_;
};

lab::WorkloadRegistry::Factory engine(Backend backend) {
  return
      [backend](const Json& point, int) { return std::make_unique<EdgeWorkload>(point, backend); };
}

}  // namespace

void add_edge_workloads(lab::WorkloadRegistry& w) {
  w.add("ell_edge_aggregate", "reference", engine(Backend::kReference));
  w.add("ell_edge_aggregate", "naive", engine(Backend::kNaive));
}

}  // namespace assay::cases::semiring
