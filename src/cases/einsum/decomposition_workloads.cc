// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>

#include "cases/einsum/case_list.h"
#include "cases/einsum/decomposition_call.h"
#include "kernels/blas/blas.h"
#include "tensor/safetensors.h"

namespace assay::cases::einsum {
namespace {

namespace engine = assay::einsum;

template <typename Call>
class DecompositionWorkload : public lab::Workload {
 public:
  DecompositionWorkload(const Json& point, int cores) : point_(point), cores_(cores) {}
  void load(int slot, int set) override {
    x_[static_cast<std::size_t>(slot)] = Call::tensor(point_, set);
    start_[static_cast<std::size_t>(slot)] = start_factors(point_, set);
  }
  void call(int slot) override {
    const auto s = static_cast<std::size_t>(slot);
    result_ = decompose(x_[s]->view(), Call::options(point_, start_[s], cores_));
  }
  void poison_outputs() override { result_.reset(); }
  void write_outputs(const std::string& path) override { write_decomposition(path, *result_); }
  std::map<std::string, std::string> versions() const override {
    return {{"openblas", blas::description()}};
  }

 private:
  static auto decompose(const TensorView& x, const engine::CpOptions& options) {
    return engine::cp(x, options);
  }
  static auto decompose(const TensorView& x, const engine::TuckerOptions& options) {
    return engine::tucker(x, options);
  }

  DecompositionPoint point_;
  int cores_;
  std::array<std::optional<Tensor>, 2> x_;
  std::array<std::vector<Tensor>, 2> start_;
  std::optional<typename Call::Result> result_;
};

template <typename Result>
void write_parts(const std::string& path, const Result& result, const char* name,
                 const Tensor& core) {
  std::vector<std::pair<std::string, TensorView>> parts = {{name, core.view()}};
  for (std::size_t m = 0; m < result.factors.size(); ++m) {
    parts.emplace_back("u" + std::to_string(m), result.factors[m].view());
  }
  Tensor error(DType::kF64, Shape({1}));
  error.as<double>()[0] = result.relative_error;
  parts.emplace_back("error", error.view());
  write_safetensors(path, parts);
}

}  // namespace

engine::CpOptions CpCall::options(const DecompositionPoint& p, const std::vector<Tensor>& start,
                                  int cores) {
  engine::CpOptions options;
  options.threads = cores;
  options.rank = p.rank;
  options.max_sweeps = static_cast<int>(p.sweeps);
  options.change = -1;  // all sweeps are made
  options.target_fit = 2;
  options.exact_fit = false;  // the peers, told to make all sweeps, compute no fit at all
  options.start = &start;
  return options;
}

engine::TuckerOptions TuckerCall::options(const DecompositionPoint& p, const std::vector<Tensor>&,
                                          int) {
  engine::TuckerOptions options;
  options.ranks.assign(static_cast<std::size_t>(p.order), p.rank);
  options.max_sweeps = static_cast<int>(p.sweeps);
  options.change = -1;
  return options;
}

void write_decomposition(const std::string& path, const engine::CpResult& result) {
  write_parts(path, result, "weights", result.weights);
}
void write_decomposition(const std::string& path, const engine::TuckerResult& result) {
  write_parts(path, result, "core", result.core);
}

void add_decomposition_workloads(lab::WorkloadRegistry& w) {
  w.add("decompose_cp", "assay", [](const Json& point, int cores) {
    return std::make_unique<DecompositionWorkload<CpCall>>(point, cores);
  });
  w.add("decompose_tucker", "assay", [](const Json& point, int cores) {
    return std::make_unique<DecompositionWorkload<TuckerCall>>(point, cores);
  });
}

}  // namespace assay::cases::einsum
