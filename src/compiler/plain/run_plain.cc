// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/plain/run_plain.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "compiler/plain/plain_scalar.h"

namespace assay::compiler {
namespace {

// An operand seen by a view whose symbols have values.
struct Elements {
  DType dtype;
  std::byte* data;
  FixedView view;

  std::int64_t extent(std::size_t from_the_end) const {
    return view.shape[view.shape.size() - 1 - from_the_end];
  }
  std::int64_t count() const { return view.element_count(); }
  // Of the last axes `inner`: how many there are of what is left.
  std::int64_t count_without(std::size_t inner) const {
    return std::accumulate(view.shape.begin(),
                           view.shape.end() - static_cast<std::ptrdiff_t>(inner), std::int64_t{1},
                           std::multiplies<>());
  }
  // Element `flat` in row-major order of the axes but the last ones, which are at `last`.
  template <typename... Last>
  std::int64_t at(std::int64_t flat, Last... last) const {
    const std::array<std::int64_t, sizeof...(Last)> inner{last...};
    std::int64_t index = view.offset;
    const std::size_t outer = view.shape.size() - inner.size();
    for (std::size_t i = 0; i < inner.size(); ++i) index += inner[i] * view.strides[outer + i];
    for (std::size_t axis = outer; axis-- > 0;) {
      index += flat % view.shape[axis] * view.strides[axis];
      flat /= view.shape[axis];
    }
    return index;
  }
  template <typename... At>
  PlainScalar load(At... position) const {
    return load_plain(dtype, data, at(position...));
  }
  void store(PlainScalar value, std::int64_t index) const {
    store_plain(dtype, data, index, value);
  }
};

class PlainRunner {
 public:
  PlainRunner(const Kernel& kernel, const Bindings& symbols, std::span<std::byte* const> operands)
      : kernel_(kernel), symbols_(symbols), operands_(operands) {
    check(operands.size() == kernel.operands.size(), "as many operands as the kernel has");
  }

  void run(const Region& region) const {
    const Rows rows(*this, region);
    for (std::int64_t row = 0; row < rows.count; ++row) rows.run(row, {});
  }

  void run(const Matmul& work) const {
    const auto a = seen(work.a), b = seen(work.b);
    const auto m = a.extent(1), k = a.extent(0), n = b.extent(0);
    std::optional<Rows> epilogue;
    std::optional<Elements> out;
    if (work.epilogue)
      epilogue.emplace(*this, *work.epilogue);
    else
      out = seen(work.out);
    std::vector<PlainScalar> sums(static_cast<std::size_t>(n));
    for (std::int64_t batch = 0; batch < a.count_without(2); ++batch) {
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          sums[static_cast<std::size_t>(j)] =
              product(a, b, k, work.accumulate, [&](std::int64_t l) {
                return std::pair{a.at(batch, i, l), b.at(batch, l, j)};
              });
        }
        if (epilogue) {
          epilogue->run(batch * m + i, sums);
          continue;
        }
        for (std::int64_t j = 0; j < n; ++j) {
          out->store(cast_plain(work.accumulate, out->dtype, sums[static_cast<std::size_t>(j)]),
                     out->at(batch, i, j));
        }
      }
    }
  }

  void run(const GroupedMatmul& work) const {
    const auto a = seen(work.a), weights = seen(work.weights), expert = seen(work.expert),
               out = seen(work.out);
    for (std::int64_t t = 0; t < a.extent(1); ++t) {
      const auto chosen = std::clamp<std::int64_t>(expert.load(t).i, 0, weights.extent(2) - 1);
      for (std::int64_t j = 0; j < out.extent(0); ++j) {
        const auto sum = product(a, weights, a.extent(0), work.accumulate, [&](std::int64_t l) {
          return std::pair{a.at(0, t, l), weights.at(0, chosen, l, j)};
        });
        out.store(cast_plain(work.accumulate, out.dtype, sum), out.at(0, t, j));
      }
    }
  }

