// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// The thin parts of a pivoted LU: panels of at most kLeaf columns, and triangles of that size. See
// vector_pack-inl.h.
#include "transport/kernels/vector_kernels.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transport/kernels/panel_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which decides what it is compiled for.
#include "transport/kernels/vector_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::transport {
namespace HWY_NAMESPACE {
namespace {

using Register = Pack<double>::Register;
constexpr int kPack = kLanes<double>;
constexpr int kStrip = 8;  // columns that are factored before their neighbours are updated

// Columns of kLeaf rows whose sums are in registers at a time.
constexpr int kColumns = ASSAY_PACK_BYTES == 64 ? 6 : 1;
// Of a product with kStrip terms: columns and packs of rows.
constexpr int kTileColumns = ASSAY_PACK_BYTES == 64 ? 8 : ASSAY_MANY_REGISTERS ? 4 : 2;
constexpr int kTileRows = ASSAY_PACK_BYTES == 64 ? 2 : 4;

// x ← x/d.
void divide(double* x, int rows, double d) {
  // The reciprocal of anything smaller may be infinite.
  const bool invertible = d > 0x1p-1000 || d < -0x1p-1000;
  const double factor = 1 / d;
  int r = 0;
  if (invertible) {
    for (; r + kPack <= rows; r += kPack) store(x + r, load(x + r) * factor);
  }
  for (; r < rows; ++r) x[r] = invertible ? x[r] * factor : x[r] / d;
}

// y ← y − factor·x.
void subtract(double* y, int rows, double factor, const double* x) {
  int r = 0;
  for (; r + kPack <= rows; r += kPack) store(y + r, load(y + r) - factor * load(x + r));
  for (; r < rows; ++r) y[r] -= factor * x[r];
}

void exchange_rows(double* a, std::int64_t ld, int columns, int p, int other) {
  for (int c = 0; c < columns; ++c) swap(a[p + c * ld], a[other + c * ld]);
}

// At most kStrip columns, column by column.
bool factor_strip(int rows, int columns, double* a, std::int64_t ld, int* pivots) {
  bool regular = true;
  for (int p = 0; p < columns; ++p) {
    double* column = a + p * ld;
    const int best = p + pivot_of(column + p, rows - p);
    pivots[p] = best;
    if (best != p) exchange_rows(a, ld, columns, p, best);
    if (column[p] == 0) {
      regular = false;
      continue;
    }
    divide(column + p + 1, rows - p - 1, column[p]);
    for (int c = p + 1; c < columns; ++c) {
      subtract(a + c * ld + p + 1, rows - p - 1, a[p + c * ld], column + p + 1);
    }
  }
  return regular;
}

// C ← C − L·U with kStrip terms and kCount columns, kPacks packs of rows.
template <int kPacks, int kCount>
void subtract_tile(const double* l, const double* u, double* c, std::int64_t ld) {
  Register sum[kCount][kPacks];
  UNROLLED for (int j = 0; j < kCount; ++j) {
    UNROLLED for (int q = 0; q < kPacks; ++q) sum[j][q] = load(c + j * ld + q * kPack);
  }
  UNROLLED for (int p = 0; p < kStrip; ++p) {
    Register x[kPacks];
    UNROLLED for (int q = 0; q < kPacks; ++q) x[q] = load(l + p * ld + q * kPack);
    UNROLLED for (int j = 0; j < kCount; ++j) {
      UNROLLED for (int q = 0; q < kPacks; ++q) sum[j][q] -= u[p + j * ld] * x[q];
    }
  }
  UNROLLED for (int j = 0; j < kCount; ++j) {
    UNROLLED for (int q = 0; q < kPacks; ++q) store(c + j * ld + q * kPack, sum[j][q]);
  }
}

// C ← C − L·U for all rows, with kStrip columns of L.
void subtract_strip(int rows, int columns, const double* l, const double* u, double* c,
                    std::int64_t ld) {
  constexpr int wide = kTileColumns;
  int j = 0;
  for (; j + wide <= columns; j += wide) {
    int r = 0;
    for (; r + kTileRows * kPack <= rows; r += kTileRows * kPack) {
      subtract_tile<kTileRows, wide>(l + r, u + j * ld, c + r + j * ld, ld);
    }
    for (; r + kPack <= rows; r += kPack) {
      subtract_tile<1, wide>(l + r, u + j * ld, c + r + j * ld, ld);
    }
    for (; r < rows; ++r) {
      for (int i = j; i < j + wide; ++i) {
        for (int p = 0; p < kStrip; ++p) c[r + i * ld] -= l[r + p * ld] * u[p + i * ld];
      }
    }
  }
  for (; j < columns; ++j) {
    for (int p = 0; p < kStrip; ++p) subtract(c + j * ld, rows, u[p + j * ld], l + p * ld);
  }
}

bool factor_panel(int rows, int columns, double* a, std::int64_t ld, int* pivots) {
  bool regular = true;
  for (int at = 0; at < columns; at += kStrip) {
    const int strip = columns - at < kStrip ? columns - at : kStrip;
    double* diagonal = a + at + at * ld;
    regular &= factor_strip(rows - at, strip, diagonal, ld, pivots + at);
    for (int p = 0; p < strip; ++p) {
      pivots[at + p] += at;
      if (pivots[at + p] == at + p) continue;
      exchange_rows(a, ld, at, at + p, pivots[at + p]);
      exchange_rows(a + (at + strip) * ld, ld, columns - at - strip, at + p, pivots[at + p]);
    }
    const int rest = columns - at - strip;
    if (rest == 0) break;
    double* u = diagonal + strip * ld;
    for (int c = 0; c < rest; ++c) {
      for (int p = 0; p + 1 < strip; ++p) {
        for (int r = p + 1; r < strip; ++r) u[r + c * ld] -= u[p + c * ld] * diagonal[r + p * ld];
      }
    }
    subtract_strip(rows - at - strip, rest, diagonal + strip, u, u + strip, ld);
  }
  return regular;
}

// Columns of the inverse are independent of each other; their steps p are not, so p is outermost.
void invert_triangle(Shape shape, int n, const double* a, std::int64_t ld, double* inverse) {
  alignas(64) double triangle[kLeaf * kLeaf];
  const bool lower = shape == Shape::kLower;
  std::memset(triangle, 0, sizeof triangle);
  std::memset(inverse, 0, sizeof triangle);
  for (int c = 0; c < kLeaf; ++c) inverse[c + c * kLeaf] = 1;
  for (int c = 0; c < n; ++c) {  // only what is eliminated: the diagonal itself stays out
    const int to = lower ? n : c;
    for (int r = lower ? c + 1 : 0; r < to; ++r) triangle[r + c * kLeaf] = a[r + c * ld];
  }
  constexpr int packs = kLeaf / kPack;
  if (lower) {
    for (int p = 0; p < n; ++p) {
      for (int c = 0; c <= p; ++c) {
        double* x = inverse + c * kLeaf;
        const double factor = x[p];
        for (int q = p / kPack; q < packs; ++q) {
          store(x + q * kPack,
                load(x + q * kPack) - factor * load(triangle + p * kLeaf + q * kPack));
        }
      }
    }
    return;
  }
  for (int p = n - 1; p >= 0; --p) {
    const double d = 1 / a[p + p * ld];
    for (int c = p; c < n; ++c) {
      double* x = inverse + c * kLeaf;
      x[p] *= d;
      const double factor = x[p];
      for (int q = 0; q <= p / kPack; ++q) {
        store(x + q * kPack, load(x + q * kPack) - factor * load(triangle + p * kLeaf + q * kPack));
      }
    }
  }
}

// kCount columns of kLeaf rows each, in place. A block of shape kLower has nothing above the pack
// that its diagonal is in.
template <int kCount>
void apply_lower_columns(const double* block, double* b, std::int64_t ldb) {
  constexpr int packs = kLeaf / kPack;
  Register sum[kCount][packs];
  UNROLLED for (int c = 0; c < kCount; ++c) {
    UNROLLED for (int q = 0; q < packs; ++q) sum[c][q] = Register{};
  }
  UNROLLED for (int part = 0; part < packs; ++part) {
    for (int p = part * kPack; p < (part + 1) * kPack; ++p) {
      UNROLLED for (int q = part; q < packs; ++q) {
        const Register x = load(block + p * kLeaf + q * kPack);
        UNROLLED for (int c = 0; c < kCount; ++c) sum[c][q] += b[p + c * ldb] * x;
      }
    }
  }
  UNROLLED for (int c = 0; c < kCount; ++c) {
    UNROLLED for (int q = 0; q < packs; ++q) store(b + c * ldb + q * kPack, sum[c][q]);
  }
}

void apply_lower_leaf(int n, int columns, const double* block, double* b, std::int64_t ldb) {
  int c = 0;
  if (n == kLeaf) {
    for (; c + kColumns <= columns; c += kColumns) {
      apply_lower_columns<kColumns>(block, b + c * ldb, ldb);
    }
    for (; c < columns; ++c) apply_lower_columns<1>(block, b + c * ldb, ldb);
  }
  for (; c < columns; ++c) {
    alignas(64) double x[kLeaf];
    for (int r = 0; r < kLeaf; ++r) x[r] = r < n ? b[r + c * ldb] : 0;
    apply_lower_columns<1>(block, x, kLeaf);
    for (int r = 0; r < n; ++r) b[r + c * ldb] = x[r];
  }
}

const PanelKernels* panel_f64() {
  static constexpr PanelKernels kTable{factor_panel, invert_triangle, apply_lower_leaf};
  return &kTable;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay::transport
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::transport {

HWY_EXPORT(panel_f64);

const PanelKernels& panel_kernels() { return *HWY_DYNAMIC_DISPATCH(panel_f64)(); }

}  // namespace assay::transport
#endif
