// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/lower.h"

#include <optional>

#include "base/error.h"
#include "einsum/gett.h"
#include "einsum/strided.h"

namespace assay::einsum {
namespace {

double as_double(std::int64_t x) { return static_cast<double>(x); }

std::vector<Label> in_order(const std::vector<Label>& group, const Layout& like) {
  Layout part;
  for (const auto& mode : like) {
    if (std::ranges::count(group, mode.label) != 0) part.push_back(mode);
  }
  return memory_order(part);
}

// Rows of a matrix that are short and lie pages apart cost more than their bytes: each needs an
// address of its own to be translated, and no prefetcher follows.
double far_rows(double row_elements, double ld, double element) {
  constexpr double kPage = 4096, kExtra = 256;
  if (ld * element < kPage || row_elements * element >= kPage) return 1;
  return 1 + kExtra / (row_elements * element);
}

// Builds the candidates of one step.
class Lowering {
 public:
  Lowering(const PairTask& task, const TimeModel& model)
      : task_(task), model_(model), groups_(group_labels(task.a, task.b, task.c)) {
    const auto size = [&](const std::vector<Label>& group) {
      double product = 1;
      for (const Label l : group) product *= as_double(extent(l));
      return product;
    };
    size_ = {size(groups_.m), size(groups_.n), size(groups_.k), size(groups_.batch)};
    element_ = static_cast<double>(size_of(task.dtype));
    bytes_ = element_ * (element_count(task.a) + element_count(task.b) + element_count(task.c));
  }

  std::vector<Lowered> run() {
    add_loops();
    for (auto& form : gemv_forms(task_, groups_)) add_gemv(std::move(form));
    // BLAS takes twice the time of a loop for a product of one term.
    for (int copies = 0; size_.k > 1 && copies < 8; ++copies) {
      add_gemm((copies & 1) != 0, (copies & 2) != 0, (copies & 4) != 0);
    }
    if (size_.m > 1 && size_.n > 1) add_gett();
    std::ranges::stable_sort(found_, {}, &Lowered::predicted_s);
    return std::move(found_);
  }

 private:
  std::int64_t extent(Label l) const {
    const Mode* mode = find_mode(task_.a, l);
    return (mode != nullptr ? mode : find_mode(task_.b, l))->extent;
  }

  Layout dense(const std::vector<Label>& order) const {
    std::vector<std::int64_t> extents(kMaxLabels, 1);
    for (const Label l : order) extents[static_cast<std::size_t>(l)] = extent(l);
    return dense_layout(order, extents);
  }

  Lowered base(Kernel kernel) const {
    Lowered step;
    step.kernel = kernel;
    step.size = size_;
    step.bytes = bytes_;
    return step;
  }

  void predict(Lowered& step, Part part, const Work& work) {
    step.work = work;
    step.predicted_s = model_.seconds(part, task_.dtype, work);
    step.band = model_.band(part, task_.dtype);
    if (step.copies > 0) {
      step.predicted_s +=
          model_.seconds(Part::kPermute, task_.dtype, {.calls = planes_, .bytes = lines_});
      step.band = std::max(step.band, model_.band(Part::kPermute, task_.dtype));
    }
  }

  void add_loops() {
    const bool has_k = size_.k > 1, has_batch = size_.batch > 1;
    const bool has_free = size_.m > 1 || size_.n > 1;
    Lowered step = base(!has_free ? (has_k && !has_batch ? Kernel::kDot : Kernel::kHadamard)
                        : has_k   ? Kernel::kLoops
                                  : Kernel::kOuter);
    step.loops = fused_loops(loops_over(task_.a, task_.b, task_.c));
    double row = 1;
    for (const auto& loop : step.loops) {
      // The innermost loop is one of these two.
      if (std::abs(loop.c) == 1 || &loop == &step.loops.back()) {
        row = std::max(row, as_double(loop.extent));
      }
    }
    predict(step, Part::kLoops,
            {.calls = size_.mac() / row, .flop = 2 * size_.mac(), .bytes = bytes_});
    found_.push_back(std::move(step));
  }

  void add_gemv(GemvForm form) {
    Lowered step = base(Kernel::kGemv);
    const double calls = as_double(iterations(form.free) * iterations(form.summed));
    predict(step, Part::kGemv,
            {.m = as_double(form.rows),
             .n = as_double(form.columns),
             .calls = calls,
             .flop = 2 * size_.mac(),
             .bytes = bytes_ * far_rows(form.columns, form.ld, element_)});
    step.gemv = std::move(form);
    found_.push_back(std::move(step));
  }

  // The order of a group: as the tensors that stay where they are have it.
  std::vector<Label> order(const std::vector<Label>& group, bool first_moves, const Layout& first,
                           const Layout& second) const {
    return in_order(group, first_moves ? second : first);
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
    return dense(labels);
  }

