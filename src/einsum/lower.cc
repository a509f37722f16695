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
double far_rows(double row_elements, int ld, double element) {
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
    if (size_.k > 1 || (size_.m > 1 && size_.n > 1)) {
      for (int copies = 0; copies < 8; ++copies) {
        add_gemm((copies & 1) != 0, (copies & 2) != 0, (copies & 4) != 0);
      }
      if (size_.m > 1 && size_.n > 1) add_gett();
    }
    std::ranges::stable_sort(found_, {}, &Lowered::predicted_s);
    return std::move(found_);
  }

 private:
  std::int64_t extent(Label l) const {
    const Mode* mode = find_mode(task_.a, l);
    return (mode != nullptr ? mode : find_mode(task_.b, l))->extent;
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
    std::vector<std::int64_t> extents(kMaxLabels, 1);
    for (const Label l : labels) extents[static_cast<std::size_t>(l)] = extent(l);
    return dense_layout(labels, extents);
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
      if (step.copies == 0) {
        const double calls = as_double(iterations(form.free) * iterations(form.summed));
        candidate.kernel = calls == 1             ? Kernel::kGemm
                           : calls == size_.batch ? Kernel::kBatchedGemm
                                                  : Kernel::kLoopedGemm;
      }
      // Each product reads its own operands; a loop over a sum reads and writes c again and again.
      const double calls = as_double(iterations(form.free) * iterations(form.summed));
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
                rows * columns)});
      candidate.gemm = std::move(form);
      found_.push_back(std::move(candidate));
    }
  }

  void add_gett() {
    Lowered step = base(Kernel::kGett);
    const auto loops = [&](const std::vector<Label>& group, const Layout& like) {
      std::vector<Loop> result;
      for (const Label l : in_order(group, like)) {
        const auto stride = [&](const Layout& in) {
          const Mode* mode = find_mode(in, l);
          return mode == nullptr ? 0 : mode->stride;
        };
        result.push_back({extent(l), stride(task_.a), stride(task_.b), stride(task_.c)});
      }
      return result;
    };
    step.gett = {loops(groups_.batch, task_.c), loops(groups_.m, task_.c),
                 loops(groups_.n, task_.c), loops(groups_.k, task_.a)};
    step.workspace = gett_workspace(size_, task_.threads);
    predict(step, Part::kGett,
            {.m = size_.m,
             .n = size_.n,
             .k = size_.k,
             .calls = size_.batch,
             .flop = 2 * size_.mac(),
             .bytes = bytes_});
    // Packing reads a line for each element where neither index of a matrix is contiguous.
    const auto scattered = [](const std::vector<Loop>& x, const std::vector<Loop>& y,
                              std::int64_t Loop::*stride) {
      const auto contiguous = [&](const std::vector<Loop>& g) {
        return !g.empty() && g.back().*stride == 1 && g.back().extent >= 8;
      };
      return !contiguous(x) && !contiguous(y);
    };
    double lines = 0;
    if (scattered(step.gett.m, step.gett.k, &Loop::a)) lines += element_count(task_.a);
    if (scattered(step.gett.n, step.gett.k, &Loop::b)) lines += element_count(task_.b);
    if (scattered(step.gett.m, step.gett.n, &Loop::c)) lines += element_count(task_.c);
    if (lines > 0) {
      step.predicted_s += model_.seconds(Part::kPermute, task_.dtype, {.bytes = 64 * lines});
      step.band = std::max(step.band, model_.band(Part::kPermute, task_.dtype));
    }
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
