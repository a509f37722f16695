// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/calibrate/calibration_shapes.h"

#include <cctype>
#include <functional>

#include "base/error.h"
#include "einsum/labels/notation.h"

namespace assay::einsum {
namespace {

using Add = std::function<void(Part, const char*, std::vector<std::int64_t>)>;

void products(const Add& add) {
  for (const std::int64_t n : {8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024}) {
    add(Part::kGemm, "mk,kn->mn", {n, n, n});
  }
  for (const std::int64_t s : {4, 16, 64}) {
    for (const std::int64_t l : {128, 512}) {
      add(Part::kGemm, "mk,kn->mn", {s, l, l});
      add(Part::kGemm, "mk,kn->mn", {l, l, s});
      add(Part::kGemm, "mk,kn->mn", {l, s, l});
      add(Part::kGemm, "mk,kn->mn", {s, l, s});
      add(Part::kGemm, "mk,kn->mn", {s, s, l});
      add(Part::kGemm, "mk,kn->mn", {l, s, s});
    }
    add(Part::kGemm, "mk,kn->mn", {s, 4096, s});
    add(Part::kGemm, "mk,kn->mn", {16384, s, s});
    add(Part::kGemm, "mk,kn->mn", {s, s, 16384});
    add(Part::kGemm, "bmk,bkn->bmn", {64, s, s, s});
    add(Part::kGemm, "bmk,bkn->bmn", {16, s, s, 256});
  }
  add(Part::kGemm, "bmk,bkn->bmn", {16, 256, 256, 256});
  // Transposed operands and result, as steps often have them.
  add(Part::kGemm, "km,kn->mn", {256, 256, 256});
  add(Part::kGemm, "mk,nk->nm", {256, 256, 256});
  add(Part::kGemm, "mk,nk->mn", {64, 512, 64});
  add(Part::kGemm, "mk,nk->mn", {32, 96, 48});
  add(Part::kGemm, "mk,nk->mn", {64, 256, 32});
  add(Part::kGemm, "mk,kn->mn", {64, 32768, 96});
  add(Part::kGemm, "mk,kn->mn", {48, 16384, 48});
  add(Part::kGemm, "mk,kn->mn", {1536, 1536, 1536});
  // Short rows that lie pages apart.
  add(Part::kGemm, "mGk,kGn->mn", {512, 16, 512, 512});
  add(Part::kGemm, "mGk,Gkn->mn", {1024, 256, 24, 1024});
  add(Part::kGemm, "bmGk,bkGn->bmn", {128, 32, 64, 32, 32});
  add(Part::kGemm, "bmGk,bkGn->bmn", {16, 128, 32, 128, 128});
  add(Part::kGemm, "kGm,kGn->mn", {8192, 24, 48, 48});
}

void vectors(const Add& add) {
  for (const Part part : {Part::kGemv, Part::kThinGemm}) {
    for (const std::int64_t n : {16, 64, 256, 1024, 2048}) {
      add(part, "mk,k->m", {n, n});
      add(part, "km,k->m", {n, n});
    }
    add(part, "mk,k->m", {16, 65536});
    add(part, "mk,k->m", {65536, 16});
    add(part, "mGk,k->m", {4096, 32, 128});
    if (part == Part::kThinGemm) continue;  // plans make single ones only
    add(part, "bmk,bk->bm", {64, 32, 32});
    add(part, "bmk,bk->bm", {1024, 64, 64});
    add(part, "bmk,bk->bm", {4096, 64, 64});
    // Summed over matrices, and over rows that lie pages apart.
    add(part, "mbnk,bk->mn", {32, 128, 32, 48});
    add(part, "mbnk,bk->mn", {48, 48, 80, 80});
    add(part, "mbGk,bk->m", {256, 48, 16, 96});
  }
}

void loops(const Add& add) {
  for (const std::int64_t n : {64, 1024, 16384, 262144, 2097152, 6291456}) {
    add(Part::kLoops, "k,k->", {n});
    add(Part::kLoops, "b,b->b", {n});
  }
  for (const std::int64_t n : {16, 128, 1024, 3072}) {
    add(Part::kLoops, "m,n->mn", {n, n});
    add(Part::kLoops, "bk,bk->b", {n, n});
  }
  add(Part::kLoops, "mk,kn->mn", {8, 8, 8});
  add(Part::kLoops, "mk,kn->mn", {32, 4, 32});
  add(Part::kLoops, "bmk,bkn->bmn", {64, 4, 4, 4});
  // Tensors that do not agree on what is contiguous; sums outside of the result's loops.
  for (const std::int64_t n : {8, 24, 56}) {
    add(Part::kLoops, "kbc,akbcn->cnab", {24, n, 4, 16, 24});
    add(Part::kLoops, "bmac,bc->cma", {n, 50, 16, 16});
    add(Part::kLoops, "abc,cab->bca", {n, 40, 72});
    add(Part::kLoops, "amb,cna->bcnma", {12, n, 8, 6, 10});
    add(Part::kLoops, "bkm,bkn->bmn", {n * 16, 5, 3, 7});
  }
  add(Part::kLoops, "mn,nm->mn", {700, 900});
  add(Part::kLoops, "mn,nm->nm", {2000, 1200});
  add(Part::kLoops, "bm,nb->mnb", {64, 80, 96});
}

void permutations(const Add& add) {
  for (const std::int64_t n : {16, 64, 128, 256, 512, 1024, 2048})
    add(Part::kPermute, "mn->nm", {n, n});
  add(Part::kPermute, "mn->nm", {16, 65536});
  add(Part::kPermute, "mn->nm", {65536, 16});
  add(Part::kPermute, "bmn->bnm", {64, 64, 64});
  add(Part::kPermute, "bmn->bnm", {8, 256, 256});
  add(Part::kPermute, "bmn->bnm", {4096, 8, 8});
  add(Part::kPermute, "bmn->bnm", {1024, 24, 32});
  add(Part::kPermute, "bmn->bnm", {64, 1024, 4});
  add(Part::kPermute, "bmn->bnm", {256, 3, 512});
  // Rows that stay rows, short and long; blocks whose rows lie pages apart on either side.
  add(Part::kPermute, "abc->bac", {48, 512, 64});
  add(Part::kPermute, "abc->bac", {512, 24, 16});
  add(Part::kPermute, "abc->bac", {96, 96, 1024});
  add(Part::kPermute, "abcd->dbac", {24, 40, 64, 32});
  add(Part::kPermute, "abcd->cdba", {20, 48, 32, 40});
  add(Part::kPermute, "abcd->acdb", {24, 80, 16, 48});
  add(Part::kPermute, "abcde->cabed", {12, 20, 40, 16, 12});
  add(Part::kPermute, "abcde->bdeac", {16, 16, 24, 16, 16});
  add(Part::kPermute, "abcdef->acebdf", {10, 10, 10, 10, 10, 10});
}

void packed(const Add& add) {
  // Rows and columns contiguous, or the sum, on either side; few of any of them.
  for (const std::int64_t n : {16, 32, 64, 128, 256, 512, 1024}) {
    add(Part::kGett, "mk,kn->mn", {n, n, n});
    add(Part::kGett, "mk,nk->mn", {n, n, n});
  }
  for (const std::int64_t n : {32, 48, 96, 160}) {
    add(Part::kGett, "mk,nk->mn", {n, 65536, n});
    add(Part::kGett, "mk,nk->mn", {n, 512, 2048});
    add(Part::kGett, "mk,kn->mn", {2048, 512, n});
    add(Part::kGett, "mk,kn->mn", {n, 24, 8192});
  }
  add(Part::kGett, "km,nk->nm", {256, 256, 256});
  add(Part::kGett, "km,nk->mn", {64, 512, 512});
  add(Part::kGett, "mk,kn->mn", {2048, 4, 1024});
  add(Part::kGett, "bmk,bkn->bmn", {16, 64, 64, 64});
  add(Part::kGett, "bmk,bkn->bmn", {256, 16, 64, 16});
  // Runs of a few lines that lie pages apart, in either operand or both.
  add(Part::kGett, "kGm,kGn->mn", {8192, 24, 48, 48});
  add(Part::kGett, "akmb,bank->mn", {16, 40, 64, 32, 80});
  add(Part::kGett, "abmc,cnba->mn", {24, 24, 96, 48, 64});
  add(Part::kGett, "abmcd,dnabc->mn", {12, 20, 40, 16, 24, 56});
  add(Part::kGett, "makbnc,bckp->manp", {10, 10, 10, 10, 10, 10, 64});
  add(Part::kGett, "manb,bpaq->mnpq", {20, 32, 40, 16, 24, 24});
}

bool is_label(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

}  // namespace

const std::vector<CalibrationShape>& calibration_shapes() {
  static const std::vector<CalibrationShape> shapes = [] {
    std::vector<CalibrationShape> list;
    const Add add = [&](Part part, const char* expression, std::vector<std::int64_t> extents) {
      list.push_back({part, expression, std::move(extents)});
    };
    products(add);
    vectors(add);
    loops(add);
    permutations(add);
    packed(add);
    return list;
  }();
  return shapes;
}

std::vector<Layout> CalibrationShape::layouts() const {
  std::vector<std::int64_t> by_label(kMaxLabels, 0);
  std::size_t next = 0;
  for (const char c : expression) {
    if (!is_label(c)) continue;
    auto& extent = by_label[static_cast<std::size_t>(c)];
    if (extent == 0) extent = extents.at(next++);
  }
  std::vector<Layout> found;
  std::vector<Label> order;
  const auto finish = [&] {
    Layout layout = dense_layout(order, by_label);
    std::erase_if(layout, [](const Mode& m) { return m.label < 'a' || m.extent == 1; });
    found.push_back(std::move(layout));
    order.clear();
  };
  for (const char c : expression) {
    if (is_label(c)) order.push_back(c);
    if (c == ',' || c == '>') finish();
  }
  finish();
  return found;
}

const Lowered* measured_way(const CalibrationShape& shape, const std::vector<Lowered>& ways) {
  const auto serves = [&](Kernel kernel) {
    switch (shape.part) {
      case Part::kGemm:
        return kernel == Kernel::kGemm || kernel == Kernel::kBatchedGemm;
      case Part::kSmallGemm:
      case Part::kThinGemm:
        return kernel == Kernel::kGemm || kernel == Kernel::kBatchedGemm ||
               kernel == Kernel::kLoopedGemm;
      case Part::kGemv:
        return kernel == Kernel::kGemv;
      case Part::kGett:
        return kernel == Kernel::kGett;
      default:
        return kernel == Kernel::kDot || kernel == Kernel::kHadamard || kernel == Kernel::kOuter ||
               kernel == Kernel::kLoops;
    }
  };
  for (const auto& way : ways) {
    if (way.copies == 0 && serves(way.kernel)) return &way;
  }
  return nullptr;
}

std::string CalibrationShape::text() const {
  return fmt::format("{} {} {}", name_of(part), expression, fmt::join(extents, " "));
}

}  // namespace assay::einsum
