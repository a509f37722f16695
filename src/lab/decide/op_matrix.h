// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The figures of an operation matrix: a JSON document about a library's operations,
// {"ops": [{"qualname": "lib.module.op", …, "perf_cpu_baseline", "perf_cpu_ratio",
// "perf_gpu_baseline", "perf_gpu_ratio"}]}, which a benchmark fills in.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "lab/record/row.h"

namespace assay::lab {

struct OpMatrixOptions {
  std::map<std::string, Json> points;  // by case: the representative point
  std::string ours;         // provider; empty: at each point the fastest whose name begins "assay"
  std::string reference;    // provider; empty: the case's baseline
  bool quick_rows = false;  // whether rows of --quick count as full ones
};

// For each case that has a representative point: {case: {perf_cpu_baseline, perf_cpu_ratio,
// perf_gpu_baseline, perf_gpu_ratio, _meta}}. A ratio is ours over the reference, below 1 is
// faster, from the rounds both share, on the machine of the newest run; baseline is the reference's
// name. Both are null where there are no two ok sides at that point, and _meta.notes says why.
// `latest` as latest_rows() gives it.
Json op_matrix_fragment(std::span<const Row> latest, const OpMatrixOptions& options);

struct OpMatrixApplied {
  Json matrix;
  std::vector<std::string> filled;   // qualnames that got a figure
  std::vector<std::string> unknown;  // cases with a figure that no operation is named after
};

// A copy of the matrix with the fragment's figures. An operation is a case's when the last part of
// its qualname is the case's name, or `names` says so (case → qualname). Figures that the fragment
// does not have leave what was there; all else stays. Throws UserError naming `what` for a document
// of another form.
OpMatrixApplied apply_op_matrix(const Json& fragment, Json matrix,
                                const std::map<std::string, std::string>& names,
                                std::string_view what);

}  // namespace assay::lab
