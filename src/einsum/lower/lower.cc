// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/lower/lower.h"
#include "kernels/blas/blas.h"

#include <cmath>

#include "base/error.h"
#include "einsum/kernels/gett.h"
#include "einsum/kernels/loop_nest.h"
#include "einsum/kernels/strided.h"
#include "einsum/lower/device_nest.h"
#include "einsum/lower/gemm_form.h"
#include "einsum/lower/gett_form.h"

namespace assay::einsum {
namespace {

double as_double(std::int64_t x) { return static_cast<double>(x); }

// Builds the candidates of one step.
class Lowering {
 public:
  Lowering(const PairTask& task, const TimeModel& model)
      : task_(task), model_(model), groups_(group_labels(task.a, task.b, task.c)) {
    const auto size = [&](const std::vector<Label>& group) {
      double product = 1;
      for (const Label l : group) product *= as_double(extent_of(l, task));
      return product;
    };
    size_ = {size(groups_.m), size(groups_.n), size(groups_.k), size(groups_.batch)};
    element_ = static_cast<double>(size_of(task.dtype));
    bytes_ = element_ * (element_count(task.a) + element_count(task.b) + element_count(task.c));
  }

  std::vector<Lowered> run() {
    model_.on_device ? add_device_ways() : add_processor_ways();
    std::ranges::stable_sort(found_, {}, &Lowered::predicted_s);
    return std::move(found_);
  }

 private:
  void add_processor_ways() {
    add_loops();
    for (auto& form : gemv_forms(task_, groups_)) add_gemv(std::move(form));
    // A product of one term is all writing: loops do no worse.
    for (int copies = 0; size_.k > 1 && copies < 8; ++copies) {
      add_gemm((copies & 1) != 0, (copies & 2) != 0, (copies & 4) != 0);
    }
    // Packing pays when what is packed is used a few times.
    constexpr double kWorthPacking = 4;
    if (size_.k >= kWorthPacking) {
      for (const auto& choice : gett_forms(task_, groups_)) add_gett(choice);
    }
  }

  // What a GPU has kernels for: its threads take loops in any order, and its library's products
  // take vectors.
  void add_device_ways() {
    Lowered step = base(loops_kernel());
    auto nest = device_nest(loops_over(task_.a, task_.b, task_.c), size_of(task_.dtype));
    step.loops = std::move(nest.loops);
    step.lanes = nest.lanes;
    predict(step, Part::kLoops, nest.work);
    found_.push_back(std::move(step));
    for (int copies = 0; size_.k > 1 && copies < 8; ++copies) {
      add_gemm((copies & 1) != 0, (copies & 2) != 0, (copies & 4) != 0);
    }
  }

  Lowered base(Kernel kernel) const {
    Lowered step;
    step.kernel = kernel;
    step.size = size_;
    step.bytes = bytes_;
    return step;
  }

  // Adds the kernel to what the copies of the step take.
  void predict(Lowered& step, Part part, const Work& work) const {
    step.work = work;
    step.predicted_s += model_.seconds(part, task_.dtype, work);
    step.band = model_.band(part, task_.dtype);
    if (step.copies > 0) step.band = std::max(step.band, model_.band(Part::kPermute, task_.dtype));
  }

  Kernel loops_kernel() const {
    const bool has_k = size_.k > 1, has_batch = size_.batch > 1;
    const bool has_free = size_.m > 1 || size_.n > 1;
    if (!has_free) return has_k && !has_batch ? Kernel::kDot : Kernel::kHadamard;
    return has_k ? Kernel::kLoops : Kernel::kOuter;
  }

  void add_loops() {
    const Lowered step = base(loops_kernel());
    add_nest(step, task_);
    // The same with one tensor copied into an order that suits the others.
    for (const Layout* like : {&task_.a, &task_.b}) {
      PairTask task = task_;
      task.c = copy_like(task_.c, {like, &task_.a, &task_.b});
      if (task.c == sorted(task_.c)) continue;
      Lowered with_copy = step;
      with_copy.unpack_c = copy(with_copy, task.c, task_.c, with_copy.temporary_c);
      add_nest(std::move(with_copy), task);
    }
    for (const bool left : {true, false}) {
      const Layout &own = left ? task_.a : task_.b, &other = left ? task_.b : task_.a;
      Layout before = sorted(own);
      for (const Layout& copied :
           {copy_like(own, {&task_.c, &other}), copy_like(own, {&other, &task_.c})}) {
        if (copied == sorted(own) || copied == before) continue;
        before = copied;
        PairTask task = task_;
        (left ? task.a : task.b) = copied;
        Lowered with_copy = step;
        auto& loops = left ? with_copy.pack_a : with_copy.pack_b;
        loops = copy(with_copy, own, copied, left ? with_copy.packed_a : with_copy.packed_b);
        add_nest(std::move(with_copy), task);
      }
    }
  }

