// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "compiler/cpu/cpu_kernels.h"
#include "compiler/cpu/gemv_kernels.h"
#include "compiler/cpu/product.h"
#include "compiler/cpu/region_share.h"
#include "kernels/memory/scratch.h"
#include "kernels/targets.h"
#include "kernels/threads/crew.h"

namespace assay::compiler {
namespace {

std::int64_t elements_of(const Kernel::Formal& formal, const Bindings& symbols) {
  std::int64_t count = 1;
  for (const auto& dim : formal.shape) count *= dim.at(symbols);
  return count;
}

// An access whose symbols have values: matrices along its last two axes.
struct Matrices {
  std::uint32_t operand = 0;
  DType dtype = DType::kF32;
  FixedView view;

  std::int64_t rows() const { return view.shape[view.shape.size() - 2]; }
  std::int64_t columns() const { return view.shape.back(); }
  Factor factor(std::span<std::byte* const> operands, std::int64_t batch) const {
    std::int64_t at = view.offset;
    for (std::size_t axis = view.shape.size() - 2; axis-- > 0;) {
      at += batch % view.shape[axis] * view.strides[axis];
      batch /= view.shape[axis];
    }
    return {operands[operand] + at * static_cast<std::int64_t>(size_of(dtype)), dtype,
            view.strides[view.strides.size() - 2], view.strides.back()};
  }
};
Matrices matrices_of(const Kernel& kernel, const Access& access, const Bindings& symbols) {
  const auto& formal = kernel.operands.at(access.operand);
  return {access.operand, formal.dtype, fixed(access.view, symbols, elements_of(formal, symbols))};
}

ProductOptions product_options() {
  return {.caches = kernels::read_cache_sizes(), .unit = kernels::pair_unit()};
}
ProductOptions with_threads(ProductOptions options, int threads) {
  options.threads = threads;
  return options;
}

// What becomes of sums that have no epilogue: a cast.
Region cast_of_sums(const Access& out, DType accumulate, DType to) {
  Region region;
  region.shape = out.view.shape;
  region.values.push_back({.op = Op::kInput, .dtype = accumulate});
  region.values.push_back({.op = Op::kCast, .dtype = to, .values = {0}});
  region.stores.push_back({1, out});
  return region;
}

// The same work on sums that are all there: they are an operand behind the kernel's own.
Region with_sums_as_operand(Region region, std::size_t operand) {
  region.values[0].access = {static_cast<std::uint32_t>(operand), View::contiguous(region.shape)};
  return region;
}
std::vector<Kernel::Formal> with_sums(std::vector<Kernel::Formal> operands, const Region& region) {
  operands.push_back({region.values[0].dtype, region.shape});
  return operands;
}

template <typename T>
class CpuMatmul final : public CpuKernel {
 public:
  explicit CpuMatmul(const Kernel& kernel)
      : kernel_(kernel),
        work_(std::get<Matmul>(kernel_.work)),
        epilogue_(work_.epilogue ? *work_.epilogue
                                 : cast_of_sums(work_.out, work_.accumulate,
                                                kernel_.operands.at(work_.out.operand).dtype)),
        tiles_(epilogue_, kernel_.operands, true),
        later_(with_sums_as_operand(epilogue_, kernel_.operands.size())),
        later_operands_(with_sums(kernel_.operands, epilogue_)),
        later_tiles_(later_, later_operands_, false),
        options_(product_options()) {
    options_.packs_both = kernel_.variant == 1;
  }

  std::int64_t scratch_bytes(const Bindings& symbols, int threads) override {
    bind(symbols);
    const int team = std::max(threads, 1);
    const auto sums = is_direct() ? 0 : m_ * n_ * static_cast<std::int64_t>(sizeof(T));
    const auto later = is_later() ? sums_bytes() + region_bytes(later_tiles_, team) : 0;
    return (sums + tiles_.worker_bytes()) * team + later;
  }

