// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/ell_grad.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "semiring/matmul.h"

namespace assay::semiring {
namespace {

// Contiguous copies of what is read, and the gradients, zero at first. `messages` is what the slots
// take their rows from: x, or x·Wᵀ.
template <typename T>
struct Slots {
  Slots(const EllProblem& ell, const TensorView& messages, const TensorView& change)
      : rows(ell.rows),
        slots(ell.slots),
        width(messages.extent(1)),
        v(Tensor::copy(ell.v)),
        idx(Tensor::copy(ell.idx)),
        y(Tensor::copy(messages)),
        dout(Tensor::copy(change)),
        dv(v.dtype(), v.shape()),
        dy(y.dtype(), y.shape()) {}

  // each(v, y, dout, &dv, &dy) with rows of the width, for every slot that is not absent.
  template <typename Each>
  void for_present(std::int64_t i, Each&& each) {
    for (std::int64_t p = 0; p < slots; ++p) {
      const auto at = static_cast<std::size_t>(i * slots + p);
      const std::int64_t source = idx.as<std::int32_t>()[at];
      if (source < 0) continue;
      each(v.as<T>()[at], y.as<T>().data() + source * width, dv.as<T>()[at],
           dy.as<T>().data() + source * width, p);
    }
  }
  const T* dout_of(std::int64_t i) const { return dout.as<T>().data() + i * width; }

  std::int64_t rows, slots, width;
  Tensor v, idx, y, dout, dv, dy;
};

template <typename T>
void sum_gradients(Slots<T>& s) {
  for (std::int64_t i = 0; i < s.rows; ++i) {
    const T* dout = s.dout_of(i);
    s.for_present(i, [&](T v, const T* y, T& dv, T* dy, std::int64_t) {
      T sum = 0;
      for (std::int64_t f = 0; f < s.width; ++f) {
        sum += dout[f] * y[f];
        dy[f] += dout[f] * v;
      }
      dv += sum;
    });
  }
}

template <typename T>
void log_slot_gradients(Slots<T>& s, const T* out) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  for (std::int64_t i = 0; i < s.rows; ++i) {
    const T *dout = s.dout_of(i), *total = out + i * s.width;
    s.for_present(i, [&](T v, const T* y, T& dv, T* dy, std::int64_t) {
      for (std::int64_t f = 0; f < s.width; ++f) {
        if (total[f] == kNone) continue;
        const T share = dout[f] * std::exp(v + y[f] - total[f]);
        dv += share;
        dy[f] += share;
      }
    });
  }
}

template <typename T>
void euclidean_slot_gradients(Slots<T>& s, const T* out) {
  for (std::int64_t i = 0; i < s.rows; ++i) {
    const T *dout = s.dout_of(i), *distance = out + i * s.width;
    s.for_present(i, [&](T v, const T* y, T& dv, T* dy, std::int64_t) {
      for (std::int64_t f = 0; f < s.width; ++f) {
        if (distance[f] == 0) continue;
        // The quotient first: it is at most 1, whatever the numbers are.
        const T share = (v - y[f]) / distance[f] * dout[f];
        dv += share;
        dy[f] -= share;
      }
    });
  }
}

// Each element of a row of out is one slot's, the first of the best. term(v, y) is what a slot
// offers, better(term, best) whether it takes the place of the best so far, and
// share(dout, v, y, dv, dy) adds what the change is to the slot that was chosen.
template <typename T, typename Term, typename Better, typename Share>
void first_slot_gradients(Slots<T>& s, Term&& term, Better&& better, Share&& share) {
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(s.width));
  std::vector<T> best(chosen.size());
  for (std::int64_t i = 0; i < s.rows; ++i) {
    std::fill(chosen.begin(), chosen.end(), -1);
    const T* dout = s.dout_of(i);
    s.for_present(i, [&](T v, const T* y, T&, T*, std::int64_t p) {
      for (std::int64_t f = 0; f < s.width; ++f) {
        const auto at = static_cast<std::size_t>(f);
        const T now = term(v, y[f]);
        if (chosen[at] >= 0 && !better(now, best[at])) continue;
        chosen[at] = p;
        best[at] = now;
      }
    });
    s.for_present(i, [&](T v, const T* y, T& dv, T* dy, std::int64_t p) {
      for (std::int64_t f = 0; f < s.width; ++f) {
        if (chosen[static_cast<std::size_t>(f)] == p) share(dout[f], v, y[f], dv, dy[f]);
      }
    });
  }
}