  void run(const Attention& work) const {
    const auto q = seen(work.q), k = seen(work.k), v = seen(work.v), out = seen(work.out);
    std::optional<Elements> mask;
    if (work.mask) mask = seen(*work.mask);
    const auto offset = work.offset.at(symbols_);
    std::optional<std::int64_t> window;
    if (work.window) window = work.window->at(symbols_);
    const auto keys = k.extent(1);
    std::vector<double> weights(static_cast<std::size_t>(keys));
    for (std::int64_t batch = 0; batch < q.count_without(2); ++batch) {
      for (std::int64_t i = 0; i < q.extent(1); ++i) {
        const auto score = [&](std::int64_t j) {
          constexpr double kHidden = -std::numeric_limits<double>::infinity();
          if (work.causal && j > i + offset) return kHidden;
          if (window && j <= i + offset - *window) return kHidden;
          double sum = 0;
          for (std::int64_t l = 0; l < q.extent(0); ++l)
            sum += q.load(batch, i, l).f * k.load(batch, j, l).f;
          sum *= work.scale;
          if (!mask) return sum;
          const auto value = mask->load(batch, i, j);
          if (mask->dtype == DType::kBool) return value.i != 0 ? sum : kHidden;
          return sum + value.f;
        };
        double greatest = -std::numeric_limits<double>::infinity(), total = 0;
        for (std::int64_t j = 0; j < keys; ++j)
          greatest = greatest_of(greatest, weights[static_cast<std::size_t>(j)] = score(j));
        for (double& weight : weights) total += weight = std::exp(weight - greatest);
        for (std::int64_t e = 0; e < v.extent(0); ++e) {
          double sum = 0;
          for (std::int64_t j = 0; j < keys; ++j)
            sum += weights[static_cast<std::size_t>(j)] * v.load(batch, j, e).f;
          out.store({.f = sum / total}, out.at(batch, i, e));
        }
      }
    }
  }

  void run(const ScatterInto& work) const {
    const auto data = seen(work.data), index = seen(work.index), values = seen(work.values),
               out = seen(work.out);
    if (!work.in_place) {
      for (std::int64_t i = 0; i < data.count(); ++i) out.store(data.load(i), out.at(i));
    }
    for (std::int64_t i = 0; i < index.count(); ++i) {
      const auto to = index.load(i).i;
      if (to >= 0 && to < out.count()) out.store(values.load(i), out.at(to));
    }
  }

 private:
  Elements seen(const Access& access) const {
    const auto& formal = kernel_.operands.at(access.operand);
    return {formal.dtype, operands_[access.operand],
            fixed(access.view, symbols_, product_of(formal.shape))};
  }
  std::int64_t product_of(const std::vector<Dim>& shape) const {
    std::int64_t count = 1;
    for (const auto& dim : shape) count *= dim.at(symbols_);
    return count;
  }

  // Σ over `terms` of a[l] · b[l], rounded to `accumulate` at the end.
  template <typename Positions>
  static PlainScalar product(const Elements& a, const Elements& b, std::int64_t terms,
                             DType accumulate, Positions&& positions) {
    PlainScalar sum;
    for (std::int64_t l = 0; l < terms; ++l) {
      const auto [at_a, at_b] = positions(l);
      const auto x = load_plain(a.dtype, a.data, at_a), y = load_plain(b.dtype, b.data, at_b);
      sum = add_plain(accumulate, sum, multiply_plain(accumulate, x, y));
    }
    return rounded_plain(accumulate, sum);
  }

  // A region, row by row.
  class Rows {
   public:
    std::int64_t count = 1;  // of rows

    Rows(const PlainRunner& runner, const Region& region) : region_(region) {
      for (const auto& dim : region.shape) shape_.push_back(dim.at(runner.symbols_));
      length_ = shape_.back();
      for (std::size_t i = 0; i + 1 < shape_.size(); ++i) count *= shape_[i];
      for (std::size_t i = 0; i < region.values.size(); ++i) {
        const auto& value = region.values[i];
        const bool is_sum_of_matmul = i == 0 && is_epilogue(runner);
        const bool reads = (value.op == Op::kInput && !is_sum_of_matmul) || value.op == Op::kGather;
        if (reads)
          accesses_.push_back(runner.seen(value.access));
        else if (value.op == Op::kIota)
          accesses_.push_back(numbers(value.access.view, runner.symbols_));
        else
          accesses_.push_back({});
      }
      for (const auto& store : region.stores) stores_.push_back(runner.seen(store.to));
    }

