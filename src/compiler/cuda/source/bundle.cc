// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/bundle.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace assay::compiler::cuda {
namespace {

// Steps behind one among which others are looked for, and operands of a launch.
constexpr std::size_t kWindow = 16, kMostOperands = 24;
// Launches of so many blocks fill the device; what goes with them must not make theirs larger.
constexpr std::uint32_t kManyBlocks = 64;

void renumber(Access& access, const std::vector<std::uint32_t>& to) {
  access.operand = to[access.operand];
}
void renumber(Region& region, const std::vector<std::uint32_t>& to) {
  for (auto& value : region.values)
    if (value.op == Op::kInput || value.op == Op::kGather) renumber(value.access, to);
  for (auto& store : region.stores) renumber(store.to, to);
}
void renumber(Matmul& work, const std::vector<std::uint32_t>& to) {
  renumber(work.a, to);
  renumber(work.b, to);
  // What stands for the sum, and an output whose epilogue stores, are not read or written.
  if (!work.epilogue) return renumber(work.out, to);
  auto& first = work.epilogue->values.front().access;
  const auto of_sum = first;
  renumber(*work.epilogue, to);
  first = of_sum;
}
void renumber(ScatterInto& work, const std::vector<std::uint32_t>& to) {
  for (auto* access : {&work.data, &work.index, &work.values, &work.out}) renumber(*access, to);
}
template <typename Other>
void renumber(Other&, const std::vector<std::uint32_t>&) {}

class Bundler {
 public:
  Bundler(const Program& program, const std::vector<KernelSource>& sources,
          const SourceOptions& options)
      : program_(program), sources_(sources), options_(options) {
    Bindings token;
    for (const auto& [name, interval] : program.symbols)
      token[name] = std::min(std::max<std::int64_t>(interval.low, 1), interval.high);
    for (std::size_t i = 0; i < sources.size(); ++i) likes_.push_back(like(i, token));
  }

  Bundles make() && {
    out_.grouped = program_;
    out_.grouped.steps.clear();
    std::vector<bool> is_taken(program_.steps.size());
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      if (is_taken[i]) continue;
      if (const auto copy = copy_behind(i, is_taken)) {
        is_taken[*copy] = true;
        add_copied(i, *copy);
        continue;
      }
      if (const auto gated = gated_by(i, is_taken)) {
        is_taken[*gated] = true;
        add({.steps = {i, *gated}}, true);
        continue;
      }
      Unit unit{.steps = {i}};
      for (const auto j : beside(i, is_taken)) {
        unit.steps.push_back(j);
        is_taken[j] = true;
      }
      add(std::move(unit), false);
    }
    return std::move(out_);
  }

 private:
  // How a kernel is launched at a token, if that is something a bundle has as a part.
  std::optional<Launch> like(std::size_t kernel, const Bindings& token) const {
    const auto& source = sources_[kernel];
    const auto kind = program_.kernels[kernel].work.index();
    const bool is_known = std::ranges::all_of(
        source.launch_symbols, [&](const auto& name) { return token.contains(name); });
    if (kind == 2 || kind == 3 || !is_known) return std::nullopt;  // experts, attention
    const auto plan = source.plan(token);
    if (plan.product || plan.scratch_bytes > 0 || plan.launches.size() != 1) return std::nullopt;
    const auto& launch = plan.launches.front();
    if (launch.grid[1] != 1 || launch.grid[2] != 1 || launch.shared_bytes > 0) return std::nullopt;
    return launch;
  }

  // Later steps that can go with this one.
  std::vector<std::size_t> beside(std::size_t first, const std::vector<bool>& is_taken) const {
    std::vector<std::size_t> found;
    const auto& like = likes_[program_.steps[first].kernel];
    if (!like) return found;
    std::set<BufferId> read, written;
    const auto note = [&](std::size_t i) {
      each_buffer(i, [&](BufferId id, bool writes) { (writes ? written : read).insert(id); });
    };
    note(first);
    std::vector<Launch> launches = {*like};
    std::set<BufferId> operands(program_.steps[first].buffers.begin(),
                                program_.steps[first].buffers.end());
    const auto end = std::min(program_.steps.size(), first + kWindow);
    for (auto i = first + 1; i < end && found.size() + 1 < kMostOfBundle; ++i) {
      if (is_taken[i]) continue;
      bool is_free = true;
      each_buffer(i, [&](BufferId id, bool writes) {
        if (written.contains(id) || (writes && read.contains(id))) is_free = false;
      });
      note(i);
      const auto& other = likes_[program_.steps[i].kernel];
      if (!is_free || !other) continue;
      auto more = operands;
      more.insert(program_.steps[i].buffers.begin(), program_.steps[i].buffers.end());
      launches.push_back(*other);
      if (more.size() <= kMostOperands && go_together(launches)) {
        operands = std::move(more);
        found.push_back(i);
      } else {
        launches.pop_back();
      }
    }
    return found;
  }

