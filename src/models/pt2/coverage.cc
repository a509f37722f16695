// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/coverage.h"

#include <map>
#include <vector>

#include "base/text.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

constexpr int kDeepestGraph = 20;

using Counts = std::map<std::string, int>;

void count_operators(const JsonField& graph, Coverage& coverage, Counts& unknown, int depth) {
  if (depth > kDeepestGraph) graph.refuse("graphs within graphs, too deeply");
  for (const auto& node : graph["nodes"].elements()) {
    const auto& target = node["target"].text();
    if (is_wrapper(target)) {
      for (const auto& input : node["inputs"].elements()) {
        const auto inner = input["arg"].find("as_graph");
        if (inner) count_operators((*inner)["graph"], coverage, unknown, depth + 1);
      }
      continue;
    }
    const auto found = find_operator(target);
    if (found.op == nullptr) ++unknown[operator_name(target)];
    if (found.writes_self || (found.op != nullptr && found.op->name == "aten.batch_norm.default")) {
      coverage.has_writes = true;
    }
  }
}

}  // namespace

bool is_wrapper(std::string_view target) { return target == kWithGrad || target == kWithAutocast; }

Coverage check_coverage(const JsonField& graph, const std::string& path) {
  Coverage coverage;
  Counts unknown;
  count_operators(graph, coverage, unknown, 0);
  if (unknown.empty()) return coverage;
  std::vector<std::string> texts;
  for (const auto& [name, count] : unknown) {
    auto text = fmt::format("{} ({} time{}", printable(name), count, count == 1 ? "" : "s");
    if (const auto why = refusal_of(name); !why.empty()) text += fmt::format("; {}", why);
    texts.push_back(text + ")");
  }
  fail("{}: operators that are not covered: {}", path, fmt::join(texts, ", "));
}

}  // namespace assay::models::pt2
