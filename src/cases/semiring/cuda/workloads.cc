// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/cuda/workloads.h"

#include <array>
#include <cmath>

#include "base/error.h"
#include "cases/cuda/device_workload.h"
#include "cases/semiring/edge_inputs.h"
#include "cases/semiring/matmul_inputs.h"
#include "kernels/cuda/libraries.h"
#include "semiring/cuda/edges.h"
#include "semiring/cuda/matmul.h"
#include "tensor/safetensors.h"

namespace assay::cases::semiring::cuda {
namespace {

namespace engine = assay::semiring::cuda;
using cases::cuda::DeviceWorkload;
using cases::cuda::in_terms_of_a_row;
using kernels::cuda::Stream;

engine::Scalar scalar_of(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return engine::Scalar::kF16;
    case DType::kBF16:
      return engine::Scalar::kBF16;
    case DType::kF32:
      return engine::Scalar::kF32;
    case DType::kF64:
      return engine::Scalar::kF64;
    default:
      return engine::Scalar::kBool;
  }
}

void put(void* to, const Tensor& from) {
  kernels::cuda::copy_to_device(to, from.bytes().data(), from.bytes().size());
}
void take(Tensor& to, const void* from) {
  kernels::cuda::copy_to_host(to.bytes().data(), from, to.bytes().size());
}

// Inputs and output of a product; how it is made is the provider's affair.
class Product : public DeviceWorkload {
 public:
  explicit Product(const Json& point)
      : point_(point), host_(point_), c_(point_.dtype, Shape({point_.m, point_.n})) {
    const auto bytes = [&](const Tensor& x) {
      return static_cast<std::size_t>(x.element_count()) * size_of(point_.inputs);
    };
    for (auto& slot : slots_) {
      slot = {memory_.allocate(bytes(host_.a)), memory_.allocate(bytes(host_.b))};
    }
    output_bytes_ = c_.bytes().size();
    output_ = memory_.allocate(output_bytes_);
  }

 protected:
  struct Slot {
    void *a = nullptr, *b = nullptr;
  };

  void fill(int slot, int set) override {
    fill_inputs(point_, set, host_);
    const auto send = [&](void* to, const Tensor& x) {
      point_.inputs == point_.dtype ? put(to, x)
                                    : put(to, Tensor::converted(x.view(), point_.inputs));
    };
    send(at(slot).a, host_.a);
    send(at(slot).b, host_.b);
  }
  void write(const std::string& path) override {
    take(c_, output_);
    write_safetensors(path, {{"c", c_.view()}});
  }
  const Slot& at(int slot) const { return slots_[static_cast<std::size_t>(slot)]; }

  MatmulPoint point_;

 private:
  MatmulInputs host_;
  Tensor c_;
  std::array<Slot, 2> slots_;
};

class AssayProduct : public Product {
 public:
  explicit AssayProduct(const Json& point) : Product(point) {
    matmul_.algebra = point_.algebra;
    matmul_.scalar = scalar_of(point_.inputs);
    matmul_.m = point_.m;
    matmul_.k = point_.k;
    matmul_.n = point_.n;
    matmul_.a_strides = {point_.k, 1};
    matmul_.b_strides = matmul_.c_strides = {point_.n, 1};
    matmul_.c = output_;
    if (point_.algebra == Algebra::kReal && point_.inputs != point_.dtype) {
      library_ = std::make_unique<kernels::cuda::Cublas>(nullptr);
      matmul_.library = library_.get();
    }
    workspace_ = memory_.allocate(engine::workspace_bytes(matmul_));
    refused_ = static_cast<std::int64_t*>(memory_.allocate(sizeof(std::int64_t)));
  }

  std::map<std::string, std::string> versions() const override {
    auto versions = Product::versions();
    if (library_) versions["cublas"] = library_->version();
    return versions;
  }
  std::map<std::string, double> metrics() const override {
    auto metrics = Product::metrics();
    if (recomputed_) metrics["recomputed_share"] = *recomputed_;
    return metrics;
  }

 protected:
  void enqueue(int slot, Stream stream) override { product(slot, stream, nullptr); }
  // The judged call was timed like every other; a further one counts what was computed again.
  void write(const std::string& path) override {
    Product::write(path);
    const bool certified = point_.algebra != Algebra::kBoolean && point_.dtype == DType::kF32;
    if (!certified) return;
    kernels::cuda::Clock clock;
    std::int64_t refused = 0;
    product(last_slot_, clock.stream(), refused_);
    clock.begin();
    clock.end();
    kernels::cuda::copy_to_host(&refused, refused_, sizeof refused);
    recomputed_ = static_cast<double>(refused) / static_cast<double>(point_.m * point_.n);
  }

 private:
  void product(int slot, Stream stream, std::int64_t* refused) {
    last_slot_ = slot;
    auto matmul = matmul_;
    matmul.a = at(slot).a;
    matmul.b = at(slot).b;
    engine::matmul(matmul, workspace_, stream, refused);
  }

  std::unique_ptr<kernels::cuda::Cublas> library_;
  engine::Matmul matmul_{};
  void* workspace_ = nullptr;
  std::int64_t* refused_ = nullptr;
  int last_slot_ = 0;
  std::optional<double> recomputed_;
};

class CublasProduct : public Product {
 public:
  using Product::Product;
  std::map<std::string, std::string> versions() const override {
    auto versions = Product::versions();
    if (cublas_) versions["cublas"] = cublas_->version();
    return versions;
  }

