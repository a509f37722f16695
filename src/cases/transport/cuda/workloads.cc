// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/cuda/workloads.h"

#include <algorithm>
#include <array>

#include "cases/cuda/device_workload.h"
#include "cases/transport/engine_point.h"
#include "tensor/safetensors.h"
#include "transport/cuda/batch.h"

namespace assay::cases::transport::cuda {
namespace {

using cases::cuda::in_terms_of_a_row;

// All cases of a call on the device, in batches, from the cases to the judged coefficients. A call
// has decisions of the host in it and ends when all is done: it is timed from outside alone.
class DeviceScan : public lab::Workload {
 public:
  DeviceScan(const TransportPoint& point, tr::Method method)
      : point_(point),
        method_(method),
        d_(DType::kF64, Shape({point.cases, 4})),
        solver_(tr::prepare(engine_surface(point), engine_grid(point)), point.batch) {}

  void prepare_for(const lab::MeasureSettings& settings) override {
    if (!settings.flush_l2) return;
    throw lab::ProviderFailure(lab::Status::kSkipped, "provider_not_applicable",
                               "a call goes many times through the cache by itself");
  }
  void load(int slot, int set) override {
    slots_[static_cast<std::size_t>(slot)] = engine_cases(point_, set);
  }
  void call(int slot) override {
    auto out = d_.as<double>();
    in_terms_of_a_row([&] {
      solver_.solve(slots_[static_cast<std::size_t>(slot)], {.method = method_},
                    [&](std::size_t i, const tr::Solution& s) {
                      std::ranges::copy(std::array{s.d.d11, s.d.d31, s.d.d13, s.d.d33},
                                        out.begin() + static_cast<std::ptrdiff_t>(4 * i));
                    });
    });
  }
  void poison_outputs() override {
    std::fill(d_.bytes().begin(), d_.bytes().end(), std::byte{0xFF});
  }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"d", d_.view()}});
  }
  std::map<std::string, double> metrics() const override {
    return {{"peak_device_memory", static_cast<double>(solver_.device_bytes())}};
  }
  std::map<std::string, std::string> versions() const override {
    return in_terms_of_a_row([&] {
      const auto facts = kernels::cuda::device_facts();
      return std::map<std::string, std::string>{
          {"cuda_runtime", kernels::cuda::version_text(facts.runtime)},
          {"cuda_driver", kernels::cuda::version_text(facts.driver)},
          {"cublas", solver_.cublas_version()}};
    });
  }

 private:
  TransportPoint point_;
  tr::Method method_;
  Tensor d_;
  std::array<std::vector<tr::Case>, 2> slots_;
  tr::cuda::BatchSolver solver_;
};

lab::WorkloadRegistry::Factory scan(tr::Method method) {
  return [method](const Json& json, int) {
    return in_terms_of_a_row([&]() -> std::unique_ptr<lab::Workload> {
      return std::make_unique<DeviceScan>(TransportPoint(json), method);
    });
  };
}

}  // namespace

void add_workloads(lab::WorkloadRegistry& w) {
  w.add("transport_scan", "assay", scan(tr::Method::kAuto));
  w.add("transport_scan", "assay-dense", scan(tr::Method::kDense));
}

}  // namespace assay::cases::transport::cuda