  void add_gemm(bool copy_a, bool copy_b, bool copy_c) {
    const auto m = order(groups_.m, copy_c, task_.c, task_.a);
    const auto n = order(groups_.n, copy_c, task_.c, task_.b);
    const auto k = order(groups_.k, copy_a, task_.a, task_.b);
    PairTask task = task_;
    Lowered step = base(Kernel::kTransposeGemm);
    lines_ = planes_ = 0;
    const auto copy = [&](const Layout& from, const Layout& to, bool result, double& elements) {
      elements = element_count(from);
      step.copied_bytes += 2 * element_ * elements;
      step.workspace += elements;
      ++step.copies;
      auto loops = fused_loops(result ? loops_over(to, {}, from) : loops_over(from, {}, to));
      const auto work = permute_work(loops, size_of(task_.dtype));
      lines_ += work.bytes;
      planes_ += work.planes;
      return loops;
    };
    if (copy_a) {
      task.a = copy_layout(m, k, task_.a);
      step.pack_a = copy(task_.a, task.a, false, step.packed_a);
    }
    if (copy_b) {
      task.b = copy_layout(k, n, task_.b);
      step.pack_b = copy(task_.b, task.b, false, step.packed_b);
    }
    if (copy_c) {
      task.c = copy_layout(m, n, task_.c);
      step.unpack_c = copy(task_.c, task.c, true, step.temporary_c);
    }
    for (auto& form : gemm_forms(task, groups_)) {
      Lowered candidate = step;
      const double calls = as_double(iterations(form.free) * iterations(form.summed));
      if (step.copies == 0) {
        candidate.kernel = calls == 1             ? Kernel::kGemm
                           : calls == size_.batch ? Kernel::kBatchedGemm
                                                  : Kernel::kLoopedGemm;
      }
      // Each product reads its own operands; a loop over a sum reads and writes c again and again.
      const double passes = iterations(form.summed) > 1 ? 2 : 1;
      const double rows = form.m, columns = form.n, depth = form.k;
      predict(
          candidate, gemm_part(rows, columns, depth),
          {.m = rows,
           .n = columns,
           .k = depth,
           .calls = calls,
           .flop = 2 * size_.mac(),
           .bytes =
               element_ * calls *
               (rows * depth * far_rows(form.op_a == Op::kNone ? depth : rows, form.lda, element_) +
                columns * depth *
                    far_rows(form.op_b == Op::kNone ? columns : depth, form.ldb, element_) +
                passes * rows * columns)});
      candidate.gemm = std::move(form);
      found_.push_back(std::move(candidate));
    }
  }

  // Loops over a group in this order, fused where all tensors walk two of them as one. `left` and
  // `right` stand for a and b.
  std::vector<Loop> fused_group(const std::vector<Label>& order, const Layout& left,
                                const Layout& right, const Layout& result) const {
    std::vector<Loop> loops;
    for (const Label l : order) {
      const auto stride = [&](const Layout& in) {
        const Mode* mode = find_mode(in, l);
        return mode == nullptr ? 0 : mode->stride;
      };
      const Loop loop{extent(l), stride(left), stride(right), stride(result)};
      if (!loops.empty() && loops.back().a == loop.a * loop.extent &&
          loops.back().b == loop.b * loop.extent && loops.back().c == loop.c * loop.extent) {
        loops.back() = {loops.back().extent * loop.extent, loop.a, loop.b, loop.c};
      } else {
        loops.push_back(loop);
      }
    }
    return loops;
  }

  // Whether the result has these loops as one index of a matrix, neighbours `step` apart (0: any).
  static bool is_one_index(const std::vector<Loop>& loops, std::int64_t step) {
    for (std::size_t i = 0; i + 1 < loops.size(); ++i) {
      if (loops[i].c != loops[i + 1].c * loops[i + 1].extent) return false;
    }
    return step == 0 || loops.back().c == step;
  }

  // The panels straight into C where rows and columns of C are indices of a matrix, either operand
  // on the left; else into a matrix in the order of the operands, which is unpacked.
  void add_gett() {
    for (const bool swapped : {false, true}) {
      const Layout &left = swapped ? task_.b : task_.a, &right = swapped ? task_.a : task_.b;
      const auto &rows = swapped ? groups_.n : groups_.m,
                 &columns = swapped ? groups_.m : groups_.n;
      const auto m = fused_group(in_order(rows, task_.c), left, right, task_.c);
      const auto n = fused_group(in_order(columns, task_.c), left, right, task_.c);
      if (is_one_index(m, 0) && is_one_index(n, 1)) add_gett(swapped, m, n, {});
      // Few columns leave tiles half empty: then only the other way round, if that has more.
      constexpr double kFewColumns = 32;
      const double width = swapped ? size_.m : size_.n, height = swapped ? size_.n : size_.m;
      if (width < kFewColumns && (swapped || height >= kFewColumns)) continue;
      auto order = in_order(groups_.batch, task_.c);
      for (const auto& group : {in_order(rows, left), in_order(columns, right)}) {
        order.insert(order.end(), group.begin(), group.end());
      }
      const Layout product = dense(order);
      add_gett(swapped, fused_group(in_order(rows, left), left, right, product),
               fused_group(in_order(columns, right), left, right, product), product);
    }
  }