  // A product of the same x whose epilogue takes in what this one stores, at the same place.
  std::optional<std::size_t> gated_by(std::size_t number, const std::vector<bool>& is_taken) const {
    const auto& step = program_.steps[number];
    const auto* gate = std::get_if<Matmul>(&program_.kernels[step.kernel].work);
    const auto next = number + 1;
    if (gate == nullptr || next >= program_.steps.size() || is_taken[next]) return std::nullopt;
    const auto& other = program_.steps[next];
    const auto* gated = std::get_if<Matmul>(&program_.kernels[other.kernel].work);
    const auto &like = likes_[step.kernel], &its = likes_[other.kernel];
    if (gated == nullptr || !gated->epilogue || !like || !its || like->threads != its->threads ||
        like->grid != its->grid || like->entry != its->entry || gate->epilogue)
      return std::nullopt;
    // The one form in which the same thread has the same element of both: rows of W by warps.
    const bool are_vectors = sources_[step.kernel].entries.at(like->entry) == "vector1" &&
                             sources_[other.kernel].entries.at(its->entry) == "vector1";
    const bool is_same_x = step.buffers[gate->a.operand] == other.buffers[gated->a.operand] &&
                           gate->a.view == gated->a.view &&
                           gate->b.view.shape == gated->b.view.shape;
    if (!are_vectors || !is_same_x) return std::nullopt;
    const auto result = step.buffers[gate->out.operand];
    const auto is_result = [&](const Access& access) {
      return other.buffers[access.operand] == result;
    };
    if (is_result(gated->a) || is_result(gated->b)) return std::nullopt;
    bool takes_it = false;
    const auto& values = gated->epilogue->values;
    for (std::size_t i = 1; i < values.size(); ++i) {
      if (values[i].op != Op::kInput && values[i].op != Op::kGather) continue;
      if (!is_result(values[i].access)) continue;
      if (values[i].op == Op::kGather || !(values[i].access.view == gate->out.view))
        return std::nullopt;
      takes_it = true;
    }
    bool writes_what_is_read = false;
    each_buffer(next, [&](BufferId id, bool writes) {
      if (writes && std::ranges::find(step.buffers, id) != step.buffers.end())
        writes_what_is_read = true;
    });
    return takes_it && !writes_what_is_read ? std::optional(next) : std::nullopt;
  }

  // The only reader of what attention computes, if all it does is to copy or cast that.
  std::optional<std::size_t> copy_behind(std::size_t number,
                                         const std::vector<bool>& is_taken) const {
    const auto& step = program_.steps[number];
    const auto& kernel = program_.kernels[step.kernel];
    const auto* work = std::get_if<Attention>(&kernel.work);
    const auto next = number + 1;
    if (work == nullptr || next >= program_.steps.size() || is_taken[next]) return std::nullopt;
    const auto result = step.buffers[work->out.operand];
    const auto& other = program_.steps[next];
    const auto& copying = program_.kernels[other.kernel];
    const auto* copy = std::get_if<Region>(&copying.work);
    if (copy == nullptr || other.buffers.size() != 2 ||
        program_.buffers[result].kind != Buffer::Kind::kTemporary)
      return std::nullopt;
    const auto users = std::ranges::count_if(program_.steps, [&](const Step& s) {
      return std::ranges::find(s.buffers, result) != s.buffers.end();
    });
    if (users != 2 || !attention_as_copied(*work, *copy)) return std::nullopt;
    const auto to = copy->stores.front().to.operand;
    const bool is_apart = std::ranges::find(step.buffers, other.buffers[to]) == step.buffers.end();
    const bool is_its = other.buffers[copy->values.front().access.operand] == result;
    // Sums are f32 until they are stored.
    const auto stored = kernel.operands[work->out.operand].dtype;
    const bool is_same_value =
        stored == copying.operands[to].dtype ||
        (stored == DType::kF32 && kernel.operands[work->q.operand].dtype != DType::kF64);
    return is_apart && is_its && is_same_value ? std::optional(next) : std::nullopt;
  }

