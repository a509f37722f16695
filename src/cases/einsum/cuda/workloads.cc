// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/cuda/workloads.h"

#include <array>

#include "base/error.h"
#include "cases/cuda/device_workload.h"
#include "cases/einsum/contractions.h"
#include "cases/einsum/mp2_inputs.h"
#include "einsum/cuda/device_engine.h"
#include "einsum/cuda/mp2.h"
#include "tensor/safetensors.h"

namespace assay::cases::einsum::cuda {
namespace {

namespace engine = assay::einsum::cuda;
using cases::cuda::DeviceWorkload;
using cases::cuda::in_terms_of_a_row;
using engine::DeviceTensor;
using kernels::cuda::Stream;

void put(const DeviceTensor& to, const Tensor& from) {
  kernels::cuda::copy_to_device(to.data(), from.bytes().data(), from.bytes().size());
}

// A contraction whose operands are there, planned before the calls.
class DeviceContraction : public DeviceWorkload {
 public:
  DeviceContraction(const Json& json, const std::vector<Contraction>& table)
      : point_(json, table), out_(point_.dtype, point_.output), c_(point_.dtype, point_.output) {
    for (auto& slot : slots_) {
      for (const auto& shape : point_.shapes) slot.emplace_back(point_.dtype, shape);
    }
    output_ = out_.data();
    output_bytes_ = out_.byte_count();
  }
  std::map<std::string, double> metrics() const override {
    double bytes = static_cast<double>(out_.byte_count());
    for (const auto& slot : slots_) {
      for (const auto& tensor : slot) bytes += static_cast<double>(tensor.byte_count());
    }
    if (!engine_) return {{"peak_device_memory", bytes}};
    return {{"peak_device_memory", bytes + static_cast<double>(engine_->peak_bytes())},
            {"predicted_time", plan_->predicted_s}};
  }
  std::map<std::string, std::string> versions() const override {
    auto versions = DeviceWorkload::versions();
    if (!engine_) return versions;
    versions["cublas"] = engine_->cublas_version();
    versions["einsum-model"] = engine_->model().id;
    if (plan_->steps.size() == 1) {
      versions["einsum-kernel"] = name_of(plan_->steps[0].lowered.kernel);
    }
    return versions;
  }

 protected:
  void fill(int slot, int set) override {
    if (host_.empty()) host_ = make_operands(point_);
    fill_operands(point_, set, host_);
    for (std::size_t i = 0; i < host_.size(); ++i) put(at(slot)[i], host_[i]);
  }
  void enqueue(int slot, Stream stream) override {
    if (!engine_) {
      engine_ =
          std::make_unique<engine::DeviceEngine>(engine::DeviceEngine::Options{.stream = stream});
      const std::vector<engine::Operand> operands(at(slot).begin(), at(slot).end());
      plan_ = engine_->plan(point_.contraction.expression, operands);
    }
    engine_->run_into(*plan_, at(slot), out_);
  }
  void write(const std::string& path) override {
    kernels::cuda::copy_to_host(c_.bytes().data(), out_.data(), c_.bytes().size());
    write_safetensors(path, {{"c", c_.view()}});
  }

 private:
  const std::vector<DeviceTensor>& at(int slot) const {
    return slots_[static_cast<std::size_t>(slot)];
  }

  ContractionPoint point_;
  DeviceTensor out_;
  Tensor c_;
  std::vector<Tensor> host_;
  std::array<std::vector<DeviceTensor>, 2> slots_;
  std::unique_ptr<engine::DeviceEngine> engine_;
  std::shared_ptr<const assay::einsum::Plan> plan_;
};

class DeviceEnergy : public DeviceWorkload {
 public:
  explicit DeviceEnergy(const Json& json) : point_(json), energy_(DType::kF64, Shape({3})) {
    const Shape shape({point_.nocc, point_.nvir, point_.naux});
    for (auto& slot : slots_) {
      slot = static_cast<double*>(
          memory_.allocate(static_cast<std::size_t>(shape.element_count()) * sizeof(double)));
    }
    output_bytes_ = energy_.bytes().size();
    output_ = memory_.allocate(output_bytes_);
  }
  std::map<std::string, double> metrics() const override {
    const std::size_t own = mp2_ ? mp2_->device_bytes() : 0;
    return {{"peak_device_memory", static_cast<double>(memory_.bytes() + own)}};
  }
  std::map<std::string, std::string> versions() const override {
    auto versions = DeviceWorkload::versions();
    if (mp2_) versions["cublas"] = mp2_->cublas_version();
    return versions;
  }

 protected:
  void fill(int slot, int set) override {
    const auto problem = make_problem(point_, set);
    kernels::cuda::copy_to_device(slots_[static_cast<std::size_t>(slot)], problem.b.bytes().data(),
                                  problem.b.bytes().size());
    if (!mp2_) {
      mp2_ = std::make_unique<engine::DeviceMp2>(problem.occupied, problem.virtuals, point_.naux);
    }
  }
  void enqueue(int slot, Stream stream) override {
    mp2_->enqueue(slots_[static_cast<std::size_t>(slot)], static_cast<double*>(output_), stream);
  }
  void write(const std::string& path) override {
    kernels::cuda::copy_to_host(energy_.bytes().data(), output_, output_bytes_);
    write_safetensors(path, {{"energy", energy_.view()}});
  }

 private:
  Mp2Point point_;
  Tensor energy_;
  std::array<double*, 2> slots_{};
  std::unique_ptr<engine::DeviceMp2> mp2_;
};

}  // namespace

void add_workloads(lab::WorkloadRegistry& w) {
  add_decomposition_workloads(w);
  for (const auto& [name, table] : contraction_tables()) {
    w.add(name, "assay", [table = table](const Json& point, int) {
      return in_terms_of_a_row([&]() -> std::unique_ptr<lab::Workload> {
        return std::make_unique<DeviceContraction>(point, *table);
      });
    });
  }
  w.add("mp2_energy", "assay", [](const Json& point, int) {
    return in_terms_of_a_row(
        [&]() -> std::unique_ptr<lab::Workload> { return std::make_unique<DeviceEnergy>(point); });
  });
}

}  // namespace assay::cases::einsum::cuda