  void run(const Bindings& symbols, std::span<std::byte* const> operands, int threads) override {
    bind(symbols);
    if (m_ == 0 || n_ == 0 || batches_ == 0) return;
    const int team = std::max(threads, 1);
    // Many small products side by side; one large one shared.
    const bool apart = batches_ > 1 && m_ * n_ * std::max<std::int64_t>(k_, 1) < (1 << 21);
    const int workers = apart ? region_team(batches_ * m_ * n_ * k_, team) : 1;
    const int inner = apart ? 1 : team;
    const bool takes = !is_direct() && !is_later();
    const kernels::AlignedArray<std::byte> memory(
        takes ? region_bytes(tiles_, std::max(workers, inner)) : 0);
    const kernels::AlignedArray<T> sums(is_later() ? batches_ * m_ * n_ : 0);
    const auto one = [&](std::int64_t batch, int worker) {
      SumsSink<T> sink;
      const Epilogue epilogue(*this, operands, batch,
                              memory.data() + region_bytes(tiles_, 1) * worker);
      if (is_direct()) {
        const auto out = out_->factor(operands, batch);
        sink.data = reinterpret_cast<T*>(const_cast<std::byte*>(out.data));
        sink.stride = out.row_stride;
      } else if (is_later()) {
        sink.data = sums.data() + batch * m_ * n_;
        sink.stride = n_;
      } else {
        sink.taker = &epilogue;
      }
      multiply<T>(a_.factor(operands, batch), b_.factor(operands, batch), m_, k_, n_, sink,
                  with_threads(options_, inner));
    };
    if (!apart) {
      for (std::int64_t batch = 0; batch < batches_; ++batch) one(batch, 0);
    } else {
      std::atomic<std::int64_t> next = 0;
      kernels::share_work(workers, [&](int worker) noexcept {
        for (;;) {
          const std::int64_t batch = next.fetch_add(1, std::memory_order_relaxed);
          if (batch >= batches_) return;
          one(batch, worker);
        }
      });
    }
    if (is_later()) run_later(operands, sums.data(), team);
  }

  std::string unit(const Bindings& symbols) override {
    bind(symbols);
    const std::vector<std::byte*> nowhere(kernel_.operands.size());
    const auto form = form_of(a_.factor(nowhere, 0), b_.factor(nowhere, 0), m_, k_, n_, options_);
    const bool is_paired = std::is_same_v<T, float> && form == ProductForm::kPaired;
    return is_paired ? std::string(options_.unit->name) : kernels::instruction_sets().front().name;
  }

 private:
  // What is done with sums of one batch, by workers with memory one after the other.
  class Epilogue final : public SumsTaker<T> {
   public:
    Epilogue(const CpuMatmul& of, std::span<std::byte* const> operands, std::int64_t batch,
             std::byte* memory)
        : of_(of), operands_(operands), batch_(batch), memory_(memory) {}
    void take(const SumsBlock<T>& block) const noexcept override {
      const GivenElements given{reinterpret_cast<const std::byte*>(block.sums), block.stride,
                                sizeof(T)};
      of_.tiles_.run({batch_ * of_.m_ + block.row, block.rows, block.column, block.columns},
                     operands_, given, memory_ + of_.tiles_.worker_bytes() * block.worker);
    }

   private:
    const CpuMatmul& of_;
    const std::span<std::byte* const> operands_;
    const std::int64_t batch_;
    std::byte* const memory_;
  };

  void run_later(std::span<std::byte* const> operands, T* sums, int threads) const {
    std::vector<std::byte*> all(operands.begin(), operands.end());
    all.push_back(reinterpret_cast<std::byte*>(sums));
    const RegionTiles::Block block{0, later_tiles_.rows(), 0, later_tiles_.columns()};
    const int team = region_team(block.rows * block.columns, threads);
    const kernels::AlignedArray<std::byte> memory(region_bytes(later_tiles_, team));
    share_region(later_tiles_, block, all, {}, memory.data(), team);
  }

