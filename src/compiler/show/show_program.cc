// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/show/show_program.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "compiler/run/memory_plan.h"
#include "compiler/show/kernel_cost.h"

namespace assay::compiler {
namespace {

std::string scaled(double value, std::string_view unit) {
  static constexpr std::array kPrefixes = {"", "k", "M", "G", "T"};
  std::size_t i = 0;
  while (value >= 1000 && i + 1 < kPrefixes.size()) {
    value /= 1000;
    ++i;
  }
  return fmt::format("{:.3g} {}{}", value, kPrefixes[i], unit);
}
std::string as_time(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

// The shape of what a kernel is about.
std::string extent_text(const Kernel& kernel) {
  if (const auto* region = std::get_if<Region>(&kernel.work)) return to_string(region->shape);
  if (const auto* matmul = std::get_if<Matmul>(&kernel.work)) {
    return fmt::format("{} x {}", to_string(matmul->a.view.shape), to_string(matmul->b.view.shape));
  }
  if (const auto* grouped = std::get_if<GroupedMatmul>(&kernel.work)) {
    return fmt::format("{} x {}", to_string(grouped->a.view.shape),
                       to_string(grouped->weights.view.shape));
  }
  if (const auto* attention = std::get_if<Attention>(&kernel.work)) {
    return fmt::format("{} on {}{}", to_string(attention->q.view.shape),
                       to_string(attention->k.view.shape), attention->causal ? " causal" : "");
  }
  return to_string(std::get<ScatterInto>(kernel.work).index.view.shape);
}

std::string unit_of(const ProgramFacts& facts, std::uint32_t kernel) {
  return facts.units.empty() ? std::string() : facts.units[kernel];
}

struct Line {
  std::uint32_t kernel = 0;
  int times = 0;
  KernelCost cost;  // of all its steps
  double predicted_s = 0, measured_s = 0;
};
std::vector<Line> lines_of(const Program& program, const ProgramFacts& facts) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const auto kernel = program.steps[i].kernel;
    auto at = std::ranges::find(lines, kernel, &Line::kernel);
    if (at == lines.end()) at = lines.insert(lines.end(), Line{.kernel = kernel});
    const auto cost = cost_of(program.kernels[kernel], facts.symbols);
    ++at->times;
    at->cost.bytes += cost.bytes;
    at->cost.operations += cost.operations;
    if (facts.limits) {
      at->predicted_s += std::max(cost.bytes / facts.limits->bytes_per_second,
                                  cost.operations / facts.limits->operations_per_second);
    }
    if (!facts.step_seconds.empty()) at->measured_s += facts.step_seconds[i];
  }
  return lines;
}
Line sum_of(const std::vector<Line>& lines) {
  Line sum;
  for (const auto& line : lines) {
    sum.times += line.times;
    sum.cost.bytes += line.cost.bytes;
    sum.cost.operations += line.cost.operations;
    sum.predicted_s += line.predicted_s;
    sum.measured_s += line.measured_s;
  }
  return sum;
}

std::string table_line(const Line& line, const ProgramFacts& facts, std::string_view number,
                       std::string_view kind, std::string_view extent, std::string_view rules) {
  return fmt::format("{:>6} {:>5}  {:<15} {:>9} {:>10} {:>10} {:>10}  {}{}{}\n", number, line.times,
                     kind, scaled(line.cost.bytes, "B"), scaled(line.cost.operations, "op"),
                     facts.limits ? as_time(line.predicted_s) : "-",
                     facts.step_seconds.empty() ? "-" : as_time(line.measured_s), extent,
                     rules.empty() ? "" : "  by ", rules);
}

}  // namespace

std::optional<Repeat> repeat_of(const Program& program) {
  std::optional<Repeat> best;
  const auto& steps = program.steps;
  const auto same = [&](std::size_t a, std::size_t b, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) {
      if (steps[a + i].kernel != steps[b + i].kernel) return false;
    }
    return true;
  };
  for (std::size_t length = 1; length * 3 <= steps.size(); ++length) {
    for (std::size_t first = 0; first + 3 * length <= steps.size();) {
      std::size_t count = 1;
      while (first + (count + 1) * length <= steps.size() &&
             same(first, first + count * length, length)) {
        ++count;
      }
      const bool is_longer = !best || count * length > best->count * best->length;
      if (count >= 3 && is_longer) best = Repeat{first, length, count};
      first += std::max<std::size_t>(1, (count - 1) * length);
    }
  }
  return best;
}

