// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0

// How fast the CPU kernels are beside this machine's own limits, measured in turns:
//   cpu_kernels_bench [threads] [rounds] [part of a name]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/memory.h"
#include "compiler/cpu/cpu_kernel.h"
#include "compiler/graph/dtypes.h"
#include "kernels/peaks/peak_kernels.h"
#include "kernels/peaks/peaks.h"
#include "kernels/threads/crew.h"
#include "kernels/tiles/blocking.h"

namespace assay::compiler {
namespace {

double seconds_of(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// A kernel with buffers of its own.
class Subject {
 public:
  Kernel kernel;
  std::string name;
  double bytes = 0, flops = 0;

  std::uint32_t add(DType dtype, const std::vector<std::int64_t>& shape, bool is_written = false) {
    kernel.operands.push_back({dtype, {shape.begin(), shape.end()}, is_written});
    double count = 1;
    for (const auto extent : shape) count *= static_cast<double>(extent);
    bytes += count * static_cast<double>(size_of(dtype));
    return static_cast<std::uint32_t>(kernel.operands.size() - 1);
  }
  Access whole(std::uint32_t operand) const {
    return {operand, View::contiguous(kernel.operands[operand].shape)};
  }
  // Memory is taken by those that are asked for.
  void prepare() {
    prepared_ = prepare_cpu_kernel(kernel);
    for (const auto& formal : kernel.operands) data_.push_back(filled(formal));
    for (auto& data : data_) operands_.push_back(data.get());
  }
  double run(int threads) {
    const int calls = bytes < 4e6 ? 100 : 1;
    return seconds_of([&] {
             for (int call = 0; call < calls; ++call) prepared_->run({}, operands_, threads);
           }) /
           calls;
  }
  // The time that the kernel's largest operand takes to be read and added up, as it lies.
  double read(int threads) {
    std::size_t largest = 0;
    for (std::size_t i = 0; i < data_.size(); ++i) {
      if (bytes_of(i) > bytes_of(largest)) largest = i;
    }
    const auto& kernels = kernels::peak_kernels(float{});
    constexpr std::int64_t kPiece = 1 << 16;  // floats: a quarter of a megabyte
    const auto count = bytes_of(largest) / static_cast<std::int64_t>(sizeof(float));
    const auto* from = reinterpret_cast<const float*>(data_[largest].get());
    std::vector<float> sums(static_cast<std::size_t>(kernels::divide_up(count, kPiece)));
    return seconds_of([&] {
      kernels::share_items(threads, std::ssize(sums), [&](std::int64_t piece) noexcept {
        const auto some = std::min(kPiece, count - piece * kPiece) / 256 * 256;
        sums[static_cast<std::size_t>(piece)] = kernels.read(from + piece * kPiece, some);
      });
    });
  }

 private:
  std::int64_t bytes_of(std::size_t i) const {
    std::int64_t count = 1;
    for (const auto& extent : kernel.operands[i].shape) count *= extent.at({});
    return count * static_cast<std::int64_t>(size_of(kernel.operands[i].dtype));
  }
  static AlignedBlock<std::byte> filled(const Kernel::Formal& formal) {
    std::size_t count = 1;
    for (const auto& extent : formal.shape) count *= static_cast<std::size_t>(extent.at({}));
    const auto size = size_of(formal.dtype);
    auto data = aligned_block<std::byte>(count * size);
    for (std::size_t i = 0; i < count; ++i) {
      const auto bits = bits_of(formal.dtype, 0.25 * static_cast<double>(i % 13) - 1.5);
      std::copy_n(reinterpret_cast<const std::byte*>(&bits), size, data.get() + i * size);
    }
    return data;
  }

  std::unique_ptr<CpuKernel> prepared_;
  std::vector<AlignedBlock<std::byte>> data_;
  std::vector<std::byte*> operands_;
};

using V = Region::Value;

Subject chain(DType dtype, const std::string& name, std::vector<Op> ops, std::int64_t n) {
  Subject s;
  s.name = fmt::format("{} {}{}", name, name_of(dtype), n < 1 << 20 ? " in cache" : "");
  const auto x = s.add(dtype, {n}), y = s.add(dtype, {n}), out = s.add(dtype, {n}, true);
  Region region{.shape = {n}};
  region.values = {V{.op = Op::kInput, .dtype = dtype, .access = s.whole(x)},
                   V{.op = Op::kInput, .dtype = dtype, .access = s.whole(y)}};
  std::uint32_t last = 0;
  for (const Op op : ops) {
    V value{.op = op, .dtype = dtype, .values = {last}};
    if (op == Op::kAdd || op == Op::kMul || op == Op::kMax) value.values.push_back(1);
    region.values.push_back(value);
    last = static_cast<std::uint32_t>(region.values.size() - 1);
  }
  region.stores = {{last, s.whole(out)}};
  s.kernel.work = region;
  return s;
}

// What cases/llm's graphs of 16 bits become: operands widened, all in f32, one rounding at the end.
Subject widened_chain(DType dtype, const std::string& name, std::vector<Op> ops, std::int64_t n) {
  Subject s;
  s.name = fmt::format("{} in f32 of {}{}", name, name_of(dtype), n < 1 << 20 ? " in cache" : "");
  const auto x = s.add(dtype, {n}), y = s.add(dtype, {n}), out = s.add(dtype, {n}, true);
  const DType f = DType::kF32;
  Region region{.shape = {n}};
  region.values = {V{.op = Op::kInput, .dtype = dtype, .access = s.whole(x)},
                   V{.op = Op::kInput, .dtype = dtype, .access = s.whole(y)},
                   V{.op = Op::kCast, .dtype = f, .values = {0}},
                   V{.op = Op::kCast, .dtype = f, .values = {1}}};
  std::uint32_t last = 2;
  for (const Op op : ops) {
    V value{.op = op, .dtype = f, .values = {last}};
    if (op == Op::kAdd || op == Op::kMul || op == Op::kMax) value.values.push_back(3);
    region.values.push_back(value);
    last = static_cast<std::uint32_t>(region.values.size() - 1);
  }
  region.values.push_back(V{.op = Op::kCast, .dtype = dtype, .values = {last}});
  region.stores = {{static_cast<std::uint32_t>(region.values.size() - 1), s.whole(out)}};
  s.kernel.work = region;
  return s;
}

Subject softmax(DType dtype, std::int64_t rows, std::int64_t length) {
  Subject s;
  s.name = fmt::format("softmax {} {}x{}", name_of(dtype), rows, length);
  const auto x = s.add(dtype, {rows, length}), out = s.add(dtype, {rows, length}, true);
  const DType f = DType::kF32;
  Region r{.shape = {rows, length}};
  r.values = {V{.op = Op::kInput, .dtype = dtype, .access = s.whole(x)},
              V{.op = Op::kCast, .dtype = f, .values = {0}},
              V{.op = Op::kMaxReduce, .dtype = f, .of_row = true, .values = {1}},
              V{.op = Op::kConst, .dtype = f, .of_row = true, .bits = bits_of(f, -1)},
              V{.op = Op::kMul, .dtype = f, .of_row = true, .values = {2, 3}},
              V{.op = Op::kAdd, .dtype = f, .values = {1, 4}},
              V{.op = Op::kConst, .dtype = f, .bits = bits_of(f, 1.44269504)},
              V{.op = Op::kMul, .dtype = f, .values = {5, 6}},
              V{.op = Op::kExp2, .dtype = f, .values = {7}},
              V{.op = Op::kSum, .dtype = f, .of_row = true, .values = {8}},
              V{.op = Op::kRecip, .dtype = f, .of_row = true, .values = {9}},
              V{.op = Op::kMul, .dtype = f, .values = {8, 10}},
              V{.op = Op::kCast, .dtype = dtype, .values = {11}}};
  r.stores = {{12, s.whole(out)}};
  s.kernel.work = r;
  return s;
}

// Sums of columns.
Subject sum_down(DType dtype, std::int64_t rows, std::int64_t columns) {
  Subject s;
  s.name = fmt::format("sum down {} {}x{}", name_of(dtype), rows, columns);
  const auto x = s.add(dtype, {rows, columns}), out = s.add(DType::kF32, {columns}, true);
  const DType f = DType::kF32;
  Region r{.shape = {columns, rows}};
  const Access turned{x, View::contiguous({rows, columns}).permute({1, 0})};
  r.values = {V{.op = Op::kInput, .dtype = dtype, .access = turned},
              V{.op = Op::kCast, .dtype = f, .values = {0}},
              V{.op = Op::kSum, .dtype = f, .of_row = true, .values = {1}}};
  r.stores = {{2, s.whole(out)}};
  s.kernel.work = r;
  return s;
}

// The greatest of a few neighbours.
Subject greatest(DType dtype, std::int64_t rows, std::int64_t columns) {
  Subject s;
  s.name = fmt::format("greatest {} {}x{}", name_of(dtype), rows, columns);
  const auto x = s.add(dtype, {rows, columns}), out = s.add(dtype, {rows}, true);
  Region r{.shape = {rows, columns}};
  r.values = {V{.op = Op::kInput, .dtype = dtype, .access = s.whole(x)},
              V{.op = Op::kMaxReduce, .dtype = dtype, .of_row = true, .values = {0}}};
  r.stores = {{1, s.whole(out)}};
  s.kernel.work = r;
  return s;
}

Subject transposed(DType dtype, std::int64_t rows, std::int64_t columns) {
  Subject s;
  s.name = fmt::format("transposed {} {}x{}", name_of(dtype), rows, columns);
  const auto x = s.add(dtype, {rows, columns}), out = s.add(dtype, {columns, rows}, true);
  Region r{.shape = {columns, rows}};
  const Access turned{x, View::contiguous({rows, columns}).permute({1, 0})};
  r.values = {V{.op = Op::kInput, .dtype = dtype, .access = turned},
              V{.op = Op::kAdd, .dtype = dtype, .values = {0, 0}}};
  r.stores = {{1, s.whole(out)}};
  s.kernel.work = r;
  return s;
}

Subject product(DType dtype, std::int64_t m, std::int64_t k, std::int64_t n, bool transposed) {
  Subject s;
  s.name = fmt::format("matmul {} {}x{}x{}{}", name_of(dtype), m, k, n, transposed ? " bT" : "");
  const auto a = s.add(dtype, {m, k});
  const auto b =
      s.add(dtype, transposed ? std::vector<std::int64_t>{n, k} : std::vector<std::int64_t>{k, n});
  const auto out = s.add(dtype, {m, n}, true);
  auto view = View::contiguous(s.kernel.operands[b].shape);
  if (transposed) view = view.permute({1, 0});
  s.kernel.work = Matmul{.a = s.whole(a), .b = {b, view}, .out = s.whole(out)};
  s.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  return s;
}

Subject attention(std::int64_t heads, std::int64_t group, std::int64_t queries, std::int64_t keys) {
  Subject s;
  const std::int64_t d = 64;
  s.name = fmt::format("attention bf16 {}x{} heads, {} of {}", heads, group, queries, keys);
  const auto q = s.add(DType::kBF16, {heads, group, queries, d});
  const auto k = s.add(DType::kBF16, {heads, keys, d}), v = s.add(DType::kBF16, {heads, keys, d});
  const auto out = s.add(DType::kBF16, {heads, group, queries, d}, true);
  const View shared{{heads, group, keys, d}, {keys * d, 0, d, 1}, 0};
  s.kernel.work = Attention{.q = s.whole(q),
                            .k = {k, shared},
                            .v = {v, shared},
                            .out = s.whole(out),
                            .scale = 0.125,
                            .causal = true,
                            .offset = keys - queries};
  s.flops = 4.0 * static_cast<double>(heads * group * queries * keys * d);
  return s;
}

// What memory does for loops over three arrays of 2²⁴ floats, by whoever is free.
class Memory {
 public:
  // Pieces of microseconds: all threads end together. One that waits for a millisecond is asleep
  // when the subject begins, which then runs by itself for a tenth of that.
  static constexpr std::int64_t kSize = 1 << 24, kPieces = 256;

  Memory() {
    for (float* array : {a_.get(), b_.get(), y_.get()}) std::fill_n(array, kSize, 1.0f);
  }
  // Bytes per second of y = a + 3·b, with stores of either kind.
  double triad(int threads, bool streamed) const {
    const auto& kernels = kernels::peak_kernels(float{});
    const auto triad = streamed ? kernels.triad_streamed : kernels.triad;
    return rate_of(threads, [&](std::int64_t at) {
      triad(a_.get() + at, b_.get() + at, y_.get() + at, kSize / kPieces);
    });
  }
  // Likewise of sums of all three.
  double read(int threads) const {
    const auto& kernels = kernels::peak_kernels(float{});
    std::vector<float> sums(kPieces);
    return rate_of(threads, [&](std::int64_t at) {
      for (const float* array : {a_.get(), b_.get(), y_.get()})
        sums[static_cast<std::size_t>(at / (kSize / kPieces))] +=
            kernels.read(array + at, kSize / kPieces);
    });
  }

 private:
  template <typename F>
  static double rate_of(int threads, const F& f) {
    return 12.0 * kSize / seconds_of([&] {
             kernels::share_items(threads, kPieces, [&](std::int64_t piece) noexcept {
               f(piece * (kSize / kPieces));
             });
           });
  }

  AlignedBlock<float> a_ = aligned_block<float>(kSize), b_ = aligned_block<float>(kSize),
                      y_ = aligned_block<float>(kSize);
};

// The median of shares, and what it lies between 19 times out of 20 (ranks of a binomial).
std::string share_of(std::vector<double> x) {
  std::ranges::sort(x);
  const auto n = static_cast<double>(x.size());
  const auto low =
      static_cast<std::size_t>(std::max(0.0, std::floor((n - 1.96 * std::sqrt(n)) / 2)));
  return fmt::format("{:4.0f} % [{:3.0f}, {:3.0f}]", 100 * x[x.size() / 2], 100 * x[low],
                     100 * x[x.size() - 1 - low]);
}

void run_bench(int threads, int rounds, const std::string& filter) {
  std::vector<Subject> subjects;
  const auto add = [&](Subject s) {
    if (s.name.find(filter) != std::string::npos) subjects.push_back(std::move(s));
  };
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const std::int64_t n : {1 << 24, 1 << 14}) {
      add(chain(dtype, "add", {Op::kAdd}, n));
      add(chain(dtype, "add,mul,max", {Op::kAdd, Op::kMul, Op::kMax}, n));
      add(chain(dtype, "add,mul,max,add,mul", {Op::kAdd, Op::kMul, Op::kMax, Op::kAdd, Op::kMul},
                n));
      add(chain(dtype, "add,sin,sqrt", {Op::kAdd, Op::kSin, Op::kSqrt}, n));
      if (dtype == DType::kBF16) {
        add(widened_chain(dtype, "add", {Op::kAdd}, n));
        add(widened_chain(dtype, "add,sin", {Op::kAdd, Op::kSin}, n));
        add(widened_chain(dtype, "add,sqrt", {Op::kAdd, Op::kSqrt}, n));
        add(widened_chain(dtype, "add,sin,sqrt", {Op::kAdd, Op::kSin, Op::kSqrt}, n));
      }
    }
    add(softmax(dtype, 4096, 4096));
    add(sum_down(dtype, 4096, 4096));
    add(sum_down(dtype, 64, 1 << 18));
    add(greatest(dtype, 1 << 20, 3));
    add(transposed(dtype, 4096, 4096));
    for (const std::int64_t n : {1, 3, 8}) add(product(dtype, 1 << 16, 64, n, false));
  }
  for (const bool transposed : {true, false}) {
    for (const std::int64_t m : {1, 2, 4, 8}) {
      add(product(DType::kBF16, m, 2048, 512, transposed));
      add(product(DType::kBF16, m, 2048, 2048, transposed));
      add(product(DType::kBF16, m, 2048, 8192, transposed));
      add(product(DType::kBF16, m, 8192, 2048, transposed));
      add(product(DType::kBF16, m, 4096, 4096, transposed));
      add(product(DType::kBF16, m, 4096, 14336, transposed));
      add(product(DType::kBF16, m, 14336, 4096, transposed));
    }
  }
  add(product(DType::kBF16, 1, 2048, 128256, true));
  add(product(DType::kBF16, 1, 4096, 128256, true));
  add(product(DType::kF32, 1, 4096, 4096, true));
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    add(product(dtype, 1024, 1024, 1024, false));
    add(product(dtype, 1024, 1024, 1024, true));
    add(product(dtype, 128, 2048, 2048, true));
  }
  add(attention(8, 4, 128, 128));
  add(attention(8, 4, 1, 2048));
  for (auto& s : subjects) s.prepare();
  // What memory can do is measured beside each subject in each round: on a machine that others use,
  // figures of another moment are of another machine.
  const Memory memory;
  const auto count = subjects.size();
  struct Shares {
    std::vector<double> of_triad, of_streamed, of_read, of_own;
  };
  std::vector<double> best(count, 1e9);
  std::vector<Shares> shares(count);
  double triad = 0, streamed = 0, read = 0, fma = 0;
  for (int round = 0; round < rounds; ++round) {
    fma = std::max(fma, kernels::measure_peak(kernels::PeakKind::kFma, float{}, 1e-3) * threads);
    for (std::size_t i = 0; i < count; ++i) {
      const double of_triad = memory.triad(threads, false), of_read = memory.read(threads);
      const double took = subjects[i].run(threads), of_streamed = memory.triad(threads, true);
      // Caches are as full of something else as they were before the subject ran.
      memory.read(threads);
      const double own = subjects[i].read(threads);
      triad = std::max(triad, of_triad);
      streamed = std::max(streamed, of_streamed);
      read = std::max(read, of_read);
      best[i] = std::min(best[i], took);
      const double rate = subjects[i].bytes / took;
      shares[i].of_triad.push_back(rate / of_triad);
      shares[i].of_streamed.push_back(rate / of_streamed);
      shares[i].of_read.push_back(rate / of_read);
      shares[i].of_own.push_back(own / took);
    }
  }
  fmt::print(
      "{} threads: triad {:.1f} GB/s, with streamed stores {:.1f} GB/s, read {:.1f} GB/s, f32 "
      "{:.1f} Gflop/s\n",
      threads, triad * 1e-9, streamed * 1e-9, read * 1e-9, 2 * fma * 1e-9);
  fmt::print("{:36} {:>9} {:>7}  {:18} {:18} {:18} {}\n", "", "best ms", "GB/s", "of triad, median",
             "of streamed triad", "of reading", "of reading it");
  for (std::size_t i = 0; i < count; ++i) {
    const auto& s = subjects[i];
    fmt::print("{:36} {:9.3f} {:7.1f}  {} {} {} {}", s.name, best[i] * 1e3,
               s.bytes / best[i] * 1e-9, share_of(shares[i].of_triad),
               share_of(shares[i].of_streamed), share_of(shares[i].of_read),
               share_of(shares[i].of_own));
    if (s.flops > 0)
      fmt::print("  {:6.1f} Gflop/s = {:3.0f} %", s.flops / best[i] * 1e-9,
                 100 * s.flops / best[i] / (2 * fma));
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace assay::compiler

int main(int argc, char** argv) {
  const int threads =
      argc > 1 ? std::stoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  assay::compiler::run_bench(threads, argc > 2 ? std::stoi(argv[2]) : 7, argc > 3 ? argv[3] : "");
  return 0;
}