  // What packing reads of an operand: a line for each element where neither its rows or columns nor
  // the terms are contiguous; more than their bytes where what is contiguous is short. Terms next
  // to each other are read together up to kMostTerms of them, rows and columns all.
  double packed_bytes(const Layout& operand, const std::vector<Loop>& width,
                      const std::vector<Loop>& k, std::int64_t Loop::*stride) const {
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
    const double bytes = element_count(operand) * (run >= kRun ? element_ : 64);
    return bytes * far_rows(run, as_double(farthest), element_);
  }

  void add_gett(bool swapped, std::vector<Loop> m, std::vector<Loop> n, const Layout& product) {
    const Layout &left = swapped ? task_.b : task_.a, &right = swapped ? task_.a : task_.b;
    const Layout& result = product.empty() ? task_.c : product;
    Lowered step = base(Kernel::kGett);
    step.gett = {swapped, fused_group(in_order(groups_.batch, result), left, right, result),
                 std::move(m), std::move(n),
                 fused_group(in_order(groups_.k, left), left, right, result)};
    // Threads that share the batch have panels each.
    step.workspace = gett_workspace(size_, task_.dtype) * (size_.batch > 1 ? task_.threads : 1);
    lines_ = planes_ = 0;
    if (!product.empty()) {
      step.temporary_c = element_count(product);
      step.workspace += step.temporary_c;
      step.copied_bytes = 2 * element_ * step.temporary_c;
      step.copies = 1;
      step.unpack_c = fused_loops(loops_over(product, {}, task_.c));
      const auto work = permute_work(step.unpack_c, size_of(task_.dtype));
      lines_ += work.bytes;
      planes_ += work.planes;
    }
    const double moved = packed_bytes(left, step.gett.m, step.gett.k, &Loop::a) +
                         packed_bytes(right, step.gett.n, step.gett.k, &Loop::b) +
                         element_ * element_count(task_.c);
    const double rows = swapped ? size_.n : size_.m, columns = swapped ? size_.m : size_.n;
    predict(step, Part::kGett,
            {.m = rows,
             .n = columns,
             .k = size_.k,
             .calls = size_.batch,
             .flop = 2 * size_.batch * rows * size_.k * gett_columns(columns, task_.dtype),
             .bytes = moved});
    found_.push_back(std::move(step));
  }

  const PairTask& task_;
  const TimeModel& model_;
  Groups groups_;
  PairSize size_;
  double element_ = 8, bytes_ = 0;
  double lines_ = 0, planes_ = 0;  // of the copies of the step that is being built
  std::vector<Lowered> found_;
};

}  // namespace

std::string_view name_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::kCopy:
      return "copy";
    case Kernel::kDot:
      return "dot";
    case Kernel::kOuter:
      return "outer";
    case Kernel::kHadamard:
      return "hadamard";
    case Kernel::kLoops:
      return "loops";
    case Kernel::kGemv:
      return "gemv";
    case Kernel::kGemm:
      return "gemm";
    case Kernel::kBatchedGemm:
      return "batched-gemm";
    case Kernel::kLoopedGemm:
      return "looped-gemm";
    case Kernel::kTransposeGemm:
      return "transpose-gemm";
    case Kernel::kGett:
      return "gett";
  }
  throw InternalError("a Kernel is one of its enumerators");
}

Groups group_labels(const Layout& a, const Layout& b, const Layout& c) {
  Groups groups;
  for (const Label l : memory_order(a)) {
    const bool in_b = find_mode(b, l) != nullptr, in_c = find_mode(c, l) != nullptr;
    check(in_b || in_c, "labels of one operand only were summed before");
    (in_b ? (in_c ? groups.batch : groups.k) : groups.m).push_back(l);
  }
  for (const Label l : memory_order(b)) {
    if (find_mode(a, l) == nullptr) {
      check(find_mode(c, l) != nullptr, "labels of one operand only were summed before");
      groups.n.push_back(l);
    }
  }
  return groups;
}

std::vector<Lowered> lower_pair(const PairTask& task, const TimeModel& model) {
  return Lowering(task, model).run();
}

}  // namespace assay::einsum
