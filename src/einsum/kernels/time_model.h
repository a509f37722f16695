// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long the parts of a contraction take on this machine:
//
//   t = fixed + calls·per_call + outside·jumps·per_jump + max(x, y) + exposed·min(x, y)
//   x = flop / rate(m, n, k),  y = bytes / bandwidth(bytes)
//   rate(m, n, k) = rate · m/(m + half_m) · n/(n + half_n) · k/(k + half_k)
//   bandwidth(bytes) = bandwidth·outside + cache_bandwidth·(1 − outside)
//   outside = 1 − 1/(1 + (bytes/cache_bytes)²)
//
// Jumps are runs shorter than a page that begin on another page than the run before: each needs an
// address of its own to be translated, and no prefetcher follows. They cost nothing where all is in
// the cache.
//
// The numbers come from calibration.h; without one, from defaults that are right within a factor of
// a few and say so.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "einsum/labels/network.h"
#include "tensor/dtype.h"

namespace assay::einsum {

// What is timed as one thing. Products of up to kSmallProduct multiplications are a part of their
// own: OpenBLAS computes them without packing. So are those with a single row or column, which take
// as long as reading does: the rates say nothing about them. A device has no small products but
// narrow ones, is_narrow(), which are that part there.
enum class Part { kGemm, kSmallGemm, kThinGemm, kGemv, kLoops, kPermute, kGett };
inline constexpr std::array kParts = {Part::kGemm,  Part::kSmallGemm, Part::kThinGemm, Part::kGemv,
                                      Part::kLoops, Part::kPermute,   Part::kGett};
inline constexpr double kSmallProduct = 1e6;
inline Part gemm_part(double m, double n, double k) {
  if (m == 1 || n == 1) return Part::kThinGemm;
  return m * n * k <= kSmallProduct ? Part::kSmallGemm : Part::kGemm;
}
// One factor is small and the other is long: on a device such a product takes about as long as
// moving the long one does, however its rows are counted, alone or in a batch.
inline constexpr double kNarrow = 64, kLong = 1024;
inline bool is_narrow(double m, double n, double k) {
  return k <= kNarrow && std::min(m, n) <= kNarrow && std::max(m, n) >= kLong;
}
std::string_view name_of(Part part);

// Seconds, flop/s, bytes/s, elements.
struct PartModel {
  double fixed = 0, per_call = 0;
  double rate = 1e9, half_m = 0, half_n = 0, half_k = 0;
  double exposed = 0;  // share of the shorter of computing and moving that the longer does not hide
  double bandwidth = 1e10, cache_bandwidth = 2e10, cache_bytes = 1 << 20;
  double per_jump = 1e-8;
  // Nine of ten measured shapes lie within predicted/(1 + band) … predicted·(1 + band).
  double band = 1;
  int shapes = 0;  // that the fit saw; 0: a default
};

// One part's share of the work. m, n, k are those of one call.
struct Work {
  double m = 1, n = 1, k = 1;
  double calls = 1;
  double flop = 0, bytes = 0;
  double jumps = 0;
};

// The jumps of walking `elements` in runs of `run`, which begin `distance` elements apart.
double jumps(double elements, double run, double distance, double element_size);

double seconds(const PartModel& model, const Work& work);

// Copies between the processor's memory and a device's, one way: fixed + bytes / bandwidth.
struct TransferModel {
  double fixed = 0, bandwidth = 1e10;
  double seconds(double bytes) const { return bytes > 0 ? fixed + bytes / bandwidth : 0; }
};

class TimeModel {
 public:
  TimeModel();  // defaults

  PartModel& part(Part part, bool wide) { return models_[index(part, wide)]; }
  const PartModel& part(Part part, bool wide) const { return models_[index(part, wide)]; }
  // The model for a dtype; complex ones take four real multiplications each, which `seconds`
  // counts.
  double seconds(Part part, DType dtype, Work work) const;
  double band(Part part, DType dtype) const;
  bool calibrated() const { return part(Part::kGemm, true).shapes > 0; }

  // The kernels are a GPU's: one launch computes all products of a batch, so that the rows of all
  // of them fill it, and calls are launches. Operands and results cross a bus.
  bool on_device = false;
  TransferModel to_device, from_device;
  // The part that products of this size belong to.
  Part gemm_part_of(double m, double n, double k) const {
    const Part part = gemm_part(m, n, k);
    if (!on_device || part == Part::kThinGemm) return part;
    return is_narrow(m, n, k) ? Part::kSmallGemm : Part::kGemm;
  }

  // What distinguishes this model's predictions from another's, for cache keys; "default" if so.
  std::string id = "default";

 private:
  static std::size_t index(Part part, bool wide) {
    return 2 * static_cast<std::size_t>(part) + (wide ? 1 : 0);
  }
  std::array<PartModel, 2 * kParts.size()> models_;
};

// The search's view of it: the cheaper of one matrix product per batch index and plain loops.
class PairTimeModel : public PairTime {
 public:
  // The model outlives this object.
  PairTimeModel(const TimeModel& model, DType dtype) : model_(model), dtype_(dtype) {}
  double seconds(const PairSize& size) const override;

 private:
  const TimeModel& model_;
  DType dtype_;
};

}  // namespace assay::einsum