  void add_copied(std::size_t number, std::size_t copy) {
    const auto &step = program_.steps[number], &other = program_.steps[copy];
    auto kernel = program_.kernels[step.kernel];
    auto& work = std::get<Attention>(kernel.work);
    const auto& region = std::get<Region>(program_.kernels[other.kernel].work);
    const auto to = region.stores.front().to.operand;
    work = *attention_as_copied(work, region);
    kernel.operands[work.out.operand] = program_.kernels[other.kernel].operands[to];
    Step together{static_cast<std::uint32_t>(out_.units.size()), step.buffers};
    Unit unit{.steps = {number, copy}, .buffers = step.buffers};
    unit.buffers[work.out.operand] = other.buffers[to];
    together.buffers.push_back(other.buffers[to]);
    const auto [at, is_new] =
        copied_.emplace(std::pair(step.kernel, other.kernel), out_.sources.size());
    if (is_new) out_.sources.push_back(source_of(kernel, options_));
    unit.bundle = at->second;
    out_.grouped.steps.push_back(std::move(together));
    out_.units.push_back(std::move(unit));
  }

  static bool go_together(const std::vector<Launch>& launches) {
    std::uint32_t threads = 0;
    for (const auto& launch : launches) threads = std::max(threads, launch.threads);
    return std::ranges::all_of(launches, [&](const Launch& launch) {
      return launch.threads == threads || launch.grid[0] < kManyBlocks;
    });
  }

  void add(Unit unit, bool in_turn) {
    Step together{static_cast<std::uint32_t>(out_.units.size()), {}};
    std::vector<std::vector<std::uint32_t>> numbers;  // of each part's operands
    for (const auto step : unit.steps) {
      auto& of_part = numbers.emplace_back();
      for (const auto id : program_.steps[step].buffers) {
        const auto at = std::ranges::find(together.buffers, id);
        of_part.push_back(static_cast<std::uint32_t>(at - together.buffers.begin()));
        if (at == together.buffers.end()) together.buffers.push_back(id);
      }
    }
    if (unit.steps.size() > 1) {
      unit.bundle = source_for(unit, numbers, together.buffers, in_turn);
      unit.buffers = together.buffers;
    }
    out_.grouped.steps.push_back(std::move(together));
    out_.units.push_back(std::move(unit));
  }

  // Layers that repeat share their bundles.
  std::size_t source_for(const Unit& unit, const std::vector<std::vector<std::uint32_t>>& numbers,
                         const std::vector<BufferId>& buffers, bool in_turn) {
    std::vector<std::uint32_t> kernels;
    for (const auto step : unit.steps) kernels.push_back(program_.steps[step].kernel);
    const auto [at, is_new] = known_.emplace(std::pair(kernels, numbers), out_.sources.size());
    if (!is_new) return at->second;
    std::vector<Kernel::Formal> formals;
    for (const auto id : buffers)
      formals.push_back({program_.buffers[id].dtype, program_.buffers[id].shape, false});
    std::vector<Kernel> parts;
    std::vector<Launch> like;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      auto part = program_.kernels[kernels[i]];
      const auto own = std::exchange(part.operands, formals);
      for (std::size_t o = 0; o < own.size(); ++o)
        if (own[o].is_written) part.operands[numbers[i][o]].is_written = true;
      std::visit([&](auto& work) { renumber(work, numbers[i]); }, part.work);
      parts.push_back(std::move(part));
      like.push_back(*likes_[kernels[i]]);
    }
    out_.sources.push_back(bundle_source(parts, like, in_turn, options_));
    return at->second;
  }

  template <typename F>
  void each_buffer(std::size_t number, const F& f) const {
    const auto& step = program_.steps[number];
    const auto& formals = program_.kernels[step.kernel].operands;
    for (std::size_t i = 0; i < step.buffers.size(); ++i) f(step.buffers[i], formals[i].is_written);
  }

  const Program& program_;
  const std::vector<KernelSource>& sources_;
  SourceOptions options_;
  std::vector<std::optional<Launch>> likes_;  // of each kernel
  std::map<std::pair<std::vector<std::uint32_t>, std::vector<std::vector<std::uint32_t>>>,
           std::size_t>
      known_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> copied_;
  Bundles out_;
};

}  // namespace

Bundles bundles_of(const Program& program, const std::vector<KernelSource>& sources,
                   const SourceOptions& options) {
  return Bundler(program, sources, options).make();
}

}  // namespace assay::compiler::cuda
