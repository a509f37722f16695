// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/pe.h"

#include <algorithm>
#include <array>

#include "chip/gemm/systolic.h"

namespace assay::chip {

namespace {

std::int64_t count_loads(const GemmPlan& plan) {
  std::int64_t loads = 0;
  for (const auto& pe : plan.pes) loads += static_cast<std::int64_t>(pe.loads.size());
  return loads;
}

}  // namespace

Machine::Machine(Simulator& sim, const Topology& chip, const GemmPlan& gemm)
    : simulator(sim),
      topology(chip),
      plan(gemm),
      memory(sim, chip),
      loaded(sim, count_loads(gemm)) {
  log.pes = static_cast<std::int32_t>(plan.pes.size());
  log.dma_slots = static_cast<std::int32_t>(chip.dma.queues);
  rounds.resize(plan.rounds.size());
  const auto open_round = [&](std::int32_t round, const Block& block) {
    RoundState& state = rounds[static_cast<std::size_t>(round)];
    if (state.missing > 0) return;
    const auto& members = plan.rounds[static_cast<std::size_t>(round)].members;
    state.missing = static_cast<std::int64_t>(members.size());
    state.arrived.reserve(members.size());
    state.trees = &memory.noc().trees_to(members);
    for (std::size_t m = 0; m < members.size(); ++m) {
      state.arrived.emplace_back(sim, memory.bursts(block));
      state.latches.push_back(&state.arrived.back());
    }
  };
  for (const auto& pe : plan.pes) {
    for (const auto& load : pe.loads) {
      if (load.round >= 0) open_round(load.round, plan.memory.b_panel(load.index));
    }
    for (const auto& step : pe.steps) {
      if (step.round >= 0) open_round(step.round, plan.memory.b_tile(step.k, step.j));
    }
  }
}

Pe::Pe(Machine& machine, std::int32_t id)
    : machine_(machine),
      simulator_(machine.simulator),
      plan_(machine.plan.pes[static_cast<std::size_t>(id)]),
      id_(id),
      gemm_time_(tile_compute_time(machine.topology)),
      streams_a_(machine.plan.options.variant == Variant::kRefRef),
      streams_b_(machine.plan.options.variant != Variant::kLoadLoad),
      to_me_(&machine.memory.noc().trees_to(std::array{id})),
      buffers_(simulator_, machine.topology.pe.buffer_depth),
      outputs_(simulator_, std::max(machine.topology.pe.output_buffers, plan_.open_outputs)) {
  const TileTopology& tile = machine.topology.tile;
  fetch_bytes_ = (tile.m * tile.k + tile.k * tile.n) * tile.element_bytes;
  fetch_time_ = machine.topology.pe.fetch.duration(fetch_bytes_);
  tile_macs_ = tile.m * tile.k * tile.n;

  const std::size_t steps = plan_.steps.size();
  held_.resize(steps);
  for (auto* ops : {&in_op_, &fetch_op_, &gemm_op_}) ops->assign(steps, kNoOp);
  arrived_.reserve(steps);
  fetched_.reserve(steps);
  std::vector<std::int32_t> open(
      static_cast<std::size_t>(machine.plan.m_tiles * machine.plan.n_tiles), -1);
  std::int32_t outputs = 0;
  for (std::size_t s = 0; s < steps; ++s) {
    const TileStep& step = plan_.steps[s];
    arrived_.emplace_back(simulator_);
    fetched_.emplace_back(simulator_);
    auto& number = open[static_cast<std::size_t>(step.i * machine.plan.n_tiles + step.j)];
    if (step.first_k) number = outputs++;
    output_number_.push_back(number);
    if (step.last_k) output_steps_.push_back(static_cast<std::int32_t>(s));
  }
  output_held_.resize(static_cast<std::size_t>(outputs));
  finished_.reserve(output_steps_.size());
  for (std::size_t o = 0; o < output_steps_.size(); ++o) finished_.emplace_back(simulator_);
}

void Pe::spawn() {
  if (plan_.steps.empty()) return;
  const auto name = [&](Stage stage) { return fmt::format("pe {} {}", id_, name_of(stage)); };
  for (std::int32_t slot = 0; slot < machine_.log.dma_slots; ++slot) {
    if (!plan_.loads.empty()) simulator_.spawn(load(slot), name(Stage::kDmaIn));
    if (streams_b_) simulator_.spawn(dma_in(slot), name(Stage::kDmaIn));
    simulator_.spawn(dma_out(slot), name(Stage::kDmaOut));
  }
  simulator_.spawn(fetch(), name(Stage::kFetch));
  simulator_.spawn(gemm(), name(Stage::kGemm));
}

Process Pe::load(std::int32_t slot) {
  while (next_load_ < plan_.loads.size()) {
    const PanelLoad& panel = plan_.loads[next_load_++];
    OpRecord op;
    op.pe = id_;
    op.slot = slot;
    op.t_request = op.t_ready = simulator_.now();
    const auto& map = machine_.plan.memory;
    const Block block = panel.of_b ? map.b_panel(panel.index) : map.a_panel(panel.index);
    Latch done(simulator_);
    const Wanted wanted =
        panel.of_b ? Wanted{nullptr, &block, panel.round} : Wanted{&block, {}, -1};
    simulator_.start(read(wanted, op, done));
    co_await done.wait();
    machine_.last_load = machine_.log.add(op);
    machine_.loaded.count_down();
  }
}

Process Pe::dma_in(std::int32_t slot) {
  co_await machine_.loaded.wait();
  while (next_step_ < plan_.steps.size()) {
    const std::size_t s = next_step_++;
    const TileStep& step = plan_.steps[s];
    OpRecord op;
    op.pe = id_;
    op.slot = slot;
    op.tile = machine_.plan.tile_index(step);
    op.t_request = simulator_.now();
    held_[s] = co_await buffers_.acquire();
    op.t_ready = simulator_.now();
    const Block a = machine_.plan.memory.a_tile(step.i, step.k);
    const Block b = machine_.plan.memory.b_tile(step.k, step.j);
    Latch done(simulator_);
    simulator_.start(read({streams_a_ ? &a : nullptr, &b, step.round}, op, done));
    co_await done.wait();
    const auto depth = static_cast<std::size_t>(machine_.topology.pe.buffer_depth);
    op.dependencies = {s >= depth ? releases_[s - depth] : kNoOp, machine_.last_load, kNoOp};
    in_op_[s] = machine_.log.add(op);
    arrived_[s].count_down();
  }
}

// One DMA request: setup, then to the ports in the order of distance; ends when all bursts of all
// operands are here. Fills in the grant, the end and the bytes of `op`.
Process Pe::read(Wanted wanted, OpRecord& op, Latch& done) {
  MemorySystem& memory = machine_.memory;
  const Time granted = simulator_.now();
  RoundState* const round =
      wanted.round >= 0 ? &machine_.rounds[static_cast<std::size_t>(wanted.round)] : nullptr;
  const bool own_b = wanted.b != nullptr && round == nullptr;
  const bool issues_round = round != nullptr && --round->missing == 0;
  if (issues_round) round->issued_at = granted;

  const std::int64_t own_bursts =
      (wanted.a != nullptr ? memory.bursts(*wanted.a) : 0) + (own_b ? memory.bursts(*wanted.b) : 0);
  Latch arrived(simulator_, own_bursts);
  const std::array<Latch*, 1> self = {&arrived};
  Progress own;
  std::int64_t bursts = own_bursts;
  if (issues_round) bursts += memory.bursts(*wanted.b);

  if (bursts > 0) {
    const Time issued = granted + machine_.topology.dma.setup;
    for (const auto port : memory.ports_by_distance(id_)) {
      const Time there = issued + memory.noc().latency(id_, port);
      if (there > simulator_.now()) co_await simulator_.until(there);
      if (wanted.a != nullptr) memory.read_at_port(port, {*wanted.a, to_me_, self}, own);
      if (own_b) memory.read_at_port(port, {*wanted.b, to_me_, self}, own);
      if (issues_round) {
        memory.read_at_port(port, {*wanted.b, round->trees, round->latches}, round->progress);
      }
    }
  }
  co_await arrived.wait();
  Time wait = own.wait, base = granted;
  if (round != nullptr) {
    const auto& members = machine_.plan.rounds[static_cast<std::size_t>(wanted.round)].members;
    const auto member = std::lower_bound(members.begin(), members.end(), id_) - members.begin();
    co_await round->arrived[static_cast<std::size_t>(member)].wait();
    if (own_bursts == 0) base = std::max(granted, round->issued_at);
    if (own_bursts == 0 || issues_round) wait = std::min(wait, round->progress.wait);
  }
  // Where no link lies between the port and the only member, the round's end is known like our own.
  const Time end = std::max(own.end, round != nullptr ? round->progress.end : Time{0});
  if (end > simulator_.now()) co_await simulator_.until(end);
  op.t_grant = std::min(base + wait, simulator_.now());
  op.t_end = simulator_.now();
  op.bytes = bursts * memory.burst_bytes();
  done.count_down();
}

Process Pe::fetch() {
  co_await machine_.loaded.wait();
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    OpRecord op;
    op.pe = id_;
    op.stage = Stage::kFetch;
    op.tile = machine_.plan.tile_index(plan_.steps[s]);
    if (streams_b_) {
      co_await arrived_[s].wait();
      op.t_request = arrived_[s].opened_at();
      op.dependencies[0] = in_op_[s];
    } else {
      op.t_request = simulator_.now();
      held_[s] = co_await buffers_.acquire();
      const auto depth = static_cast<std::size_t>(machine_.topology.pe.buffer_depth);
      op.dependencies = {s >= depth ? releases_[s - depth] : kNoOp, machine_.last_load, kNoOp};
    }
    op.t_ready = op.t_grant = simulator_.now();
    co_await simulator_.delay(fetch_time_);
    op.t_end = simulator_.now();
    op.bytes = fetch_bytes_;
    fetch_op_[s] = machine_.log.add(op);
    if (machine_.topology.pe.buffer_release == BufferRelease::kFetch) {
      release_operands(s, fetch_op_[s]);
    }
    fetched_[s].count_down();
  }
}