  void bind(const Bindings& symbols) {
    if (bound_ == symbols) return;
    bound_.reset();
    a_ = matrices_of(kernel_, work_.a, symbols);
    b_ = matrices_of(kernel_, work_.b, symbols);
    out_.reset();
    if (!work_.epilogue) out_ = matrices_of(kernel_, work_.out, symbols);
    m_ = a_.rows();
    k_ = a_.columns();
    n_ = b_.columns();
    batches_ = std::accumulate(a_.view.shape.begin(), a_.view.shape.end() - 2, std::int64_t{1},
                               std::multiplies<>());
    if (is_later()) {
      later_tiles_.bind(symbols);
    } else {
      tiles_.bind(symbols);
    }
    bound_ = symbols;
  }
  std::int64_t sums_bytes() const {
    return batches_ * m_ * n_ * static_cast<std::int64_t>(sizeof(T));
  }
  // Whether what follows on sums waits until they are all there: elements are then taken without
  // regard to rows, which costs a fraction where those are short. Worth it while they still are in
  // a cache, or where rows are so short that taking them in turn costs more than memory does.
  bool is_later() const {
    return !is_direct() && (sums_bytes() <= options_.caches.l2 / 2 || n_ <= kMostGemvRows);
  }
  // Whether sums can be made where the result belongs.
  bool is_direct() const {
    return out_ && out_->dtype == kDTypeOf<T> && (out_->view.strides.back() == 1 || n_ == 1);
  }

  const Kernel kernel_;
  const Matmul& work_;
  const Region epilogue_;
  RegionTiles tiles_;
  const Region later_;
  const std::vector<Kernel::Formal> later_operands_;
  RegionTiles later_tiles_;
  ProductOptions options_;
  Matrices a_, b_;
  std::optional<Matrices> out_;
  std::int64_t m_ = 0, k_ = 0, n_ = 0, batches_ = 0;
  std::optional<Bindings> bound_;
};

// Rows are put in order of their experts; each expert's matrix is multiplied by its rows, where it
// lies.
template <typename T>
class CpuGroupedMatmul final : public CpuKernel {
 public:
  explicit CpuGroupedMatmul(const Kernel& kernel)
      : kernel_(kernel),
        work_(std::get<GroupedMatmul>(kernel_.work)),
        options_(product_options()) {}

  std::int64_t scratch_bytes(const Bindings& symbols, int) override {
    bind(symbols);
    return rows() * (a_.columns() * static_cast<std::int64_t>(size_of(a_.dtype)) +
                     weights_.columns() * static_cast<std::int64_t>(sizeof(T)) + 16);
  }

  void run(const Bindings& symbols, std::span<std::byte* const> operands, int threads) override {
    bind(symbols);
    const std::int64_t k = a_.columns(), n = weights_.columns(), experts = weights_.view.shape[0];
    if (rows() == 0 || n == 0) return;
    const kernels::AlignedArray<T> sums(rows() * n);
    std::vector<std::pair<std::int64_t, std::int64_t>> order;  // expert, row
    for (std::int64_t t = 0; t < rows(); ++t)
      order.emplace_back(std::clamp<std::int64_t>(expert_of(operands, t), 0, experts - 1), t);
    std::ranges::sort(order);
    const auto a = a_.factor(operands, 0);
    const auto out = matrices_of(kernel_, work_.out, symbols).factor(operands, 0);
    const auto size = static_cast<std::int64_t>(size_of(a.dtype));
    const auto out_size = static_cast<std::int64_t>(size_of(out.dtype));
    const TileOp narrow = tile_ops().find(Op::kCast, kDTypeOf<T>, out.dtype, 0);
    const kernels::AlignedArray<std::byte> ordered(rows() * k * size), row(n * out_size);
    for (std::int64_t i = 0; i < rows(); ++i) {
      const auto t = order[static_cast<std::size_t>(i)].second;
      move_elements(size_of(a.dtype), a.data + t * a.row_stride * size, a.column_stride,
                    ordered.data() + i * k * size, 1, k);
    }
    for (std::int64_t begin = 0, end = 0; begin < rows(); begin = end) {
      const auto expert = order[static_cast<std::size_t>(begin)].first;
      while (end < rows() && order[static_cast<std::size_t>(end)].first == expert) ++end;
      multiply<T>(Factor{ordered.data() + begin * k * size, a.dtype, k, 1},
                  weights_.factor(operands, expert), end - begin, k, n,
                  {sums.data() + begin * n, n}, with_threads(options_, std::max(threads, 1)));
    }
    for (std::int64_t i = 0; i < rows(); ++i) {
      const auto t = order[static_cast<std::size_t>(i)].second;
      const void* in[3] = {sums.data() + i * n, nullptr, nullptr};
      narrow(in, row.data(), n);
      move_elements(size_of(out.dtype), row.data(), 1,
                    const_cast<std::byte*>(out.data) + t * out.row_stride * out_size,
                    out.column_stride, n);
    }
  }

