// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/calibrate/device_shapes.h"

namespace assay::einsum {

const std::vector<CalibrationShape>& device_calibration_shapes() {
  static const std::vector<CalibrationShape> shapes = [] {
    std::vector<CalibrationShape> list;
    const auto add = [&](Part part, const char* expression, std::vector<std::int64_t> extents) {
      list.push_back({part, expression, std::move(extents)});
    };
    for (const std::int64_t n : {16, 64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096}) {
      add(Part::kGemm, "mk,kn->mn", {n, n, n});
    }
    for (const std::int64_t s : {8, 48, 128}) {
      for (const std::int64_t l : {512, 4096}) {
        add(Part::kGemm, "mk,kn->mn", {s, l, l});
        add(Part::kGemm, "mk,kn->mn", {l, l, s});
        add(Part::kGemm, "mk,kn->mn", {l, s, l});
        add(Part::kGemm, "mk,kn->mn", {s, l, s});
      }
      add(Part::kGemm, "bmk,bkn->bmn", {1024, s, s, s});
      add(Part::kGemm, "bmk,bkn->bmn", {64, s, 256, 256});
    }
    add(Part::kGemm, "bmk,bkn->bmn", {16, 256, 256, 256});
    add(Part::kGemm, "bmk,bkn->bmn", {16, 1024, 1024, 1024});
    add(Part::kGemm, "mk,nk->mn", {1024, 1024, 1024});
    add(Part::kGemm, "km,kn->nm", {1024, 512, 512});
    for (const std::int64_t s : {8, 27, 50, 64}) {
      for (const std::int64_t l : {1024, 16384, 131072}) {
        add(Part::kSmallGemm, "mk,nk->mn", {s, s, l});
        add(Part::kSmallGemm, "km,kn->nm", {s, s, l});
      }
      add(Part::kSmallGemm, "mk,bkn->bmn", {s, s, 64, 2048});
    }
    add(Part::kSmallGemm, "mk,kn->mn", {8, 64, 131072});
    add(Part::kSmallGemm, "mk,nk->nm", {64, 8, 131072});
    for (const std::int64_t n : {64, 512, 2048, 4096}) {
      add(Part::kThinGemm, "mk,k->m", {n, n});
      add(Part::kThinGemm, "km,k->m", {n, n});
    }
    add(Part::kThinGemm, "mk,k->m", {64, 262144});
    add(Part::kThinGemm, "mk,k->m", {262144, 64});
    for (const std::int64_t n : {1024, 65536, 1048576, 16777216}) {
      add(Part::kLoops, "k,k->", {n});
      add(Part::kLoops, "b,b->b", {n});
    }
    for (const std::int64_t n : {64, 512, 4096}) {
      add(Part::kLoops, "m,n->mn", {n, n});
      add(Part::kLoops, "bk,bk->b", {n, n});
      add(Part::kLoops, "mn,nm->mn", {n, n});
    }
    for (const std::int64_t n : {8, 24, 56}) {
      add(Part::kLoops, "kbc,akbcn->cnab", {24, n, 4, 16, 24});
      add(Part::kLoops, "bmac,bc->cma", {n, 50, 16, 16});
      add(Part::kLoops, "abc,cab->bca", {n, 40, 72});
      add(Part::kLoops, "bkm,bkn->bmn", {n * 16, 5, 3, 7});
    }
    add(Part::kLoops, "mk,kn->mn", {64, 8, 64});
    add(Part::kLoops, "mk,kn->mn", {1024, 4, 1024});
    add(Part::kLoops, "bmk,bk->bm", {1024, 64, 64});
    for (const std::int64_t n : {64, 256, 1024, 2048, 4096}) add(Part::kPermute, "mn->nm", {n, n});
    add(Part::kPermute, "mn->nm", {16, 1048576});
    add(Part::kPermute, "mn->nm", {1048576, 16});
    add(Part::kPermute, "bmn->bnm", {1024, 64, 64});
    add(Part::kPermute, "bmn->bnm", {4096, 8, 8});
    add(Part::kPermute, "abc->bac", {512, 512, 64});
    add(Part::kPermute, "abc->bac", {512, 4096, 4});
    add(Part::kPermute, "abcd->dbac", {24, 40, 64, 32});
    add(Part::kPermute, "abcd->cdba", {64, 64, 64, 64});
    add(Part::kPermute, "abcdef->acebdf", {16, 16, 16, 16, 16, 16});
    return list;
  }();
  return shapes;
}

}  // namespace assay::einsum