void Pe::release_operands(std::size_t step, OpId by) {
  releases_.push_back(by);
  held_[step].release();
}

Process Pe::gemm() {
  std::size_t done_outputs = 0;
  const auto credits = static_cast<std::int32_t>(outputs_.free());
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    const TileStep& step = plan_.steps[s];
    OpRecord op;
    op.pe = id_;
    op.stage = Stage::kGemm;
    op.tile = machine_.plan.tile_index(step);
    co_await fetched_[s].wait();
    op.t_request = fetched_[s].opened_at();
    op.dependencies = {fetch_op_[s], s > 0 ? gemm_op_[s - 1] : kNoOp, kNoOp};
    if (step.first_k) {
      const std::int32_t number = output_number_[s];
      output_held_[static_cast<std::size_t>(number)] = co_await outputs_.acquire();
      if (number >= credits) {
        op.dependencies[2] = writes_[static_cast<std::size_t>(number - credits)];
      }
    }
    op.t_ready = op.t_grant = simulator_.now();
    co_await simulator_.delay(gemm_time_);
    op.t_end = simulator_.now();
    op.macs = tile_macs_;
    op.useful_macs = useful_macs(machine_.plan, step, machine_.topology.tile);
    gemm_op_[s] = machine_.log.add(op);
    if (machine_.topology.pe.buffer_release == BufferRelease::kGemm) {
      release_operands(s, gemm_op_[s]);
    }
    if (step.last_k) finished_[done_outputs++].count_down();
  }
}

