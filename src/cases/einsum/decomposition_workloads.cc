// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>

#include "cases/einsum/case_list.h"
#include "cases/einsum/decomposition_inputs.h"
#include "einsum/blas.h"
#include "einsum/cp.h"
#include "einsum/tucker.h"
#include "tensor/safetensors.h"

namespace assay::cases::einsum {
namespace {

namespace engine = assay::einsum;

template <typename Result>
class DecompositionWorkload : public lab::Workload {
 public:
  using Decompose = Result (*)(const DecompositionPoint&, const Tensor& x,
                               const std::vector<Tensor>& start, int cores);
  using Reconstruct = Tensor (*)(const Result&);
  using Make = Tensor (*)(const DecompositionPoint&, int set);

  DecompositionWorkload(const Json& point, int cores, Make make, Decompose decompose,
                        Reconstruct reconstruct)
      : point_(point),
        cores_(cores),
        make_(make),
        decompose_(decompose),
        reconstruct_(reconstruct) {}
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
    const Tensor x = reconstruct_(*result_);
    const Tensor first = Tensor::copy(x.view().select(0, 0));
    write_safetensors(path, {{"x0", first.view()}});
  }
  std::map<std::string, std::string> versions() const override {
    return {{"openblas", engine::blas_description()}};
  }

 private:
  DecompositionPoint point_;
  int cores_;
  Make make_;
  Decompose decompose_;
  Reconstruct reconstruct_;
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
        point, cores, cp_tensor, run_cp, engine::cp_reconstruct);
  });
  w.add("decompose_tucker", "assay", [](const Json& point, int cores) {
    return std::make_unique<DecompositionWorkload<engine::TuckerResult>>(
        point, cores, tucker_tensor, run_tucker, engine::tucker_reconstruct);
  });
}

}  // namespace assay::cases::einsum