 protected:
  void enqueue(int slot, Stream stream) override {
    if (!cublas_) cublas_ = std::make_unique<kernels::cuda::Cublas>(stream);
    const int m = static_cast<int>(point_.m), n = static_cast<int>(point_.n),
              k = static_cast<int>(point_.k);
    const auto multiply = [&]<typename T>(T*) {
      cublas_->gemm(m, n, k, static_cast<const T*>(at(slot).a), static_cast<const T*>(at(slot).b),
                    static_cast<T*>(output_));
    };
    point_.dtype == DType::kF32 ? multiply(static_cast<float*>(nullptr))
                                : multiply(static_cast<double*>(nullptr));
  }

 private:
  std::unique_ptr<kernels::cuda::Cublas> cublas_;
};

class AssayEdges : public DeviceWorkload {
 public:
  explicit AssayEdges(const Json& point)
      : point_(point), host_(point_), out_(point_.dtype, Shape({point_.n, point_.d})) {
    for (auto& slot : slots_) {
      slot = {memory_.allocate(host_.v.bytes().size()), memory_.allocate(host_.idx.bytes().size()),
              memory_.allocate(host_.x.bytes().size()), memory_.allocate(host_.w.bytes().size())};
    }
    output_bytes_ = out_.bytes().size();
    output_ = memory_.allocate(output_bytes_);
    edges_.is_max = point_.reduce == assay::semiring::EdgeReduce::kMax;
    edges_.scalar = scalar_of(point_.dtype);
    edges_.rows = edges_.sources = point_.n;
    edges_.slots = point_.k;
    edges_.features = edges_.outputs = point_.d;
    edges_.v_strides = edges_.idx_strides = {point_.k, 1};
    edges_.x_strides = edges_.w_strides = edges_.out_strides = {point_.d, 1};
    edges_.out = output_;
    point_edges_at(0);  // its boundaries decide what is faster
    workspace_ = memory_.allocate(engine::workspace_bytes(edges_));
  }

 protected:
  void fill(int slot, int set) override {
    fill_inputs(point_, set, host_);
    const auto& to = slots_[static_cast<std::size_t>(slot)];
    put(to.v, host_.v);
    put(to.idx, host_.idx);
    put(to.x, host_.x);
    put(to.w, host_.w);
  }
  void enqueue(int slot, Stream stream) override {
    point_edges_at(slot);
    engine::aggregate_edges(edges_, workspace_, stream);
  }
  void write(const std::string& path) override {
    take(out_, output_);
    write_safetensors(path, {{"out", out_.view()}});
  }

 private:
  struct Slot {
    void *v = nullptr, *idx = nullptr, *x = nullptr, *w = nullptr;
  };
  void point_edges_at(int slot) {
    const auto& at = slots_[static_cast<std::size_t>(slot)];
    edges_.v = at.v;
    edges_.idx = static_cast<const std::int32_t*>(at.idx);
    edges_.x = at.x;
    edges_.w = at.w;
  }

  EdgePoint point_;
  EdgeInputs host_;
  Tensor out_;
  std::array<Slot, 2> slots_;
  engine::Edges edges_{};
  void* workspace_ = nullptr;
};

template <typename W>
std::unique_ptr<lab::Workload> make(const Json& point, int) {
  return in_terms_of_a_row(
      [&]() -> std::unique_ptr<lab::Workload> { return std::make_unique<W>(point); });
}

}  // namespace

void add_workloads(lab::WorkloadRegistry& workloads) {
  for (const char* name : {"semiring_matmul", "dense_matmul"}) {
    workloads.add(name, "assay", make<AssayProduct>);
    workloads.add(name, "cublas", make<CublasProduct>);
  }
  workloads.add("ell_edge_aggregate", "assay", make<AssayEdges>);
}

std::string smoke() {
  constexpr int kSide = 65;
  kernels::cuda::Memory memory;
  const std::vector<float> ones(kSide * kSide, 1.0f);
  std::vector<float> c(kSide * kSide, 0.0f);
  const std::size_t bytes = ones.size() * sizeof(float);
  engine::Matmul matmul{};
  matmul.algebra = Algebra::kReal;
  matmul.scalar = engine::Scalar::kF32;
  matmul.m = matmul.k = matmul.n = kSide;
  matmul.a_strides = matmul.b_strides = matmul.c_strides = {kSide, 1};
  void* const factor = memory.allocate(bytes);
  matmul.a = matmul.b = factor;
  matmul.c = memory.allocate(bytes);
  kernels::cuda::copy_to_device(factor, ones.data(), bytes);
  void* const workspace = memory.allocate(engine::workspace_bytes(matmul));
  kernels::cuda::Clock clock;
  clock.begin();
  engine::matmul(matmul, workspace, clock.stream());
  clock.end();
  kernels::cuda::copy_to_host(c.data(), matmul.c, bytes);
  for (const float value : c) {
    if (std::abs(value - kSide) > 1e-3f) {
      throw EnvironmentError(
          fmt::format("the device says that {} ones add up to {}", kSide, value));
    }
  }
  const auto facts = kernels::cuda::device_facts();
  return canonical_json({{"name", facts.name},
                         {"compute_capability", fmt::format("{}.{}", facts.major, facts.minor)},
                         {"multiprocessors", facts.multiprocessors},
                         {"l2_bytes", facts.l2_bytes},
                         {"memory_bytes", facts.memory_bytes},
                         {"cuda_runtime", kernels::cuda::version_text(facts.runtime)},
                         {"cuda_driver", kernels::cuda::version_text(facts.driver)}});
}

}  // namespace assay::cases::semiring::cuda
