// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <utility>

#include "cases/einsum/case_list.h"
#include "cases/einsum/decomposition_inputs.h"
#include "einsum/decompose/cp.h"
#include "einsum/decompose/tucker.h"
#include "kernels/blas/blas.h"
#include "tensor/safetensors.h"

namespace assay::cases::einsum {
namespace {

namespace engine = assay::einsum;

template <typename Result>
class DecompositionWorkload : public lab::Workload {
 public:
  using Decompose = Result (*)(const DecompositionPoint&, const Tensor& x,
                               const std::vector<Tensor>& start, int cores);
  // Names the parts of a result that are written out.
  using Part = std::pair<std::string, TensorView>;
  using Parts = std::vector<Part> (*)(const Result&);
  using Make = Tensor (*)(const DecompositionPoint&, int set);

  DecompositionWorkload(const Json& point, int cores, Make make, Decompose decompose, Parts parts)
      : point_(point), cores_(cores), make_(make), decompose_(decompose), parts_(parts) {}
  void load(int slot, int set) override {
    x_[static_cast<std::size_t>(slot)] = make_(point_, set);
    start_[static_cast<std::size_t>(slot)] = start_factors(point_, set);
  }
  void call(int slot) override {
    const auto s = static_cast<std::size_t>(slot);
    result_ = decompose_(point_, *x_[s], start_[s], cores_);
  }
  void poison_outputs() override { result_.reset(); }
  void write_outputs(const std::string& path) override {
    auto parts = parts_(*result_);
    for (std::size_t m = 0; m < result_->factors.size(); ++m) {
      parts.emplace_back("u" + std::to_string(m), result_->factors[m].view());
    }
    Tensor error(DType::kF64, Shape({1}));
    error.as<double>()[0] = result_->relative_error;
    parts.emplace_back("error", error.view());
    write_safetensors(path, parts);
  }
  std::map<std::string, std::string> versions() const override {
    return {{"openblas", blas::description()}};
  }

 private:
  DecompositionPoint point_;
  int cores_;
  Make make_;
  Decompose decompose_;
  Parts parts_;
  std::array<std::optional<Tensor>, 2> x_;
  std::array<std::vector<Tensor>, 2> start_;
  std::optional<Result> result_;
};

engine::CpResult run_cp(const DecompositionPoint& p, const Tensor& x,
                        const std::vector<Tensor>& start, int cores) {
  engine::CpOptions options;
  options.threads = cores;
  options.rank = p.rank;
  options.max_sweeps = static_cast<int>(p.sweeps);
  options.change = -1;  // all sweeps are made
  options.target_fit = 2;
  options.exact_fit = false;  // the peers, told to make all sweeps, compute no fit at all
  options.start = &start;
  return engine::cp(x.view(), options);
}

engine::TuckerResult run_tucker(const DecompositionPoint& p, const Tensor& x,
                                const std::vector<Tensor>&, int) {
  engine::TuckerOptions options;
  options.ranks.assign(static_cast<std::size_t>(p.order), p.rank);
  options.max_sweeps = static_cast<int>(p.sweeps);
  options.change = -1;
  return engine::tucker(x.view(), options);
}

}  // namespace

void add_decomposition_workloads(lab::WorkloadRegistry& w) {
  w.add("decompose_cp", "assay", [](const Json& point, int cores) {
    return std::make_unique<DecompositionWorkload<engine::CpResult>>(
        point, cores, cp_tensor, run_cp, [](const engine::CpResult& d) {
          return std::vector<std::pair<std::string, TensorView>>{{"weights", d.weights.view()}};
        });
  });
  w.add("decompose_tucker", "assay", [](const Json& point, int cores) {
    return std::make_unique<DecompositionWorkload<engine::TuckerResult>>(
        point, cores, tucker_tensor, run_tucker, [](const engine::TuckerResult& d) {
          return std::vector<std::pair<std::string, TensorView>>{{"core", d.core.view()}};
        });
  });
}

}  // namespace assay::cases::einsum