Process Pe::dma_out(std::int32_t slot) {
  while (next_output_ < output_steps_.size()) {
    const std::size_t o = next_output_++;
    const auto s = static_cast<std::size_t>(output_steps_[o]);
    const TileStep& step = plan_.steps[s];
    co_await finished_[o].wait();
    OpRecord op;
    op.pe = id_;
    op.slot = slot;
    op.stage = Stage::kDmaOut;
    op.tile = machine_.plan.tile_index(step);
    op.t_request = finished_[o].opened_at();
    const Time granted = op.t_ready = simulator_.now();
    const Block block = machine_.plan.memory.c_tile(step.i, step.j);
    const std::int64_t bursts = machine_.memory.bursts(block);
    if (machine_.topology.dma.setup > 0) co_await simulator_.delay(machine_.topology.dma.setup);
    Latch written(simulator_, bursts);
    Progress progress;
    machine_.memory.write(id_, block, written, progress);
    co_await written.wait();
    if (progress.end > simulator_.now()) co_await simulator_.until(progress.end);
    op.t_end = simulator_.now();
    op.t_grant = granted + progress.wait;
    op.bytes = bursts * machine_.memory.burst_bytes();
    op.dependencies[0] = gemm_op_[s];
    writes_.push_back(machine_.log.add(op));
    output_held_[static_cast<std::size_t>(output_number_[s])].release();
  }
}

}  // namespace assay::chip