// The first of the best stays, and so does the first NaN.
template <typename T>
bool is_larger(T now, T best) {
  return now > best || (now != now && best == best);
}
template <typename T>
bool is_smaller(T now, T best) {
  return now < best || (now != now && best == best);
}

template <typename T>
void add_to_both(T change, T, T, T& dv, T& dy) {
  dv += change;
  dy += change;
}

template <typename T>
EllGradients slot_gradients(Algebra algebra, const EllProblem& ell, const TensorView& out,
                            const TensorView& dout) {
  Slots<T> s(ell, ell.x, dout);
  const Tensor values = Tensor::copy(out);
  const T* const given = values.as<T>().data();
  const auto term = [](T v, T y) { return v + y; };
  switch (algebra) {
    case Algebra::kReal:
      sum_gradients(s);
      break;
    case Algebra::kLog:
      log_slot_gradients(s, given);
      break;
    case Algebra::kMaxPlus:
      first_slot_gradients(s, term, is_larger<T>, add_to_both<T>);
      break;
    case Algebra::kMinPlus:
      first_slot_gradients(s, term, is_smaller<T>, add_to_both<T>);
      break;
    case Algebra::kEuclidean:
      euclidean_slot_gradients(s, given);
      break;
    case Algebra::kBoolean:
      throw InternalError("the algebra was checked");
  }
  return {std::move(s.dv), std::move(s.dy)};
}

template <typename T>
EdgeGradients message_gradients(const EdgeProblem& edge, const TensorView& dout,
                                const EllOptions& options) {
  const MatmulOptions products{options.backend, options.simd};
  const auto& x = edge.ell.x;
  const Tensor y = matmul(Algebra::kReal, x, edge.w.transpose(), products);
  Slots<T> s(edge.ell, y.view(), dout);
  if (edge.reduce == EdgeReduce::kSum) {
    sum_gradients(s);
  } else {
    first_slot_gradients(
        s, [](T v, T message) { return v * message; }, is_larger<T>,
        [](T change, T v, T message, T& dv, T& dy) {
          dv += change * message;
          dy += change * v;
        });
  }
  return {std::move(s.dv), matmul(Algebra::kReal, s.dy.view(), edge.w, products),
          matmul(Algebra::kReal, s.dy.view().transpose(), x, products)};
}

void check_changes(const TensorView& change, const Shape& expected, DType dtype,
                   std::string_view of) {
  if (dtype != DType::kF32 && dtype != DType::kF64) {
    fail("gradients of {} take f32 or f64, got {}", of, name_of(dtype));
  }
  check_output(change, expected, dtype, of, "gradients");
}

}  // namespace

EllGradients ell_matmul_gradients(Algebra algebra, const TensorView& v, const TensorView& idx,
                                  const TensorView& x, const TensorView& out,
                                  const TensorView& dout) {
  const EllProblem ell = ell_problem(algebra, v, idx, x);
  if (algebra == Algebra::kBoolean) fail("boolean has no gradients: ell_matmul");
  const Shape shape{ell.rows, ell.features};
  for (const TensorView* given : {&out, &dout}) {
    check_changes(*given, shape, x.dtype(), name_of(algebra));
  }
  check_indices(ell, name_of(algebra), "gradients");
  return x.dtype() == DType::kF32 ? slot_gradients<float>(algebra, ell, out, dout)
                                  : slot_gradients<double>(algebra, ell, out, dout);
}

EdgeGradients ell_edge_gradients(EdgeReduce reduce, const TensorView& v, const TensorView& idx,
                                 const TensorView& x, const TensorView& w, const TensorView& dout,
                                 const EllOptions& options) {
  const EdgeProblem edge = edge_problem(reduce, v, idx, x, w);
  check_changes(dout, Shape{edge.ell.rows, edge.outputs}, x.dtype(), name_of(reduce));
  check_indices(edge.ell, name_of(reduce), "gradients");
  return x.dtype() == DType::kF32 ? message_gradients<float>(edge, dout, options)
                                  : message_gradients<double>(edge, dout, options);
}

}  // namespace assay::semiring