std::string explained(const Program& program, const ProgramFacts& facts) {
  auto text = fmt::format("{:>6} {:>5}  {:<15} {:>9} {:>10} {:>10} {:>10}  {}\n", "kernel", "times",
                          "kind", "bytes", "operations", "predicted", "measured", "what");
  const auto lines = lines_of(program, facts);
  for (const auto& line : lines) {
    const auto& kernel = program.kernels[line.kernel];
    std::string kind(kind_of(kernel));
    if (kernel.variant != 0) kind += fmt::format("/{}", kernel.variant);
    auto what = extent_text(kernel);
    if (const auto unit = unit_of(facts, line.kernel); !unit.empty()) what += "  on " + unit;
    text += table_line(line, facts, std::to_string(line.kernel), kind, what,
                       fmt::format("{}", fmt::join(kernel.rules, ", ")));
  }
  text += table_line(sum_of(lines), facts, "sum", "", "", "");
  text += fmt::format(
      "arena {}\n",
      scaled(static_cast<double>(plan_memory(program, facts.symbols).arena_bytes), "B"));
  if (const auto repeat = repeat_of(program)) {
    text += fmt::format("steps {} to {} are {} kernel{}, {} times\n", repeat->first,
                        repeat->first + repeat->length * repeat->count - 1, repeat->length,
                        repeat->length == 1 ? "" : "s", repeat->count);
  }
  return text;
}

Json explained_as_json(const Program& program, const ProgramFacts& facts) {
  Json kernels = Json::array();
  const auto lines = lines_of(program, facts);
  const auto to_json = [&](const Line& line) {
    Json json = {
        {"times", line.times}, {"bytes", line.cost.bytes}, {"operations", line.cost.operations}};
    if (facts.limits) json["predicted_s"] = line.predicted_s;
    if (!facts.step_seconds.empty()) json["measured_s"] = line.measured_s;
    return json;
  };
  for (const auto& line : lines) {
    const auto& kernel = program.kernels[line.kernel];
    auto json = to_json(line);
    json["kind"] = kind_of(kernel);
    json["variant"] = kernel.variant;
    json["what"] = extent_text(kernel);
    if (auto unit = unit_of(facts, line.kernel); !unit.empty()) json["unit"] = std::move(unit);
    json["rules"] = kernel.rules;
    kernels.push_back(std::move(json));
  }
  Json result = {{"kernels", kernels},
                 {"sum", to_json(sum_of(lines))},
                 {"steps", program.steps.size()},
                 {"arena_bytes", plan_memory(program, facts.symbols).arena_bytes}};
  if (const auto repeat = repeat_of(program)) {
    result["repeat"] = {
        {"first", repeat->first}, {"kernels", repeat->length}, {"count", repeat->count}};
  }
  return result;
}

namespace {

// In the quotes of DOT.
std::string quoted_inside(std::string_view name) {
  std::string text;
  for (const char c : printable(name)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

}  // namespace

std::string as_dot(const Program& program) {
  std::string text = "digraph program {\n  rankdir=TB; node [fontname=\"sans-serif\"];\n";
  const auto name = [&](BufferId id) {
    const auto& buffer = program.buffers[id];
    return fmt::format("{}{} {}", buffer.name.empty() ? "" : quoted_inside(buffer.name) + "\\n",
                       name_of(buffer.dtype), to_string(buffer.shape));
  };
  for (BufferId id = 0; id < program.buffers.size(); ++id) {
    text += fmt::format("  b{} [label=\"{}\"{}];\n", id, name(id),
                        program.buffers[id].kind == Buffer::Kind::kTemporary ? "" : ", penwidth=2");
  }
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const auto& step = program.steps[i];
    const auto& kernel = program.kernels[step.kernel];
    text += fmt::format("  s{} [shape=box, label=\"{}: {}\\n{}\"];\n", i, i, kind_of(kernel),
                        fmt::join(kernel.rules, ", "));
    for (std::size_t k = 0; k < step.buffers.size(); ++k) {
      text += kernel.operands[k].is_written ? fmt::format("  s{} -> b{};\n", i, step.buffers[k])
                                            : fmt::format("  b{} -> s{};\n", step.buffers[k], i);
    }
  }
  return text + "}\n";
}

std::string as_trace(const Program& program, const ProgramFacts& facts) {
  Json events = Json::array();
  double at = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const auto& kernel = program.kernels[program.steps[i].kernel];
    const double seconds = facts.step_seconds.empty() ? 0 : facts.step_seconds[i];
    const auto cost = cost_of(kernel, facts.symbols);
    events.push_back({{"name", kind_of(kernel)},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", at * 1e6},
                      {"dur", seconds * 1e6},
                      {"args",
                       {{"step", i},
                        {"kernel", program.steps[i].kernel},
                        {"what", extent_text(kernel)},
                        {"rules", kernel.rules},
                        {"bytes", cost.bytes},
                        {"operations", cost.operations}}}});
    at += seconds;
  }
  return canonical_json({{"traceEvents", events}, {"displayTimeUnit", "ns"}}) + "\n";
}

}  // namespace assay::compiler