 private:
  std::int64_t rows() const { return a_.rows(); }
  std::int64_t expert_of(std::span<std::byte* const> operands, std::int64_t t) const {
    const auto& formal = kernel_.operands.at(work_.expert.operand);
    const std::int64_t at = expert_.offset + t * expert_.strides[0];
    const std::byte* data = operands[work_.expert.operand];
    return formal.dtype == DType::kI32 ? reinterpret_cast<const std::int32_t*>(data)[at]
                                       : reinterpret_cast<const std::int64_t*>(data)[at];
  }
  void bind(const Bindings& symbols) {
    if (bound_ == symbols) return;
    bound_.reset();
    a_ = matrices_of(kernel_, work_.a, symbols);
    weights_ = matrices_of(kernel_, work_.weights, symbols);
    const auto& formal = kernel_.operands.at(work_.expert.operand);
    expert_ = fixed(work_.expert.view, symbols, elements_of(formal, symbols));
    bound_ = symbols;
  }

  const Kernel kernel_;
  const GroupedMatmul& work_;
  const ProductOptions options_;
  Matrices a_, weights_;
  FixedView expert_;
  std::optional<Bindings> bound_;
};

// f32 factors or narrower for f32 sums; anything for f64.
bool can_multiply(DType a, DType b, DType accumulate) {
  const auto fits = [&](DType dtype) {
    return is_floating(dtype) && (accumulate == DType::kF64 || dtype != DType::kF64);
  };
  return is_floating(accumulate) && fits(a) && fits(b);
}

}  // namespace

std::uint32_t cpu_matmul_variants(const Kernel& kernel) {
  const auto& work = std::get<Matmul>(kernel.work);
  if (work.accumulate != DType::kF32) return 1;
  // Few rows or columns have one form (product.h); more of them that of x Wᵀ, or packed panels of
  // both factors.
  const auto are_few = [](const Dim& count) {
    return count.constant().value_or(kMostGemvRows + 1) <= kMostGemvRows;
  };
  if (are_few(work.a.view.shape[work.a.view.rank() - 2]) || are_few(work.b.view.shape.back()))
    return 1;
  const auto& strides = work.b.view.strides;
  const bool is_plain = strides.back().is(1) || strides[strides.size() - 2].is(1);
  return is_plain ? 2 : 1;
}

std::unique_ptr<CpuKernel> prepare_cpu_matmul(const Kernel& kernel) {
  const auto& work = std::get<Matmul>(kernel.work);
  const auto dtype = [&](const Access& access) { return kernel.operands.at(access.operand).dtype; };
  if (!can_multiply(dtype(work.a), dtype(work.b), work.accumulate)) return nullptr;
  if (work.accumulate == DType::kF64) return std::make_unique<CpuMatmul<double>>(kernel);
  if (work.accumulate == DType::kF32) return std::make_unique<CpuMatmul<float>>(kernel);
  return nullptr;
}

std::unique_ptr<CpuKernel> prepare_cpu_grouped_matmul(const Kernel& kernel) {
  const auto& work = std::get<GroupedMatmul>(kernel.work);
  const auto dtype = [&](const Access& access) { return kernel.operands.at(access.operand).dtype; };
  if (!can_multiply(dtype(work.a), dtype(work.weights), work.accumulate)) return nullptr;
  if (work.accumulate == DType::kF64) return std::make_unique<CpuGroupedMatmul<double>>(kernel);
  if (work.accumulate == DType::kF32) return std::make_unique<CpuGroupedMatmul<float>>(kernel);
  return nullptr;
}

}  // namespace assay::compiler
