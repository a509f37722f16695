// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "cases/semiring/case_list.h"
#include "cases/semiring/edge_inputs.h"
#include "cases/semiring/simd_setup.h"
#include "semiring/ell.h"
#include "tensor/safetensors.h"

namespace assay::cases::semiring {
namespace {

using assay::semiring::Backend;
using assay::semiring::EllOptions;

class EdgeWorkload : public lab::Workload {
 public:
  EdgeWorkload(const Json& point, const EllOptions& options,
               std::map<std::string, std::string> versions = {})
      : point_(point),
        slots_{EdgeInputs(point_), EdgeInputs(point_)},
        out_(point_.dtype, Shape({point_.n, point_.d})),
        options_(options),
        versions_(std::move(versions)) {}

  void load(int slot, int set) override {
    fill_inputs(point_, set, slots_[static_cast<std::size_t>(slot)]);
  }
  void call(int slot) override {
    const auto& in = slots_[static_cast<std::size_t>(slot)];
    assay::semiring::ell_edge_aggregate(point_.reduce, in.v.view(), in.idx.view(), in.x.view(),
                                        in.w.view(), out_.mutable_view(), options_);
  }
  void poison_outputs() override { std::memset(out_.bytes().data(), 0xFF, out_.bytes().size()); }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"out", out_.view()}});
  }
  std::map<std::string, std::string> versions() const override { return versions_; }

 private:
  EdgePoint point_;
  std::array<EdgeInputs, 2> slots_;
  Tensor out_;
  EllOptions options_;
  std::map<std::string, std::string> versions_;
};

lab::WorkloadRegistry::Factory plain_edge(Backend backend) {
  return [backend](const Json& point, int) {
    return std::make_unique<EdgeWorkload>(point, EllOptions{.backend = backend});
  };
}

std::unique_ptr<lab::Workload> simd_edge(const Json& point, int cores) {
  return std::make_unique<EdgeWorkload>(
      point, EllOptions{.backend = Backend::kSimd, .simd = simd_options(cores)}, simd_versions());
}

}  // namespace

void add_edge_workloads(lab::WorkloadRegistry& w) {
  w.add("ell_edge_aggregate", "reference", plain_edge(Backend::kReference));
  w.add("ell_edge_aggregate", "naive", plain_edge(Backend::kNaive));
  w.add("ell_edge_aggregate", "assay-simd", simd_edge);
}

}  // namespace assay::cases::semiring
