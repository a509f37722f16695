// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>

#include "cases/cuda/device_workload.h"
#include "cases/einsum/cuda/workloads.h"
#include "cases/einsum/decomposition_call.h"
#include "einsum/cuda/decompose.h"

namespace assay::cases::einsum::cuda {
namespace {

namespace engine = assay::einsum::cuda;
using cases::cuda::in_terms_of_a_row;

// A tensor that is on the device. A call has decisions of the host in it and ends when all is done:
// it is timed from outside alone.
template <typename Call>
class DeviceDecomposition : public lab::Workload {
 public:
  explicit DeviceDecomposition(const Json& point) : point_(point) {}
  void prepare_for(const lab::MeasureSettings& settings) override {
    if (!settings.flush_l2) return;
    throw lab::ProviderFailure(lab::Status::kSkipped, "provider_not_applicable",
                               "a call goes many times through the cache by itself");
  }
  void load(int slot, int set) override {
    const auto s = static_cast<std::size_t>(slot);
    in_terms_of_a_row([&] { x_[s] = engine_.to_device(Call::tensor(point_, set).view()); });
    start_[s] = start_factors(point_, set);
  }
  void call(int slot) override {
    const auto s = static_cast<std::size_t>(slot);
    const auto options = Call::options(point_, start_[s], 1);
    in_terms_of_a_row([&] { result_ = decompose(*x_[s], options); });
  }
  void poison_outputs() override { result_.reset(); }
  void write_outputs(const std::string& path) override { write_decomposition(path, *result_); }
  std::map<std::string, std::string> versions() const override {
    return in_terms_of_a_row([&] {
      const auto facts = kernels::cuda::device_facts();
      return std::map<std::string, std::string>{
          {"cuda_runtime", kernels::cuda::version_text(facts.runtime)},
          {"cuda_driver", kernels::cuda::version_text(facts.driver)},
          {"cublas", engine_.cublas_version()}};
    });
  }

 private:
  auto decompose(const engine::DeviceTensor& x, const assay::einsum::CpOptions& options) {
    return engine::device_cp(engine_, x, options);
  }
  auto decompose(const engine::DeviceTensor& x, const assay::einsum::TuckerOptions& options) {
    return engine::device_tucker(engine_, x, options);
  }

  DecompositionPoint point_;
  engine::DeviceEngine engine_;
  std::array<std::optional<engine::DeviceTensor>, 2> x_;
  std::array<std::vector<Tensor>, 2> start_;
  std::optional<typename Call::Result> result_;
};

template <typename Call>
std::unique_ptr<lab::Workload> decomposition(const Json& point, int) {
  return in_terms_of_a_row([&]() -> std::unique_ptr<lab::Workload> {
    return std::make_unique<DeviceDecomposition<Call>>(point);
  });
}

}  // namespace

void add_decomposition_workloads(lab::WorkloadRegistry& w) {
  w.add("decompose_cp", "assay", decomposition<CpCall>);
  w.add("decompose_tucker", "assay", decomposition<TuckerCall>);
}

}  // namespace assay::cases::einsum::cuda