    // `first`: value 0 for each element of the row, where it is an epilogue's.
    void run(std::int64_t row, std::span<const PlainScalar> first) const {
      std::vector<std::vector<PlainScalar>> values(region_.values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto& value = region_.values[i];
        if (i == 0 && !first.empty())
          values[i].assign(first.begin(), first.end());
        else if (value.op == Op::kSum || value.op == Op::kMaxReduce)
          values[i] = {reduced(value, values[value.values.at(0)])};
        else
          for (std::int64_t j = 0; j < (value.of_row ? 1 : length_); ++j)
            values[i].push_back(computed(i, values, row, j));
      }
      for (std::size_t i = 0; i < stores_.size(); ++i) {
        const auto number = region_.stores[i].value;
        const bool of_row = region_.values[number].of_row;
        for (std::int64_t j = 0; j < (of_row ? 1 : length_); ++j)
          stores_[i].store(values[number][static_cast<std::size_t>(j)],
                           position(stores_[i], of_row, row, j));
      }
    }

   private:
    bool is_epilogue(const PlainRunner& runner) const {
      const auto* matmul = std::get_if<Matmul>(&runner.kernel_.work);
      return matmul != nullptr && matmul->epilogue && &*matmul->epilogue == &region_;
    }
    static Elements numbers(const View& view, const Bindings& symbols) {
      FixedView all{{}, {}, view.offset.at(symbols)};
      for (const auto& dim : view.shape) all.shape.push_back(dim.at(symbols));
      for (const auto& dim : view.strides) all.strides.push_back(dim.at(symbols));
      return {DType::kI64, nullptr, std::move(all)};
    }
    static std::int64_t position(const Elements& elements, bool of_row, std::int64_t row,
                                 std::int64_t j) {
      return of_row ? elements.at(row) : elements.at(row, j);
    }
    PlainScalar reduced(const Region::Value& value, const std::vector<PlainScalar>& x) const {
      const bool is_sum = value.op == Op::kSum;
      check(is_sum || length_ > 0, "the greatest of something is asked for");
      PlainScalar all = is_sum ? PlainScalar{} : x[0];
      for (std::int64_t j = is_sum ? 0 : 1; j < length_; ++j) {
        const auto& next = x.size() == 1 ? x[0] : x[static_cast<std::size_t>(j)];
        all = is_sum ? add_plain(value.dtype, all, next) : greatest_plain(value.dtype, all, next);
      }
      return rounded_plain(value.dtype, all);
    }
    PlainScalar computed(std::size_t number, const std::vector<std::vector<PlainScalar>>& values,
                         std::int64_t row, std::int64_t j) const {
      const auto& value = region_.values[number];
      const auto& access = accesses_[number];
      std::array<PlainScalar, 3> x;
      DType from = value.dtype;
      for (std::size_t i = 0; i < value.values.size(); ++i) {
        const auto& operand = region_.values[value.values[i]];
        x[i] = values[value.values[i]][operand.of_row ? 0 : static_cast<std::size_t>(j)];
        if (i == 0) from = operand.dtype;
      }
      switch (value.op) {
        case Op::kInput:
          return load_plain(access.dtype, access.data, position(access, value.of_row, row, j));
        case Op::kConst:
          return load_plain(value.dtype, reinterpret_cast<const std::byte*>(&value.bits), 0);
        case Op::kIota:
          return rounded_plain(value.dtype, {.i = position(access, value.of_row, row, j)});
        case Op::kCast:
          return cast_plain(from, value.dtype, x[0]);
        case Op::kGather:
          return access.load(std::clamp<std::int64_t>(x[0].i, 0, access.count() - 1));
        default:
          return compute_plain(value.op, from, value.dtype, x.data());
      }
    }

    const Region& region_;
    std::vector<std::int64_t> shape_;
    std::int64_t length_ = 0;
    std::vector<Elements> accesses_, stores_;
  };

  const Kernel& kernel_;
  const Bindings& symbols_;
  std::span<std::byte* const> operands_;
};

}  // namespace

void run_plain(const Kernel& kernel, const Bindings& symbols,
               std::span<std::byte* const> operands) {
  const PlainRunner runner(kernel, symbols, operands);
  std::visit([&](const auto& work) { runner.run(work); }, kernel.work);
}

}  // namespace assay::compiler