  void add_nest(Lowered step, const PairTask& task) {
    step.loops = nest_loops(loops_over(task.a, task.b, task.c), size_of(task_.dtype));
    predict(step, Part::kLoops, nest_work(step.loops, size_of(task_.dtype)));
    found_.push_back(std::move(step));
  }

  static Layout sorted(Layout layout) {
    std::ranges::stable_sort(layout, std::greater{},
                             [](const Mode& m) { return std::abs(m.stride); });
    return layout;
  }

  // A tensor of the same labels without gaps, ordered as the first of `like` has them; those that
  // only a later one has are outside.
  Layout copy_like(const Layout& own, std::initializer_list<const Layout*> like) const {
    std::vector<Label> order;
    LabelSet seen;
    for (const Layout* other : like) {
      std::vector<Label> more;
      for (const Label l : memory_order(*other)) {
        if (find_mode(own, l) == nullptr || seen.contains(l)) continue;
        seen.insert(l);
        more.push_back(l);
      }
      order.insert(order.begin(), more.begin(), more.end());
    }
    return dense_copy(order, task_);
  }

  void add_gemv(GemvForm form) {
    Lowered step = base(Kernel::kGemv);
    const double calls = as_double(iterations(form.free) * iterations(form.summed));
    predict(step, Part::kGemv,
            {.m = as_double(form.rows),
             .n = as_double(form.columns),
             .calls = calls,
             .flop = 2 * size_.mac(),
             .bytes = bytes_,
             .jumps = jumps(size_.mac(), form.columns, form.ld, element_)});
    step.packing = blas::gemv_packing(form.rows, form.columns) * task_.threads;
    step.gemv = std::move(form);
    found_.push_back(std::move(step));
  }

  Layout copy_layout(const std::vector<Label>& x, const std::vector<Label>& y,
                     const Layout& source) const {
    // Batch labels outside, then the group whose innermost label the source has contiguous last:
    // rows are then copied as rows.
    const auto contiguous_in = [&](const std::vector<Label>& group) {
      return !group.empty() && find_mode(source, group.back())->stride == 1;
    };
    std::vector<Label> labels = groups_.batch;
    const bool swap = contiguous_in(x) && !contiguous_in(y);
    for (const auto* group : {swap ? &y : &x, swap ? &x : &y}) {
      labels.insert(labels.end(), group->begin(), group->end());
    }
    return dense_copy(labels, task_);
  }

  // Adds a copy of that many elements to the step; returns its loops.
  std::vector<Loop> copy(Lowered& step, const Layout& from, const Layout& to,
                         double& elements) const {
    elements = element_count(from);
    step.copied_bytes += 2 * element_ * elements;
    step.workspace += elements;
    ++step.copies;
    auto loops = fused_loops(loops_over(from, {}, to));
    const auto work = model_.on_device ? device_permute_work(loops, size_of(task_.dtype))
                                       : permute_work(loops, size_of(task_.dtype));
    step.predicted_s += model_.seconds(Part::kPermute, task_.dtype, work);
    return loops;
  }

  void add_gemm(bool copy_a, bool copy_b, bool copy_c) {
    // The order of a group: as the tensors that stay where they are have it.
    const auto m = in_order(groups_.m, copy_c ? task_.a : task_.c);
    const auto n = in_order(groups_.n, copy_c ? task_.b : task_.c);
    const auto k = in_order(groups_.k, copy_a ? task_.b : task_.a);
    PairTask task = task_;
    Lowered step = base(Kernel::kTransposeGemm);
    if (copy_a) {
      task.a = copy_layout(m, k, task_.a);
      step.pack_a = copy(step, task_.a, task.a, step.packed_a);
    }
    if (copy_b) {
      task.b = copy_layout(k, n, task_.b);
      step.pack_b = copy(step, task_.b, task.b, step.packed_b);
    }
    if (copy_c) {
      task.c = copy_layout(m, n, task_.c);
      step.unpack_c = copy(step, task.c, task_.c, step.temporary_c);
    }
    for (auto& form : gemm_forms(task, groups_)) {
      const double calls = as_double(iterations(form.free) * iterations(form.summed));
      // A product with one row or column reads its matrix once: no copy of it pays, and where there
      // are many of them loops do better.
      if ((step.copies > 0 || calls > 1) && (form.m == 1 || form.n == 1)) continue;
      Lowered candidate = step;
      if (step.copies == 0) {
        candidate.kernel = calls == 1             ? Kernel::kGemm
                           : calls == size_.batch ? Kernel::kBatchedGemm
                                                  : Kernel::kLoopedGemm;
      }
      // Each product reads its own operands; a loop over a sum reads and writes c again and again.
      const double passes = iterations(form.summed) > 1 ? 2 : 1;
      const double rows = form.m, columns = form.n, depth = form.k;
      const double a = rows * depth * calls, b = columns * depth * calls;
      if (model_.on_device) {
        // One launch for each index of the sums around the product.
        const double launches = as_double(iterations(form.summed));
        predict(candidate, model_.gemm_part_of(rows, columns, depth),
                {.m = rows * calls / launches,
                 .n = columns,
                 .k = depth,
                 .calls = launches,
                 .flop = 2 * size_.mac(),
                 .bytes = element_ * (a + b + passes * rows * columns * calls)});
        candidate.gemm = std::move(form);
        found_.push_back(std::move(candidate));
        continue;
      }
      predict(candidate, gemm_part(rows, columns, depth),
              {.m = rows,
               .n = columns,
               .k = depth,
               .calls = calls,
               .flop = 2 * size_.mac(),
               .bytes = element_ * (a + b + passes * rows * columns * calls),
               .jumps = rows_apart(a, form.op_a == blas::Op::kNone ? depth : rows, form.lda) +
                        rows_apart(b, form.op_b == blas::Op::kNone ? columns : depth, form.ldb)});
      candidate.packing = blas::gemm_packing(form.m, form.n, form.k) * task_.threads;
      candidate.gemm = std::move(form);
      found_.push_back(std::move(candidate));
    }
  }

