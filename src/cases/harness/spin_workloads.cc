// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "cases/harness/spin_times.h"
#include "cases/harness/workloads.h"
#include "lab/record/case.h"
#include "lab/record/protocol.h"
#include "tensor/safetensors.h"
#include "tensor/tensor.h"

namespace assay::cases::harness {
namespace {

class Spin : public lab::Workload {
 public:
  Spin(const Json& point, std::string_view attempt, bool slower)
      : seed_(lab::point_int(point, "seed")), times_(point, attempt, slower) {}

  void load(int slot, int set) override {
    const auto stream = lab::input_stream(seed_, "x", set);
    auto& x = x_[static_cast<std::size_t>(slot)];
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = unit_interval(stream[i]);
  }
  void call(int slot) override {
    const std::int64_t end =
        monotonic_ns() + static_cast<std::int64_t>(1e9 * times_.of_call(calls_++));
    const auto& x = x_[static_cast<std::size_t>(slot)];
    for (std::size_t i = 0; i < x.size(); ++i) y_[i] = 2 * x[i];
    while (monotonic_ns() < end) {
    }
  }
  void poison_outputs() override { std::memset(y_.data(), 0xFF, sizeof y_); }
  void write_outputs(const std::string& path) override {
    write_safetensors(path, {{"y", TensorView(DType::kF64, y_.data(), Shape({8}))}});
  }

 private:
  std::int64_t seed_;
  SpinTimes times_;
  std::uint64_t calls_ = 0;
  std::array<std::array<double, 8>, 2> x_{};
  std::array<double, 8> y_{};
};

lab::WorkloadRegistry::Factory spin(bool slower) {
  return [slower](const Json& point, int) -> std::unique_ptr<lab::Workload> {
    const char* attempt = std::getenv(lab::kAttemptVariable);
    if (attempt == nullptr) {
      throw lab::ProviderFailure(lab::Status::kEnvMissing, "no_attempt",
                                 "spinning draws its times from the attempt's identity, which only "
                                 "attempts in processes of their own have");
    }
    return std::make_unique<Spin>(point, attempt, slower);
  };
}

}  // namespace

void add_workloads(lab::WorkloadRegistry& workloads) {
  workloads.add("harness_spin", "spin", spin(false));
  workloads.add("harness_spin", "spin-slower", spin(true));
}

}  // namespace assay::cases::harness