  // Jumps of packing a matrix of BLAS. Rows that are whole pages apart evict each other from the
  // cache, so that each of their lines is one.
  double rows_apart(double elements, double run, int ld) const {
    constexpr int kPage = 4096;
    const bool evict = ld * static_cast<int>(element_) % kPage == 0 && elements > 8 * run;
    constexpr double kLineBytes = 64;
    return evict ? elements * element_ / kLineBytes : jumps(elements, run, ld, element_);
  }

  void add_gett(const GettChoice& choice) {
    const bool swapped = choice.form.swapped;
    const Layout &left = swapped ? task_.b : task_.a, &right = swapped ? task_.a : task_.b;
    Lowered step = base(Kernel::kGett);
    // Threads that share the batch have panels each.
    step.packing =
        std::ceil(gett_workspace(size_, task_.dtype)) * (size_.batch > 1 ? task_.threads : 1);
    if (!choice.product.empty()) {
      step.unpack_c = copy(step, choice.product, task_.c, step.temporary_c);
    }
    const auto from_left = packing(left, choice.form.m, choice.form.k, &Loop::a);
    const auto from_right = packing(right, choice.form.n, choice.form.k, &Loop::b);
    const double rows = swapped ? size_.n : size_.m, columns = swapped ? size_.m : size_.n;
    predict(step, Part::kGett,
            {.m = rows,
             .n = columns,
             .k = size_.k,
             .calls = size_.batch,
             .flop = 2 * size_.batch * rows * size_.k * gett_columns(columns, task_.dtype),
             .bytes = from_left.bytes + from_right.bytes + element_ * element_count(task_.c),
             .jumps = from_left.jumps + from_right.jumps});
    step.gett = choice.form;
    found_.push_back(std::move(step));
  }

  // What packing reads of an operand: a line for each element where neither its rows or columns nor
  // the terms are contiguous. Terms next to each other are read together up to kMostTerms of them,
  // rows and columns all.
  Work packing(const Layout& operand, const std::vector<Loop>& width, const std::vector<Loop>& k,
               std::int64_t Loop::*stride) const {
    constexpr std::int64_t kRun = 4, kMostTerms = 64;
    std::int64_t farthest = 1, reach = 1;
    for (const auto* loops : {&width, &k}) {
      for (const auto& loop : *loops) farthest = std::max(farthest, std::abs(loop.*stride));
    }
    double run = 1, terms = 1;
    for (bool grows = true; grows && terms < kMostTerms;) {
      grows = false;
      for (const auto* loops : {&width, &k}) {
        for (const auto& loop : *loops) {
          if (loop.*stride != reach) continue;
          reach *= loop.extent;
          if (loops == &k) terms *= as_double(loop.extent);
          run *= as_double(loop.extent);
          grows = true;
        }
      }
    }
    run = std::min(run, run / terms * kMostTerms);
    const double elements = element_count(operand);
    // Tiles that begin in one run of rows or columns and end in the next are gathered one by one,
    // and so are those whose neighbours are no neighbours in the tensor.
    const auto tile = static_cast<std::int64_t>(gett_columns(1, task_.dtype));
    const bool beside = width.back().*stride == 1 && width.back().extent % tile == 0;
    const bool torn = width.size() > 1 && !beside &&
                      std::ranges::any_of(width, [&](const Loop& l) { return l.*stride == 1; });
    if (torn) run = 1;
    return {.bytes = elements * (run >= kRun || torn ? element_ : 64),
            .jumps = torn ? elements : jumps(elements, run, as_double(farthest), element_)};
  }

  const PairTask& task_;
  const TimeModel& model_;
  Groups groups_;
  PairSize size_;
  double element_ = 8, bytes_ = 0;
  std::vector<Lowered> found_;
};

}  // namespace

std::vector<Lowered> lower_pair(const PairTask& task, const TimeModel& model) {
  return Lowering(task, model).run();
}

}  // namespace assay::einsum
