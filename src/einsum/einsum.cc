// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/einsum.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace assay::einsum {
namespace {

// The text of a key is put together here, again and again: a hit allocates nothing.
std::string& key_buffer() {
  thread_local std::string buffer;
  buffer.clear();
  return buffer;
}

}  // namespace

EngineOptions EngineOptions::from_environment() {
  EngineOptions options;
  const char* backend = std::getenv("ASSAY_EINSUM_BACKEND");
  if (backend != nullptr && *backend != '\0') options.backend = backend_from_name(backend);
  const char* crossover = std::getenv("ASSAY_EINSUM_DEVICE_MIN_FLOP");
  if (crossover != nullptr && *crossover != '\0') {
    double value = -1;
    const auto [end, error] = std::from_chars(crossover, crossover + std::strlen(crossover), value);
    if (error != std::errc() || *end != '\0' || !(value >= 0)) {
      fail("ASSAY_EINSUM_DEVICE_MIN_FLOP is a number of operations, at least 0, not '{}'",
           crossover);
    }
  }
  return options;
}

Engine::Engine(EngineOptions options)
    : options_(std::move(options)),
      backend_(options_.backend),
      plans_(options_.cached_plans),
      paths_(options_.cached_paths) {
  if (!options_.path_file.empty()) load_paths(options_.path_file, paths_);
}

void Engine::set_backend(Backend backend) { backend_ = backend; }
Backend Engine::get_backend() const { return backend_; }

PlanOptions Engine::plan_options(const CallOptions& call) const {
  PlanOptions options;
  options.backend = backend_;
  options.objective = call.objective;
  options.dtype = call.dtype;
  options.precision = call.precision;
  options.memory = call.memory;
  options.threads = options_.threads;
  return options;
}

std::shared_ptr<const Plan> Engine::make(std::string_view expression,
                                         std::vector<OperandSpec> operands,
                                         const PlanOptions& options) {
  const auto notation = parse_notation(expression);
  // Another spelling, or other strides, of something that was searched before? With a memory bound
  // the order depends on the slices, and is found anew.
  std::string key;
  std::shared_ptr<const PathReport> known;
  const bool searches = options.backend == Backend::kBlas && !options.memory && operands.size() > 2;
  if (searches) {
    std::vector<Shape> shapes;
    for (const auto& operand : operands) shapes.push_back(operand.shape);
    key = path_key(bind_labels(notation, shapes), operands, options, options_.model.id);
    known = paths_.find(key);
  }
  // A file may hold an order for other terms under this key only if it was tampered with.
  if (known && known->tree.merges.size() + 1 != operands.size()) known = nullptr;
  auto plan = make_plan(notation, std::move(operands), options, options_.model, known.get());
  if (searches && !known && !plan.steps.empty()) {
    paths_.insert(key, std::make_shared<const PathReport>(plan.path));
  }
  return std::make_shared<const Plan>(std::move(plan));
}

std::shared_ptr<const Plan> Engine::plan(std::string_view expression,
                                         std::span<const TensorView> operands,
                                         const CallOptions& call) {
  const auto options = plan_options(call);
  std::string& key = key_buffer();
  key.append(expression);
  for (const auto& operand : operands) append_key(key, operand);
  append_key(key, options, options_.model.id);
  if (auto found = plans_.find(key)) return found;
  const std::string kept_key = key;
  std::vector<OperandSpec> specs;
  for (const auto& operand : operands) specs.push_back(OperandSpec::of(operand));
  auto made = make(expression, std::move(specs), options);
  plans_.insert(kept_key, made);
  return made;
}

std::shared_ptr<const Plan> Engine::plan(std::string_view expression,
                                         std::span<const OperandSpec> operands,
                                         PlanOptions options) {
  std::string& key = key_buffer();
  key.append(expression);
  for (const auto& operand : operands) append_key(key, operand);
  append_key(key, options, options_.model.id);
  if (auto found = plans_.find(key)) return found;
  const std::string kept_key = key;
  auto made = make(expression, {operands.begin(), operands.end()}, options);
  plans_.insert(kept_key, made);
  return made;
}

template <typename F>
auto Engine::with_workspace(const Plan& plan, F&& f) {
  // A bound on memory leaves no room for blocks that are kept for later.
  std::unique_lock lock(workspace_mutex_, std::try_to_lock);
  if (lock.owns_lock() && !plan.options.memory) return f(workspace_);
  Workspace own(0);
  return f(own);
}

RunReport Engine::einsum_into(std::string_view expression, std::span<const TensorView> operands,
                              const MutableTensorView& out, const CallOptions& call) {
  const auto p = plan(expression, operands, call);
  return with_workspace(*p, [&](Workspace& workspace) {
    return p->run_into(operands, out, workspace, {.alpha = call.alpha, .beta = call.beta});
  });
}

Tensor Engine::einsum(std::string_view expression, std::span<const TensorView> operands,
                      const CallOptions& call) {
  if (call.beta != 0.0)
    fail("einsum: beta needs an out to be added to, beta is {}", call.beta.real());
  const auto p = plan(expression, operands, call);
  Tensor out(p->result, p->output_shape());
  with_workspace(*p, [&](Workspace& workspace) {
    return p->run_into(operands, out.mutable_view(), workspace, {.alpha = call.alpha});
  });
  return out;
}

Tensor Engine::einsum(std::span<const std::vector<std::int32_t>> labels,
                      std::span<const TensorView> operands,
                      const std::optional<std::vector<std::int32_t>>& output,
                      const CallOptions& call) {
  return einsum(to_string(integer_notation(labels, output)), operands, call);
}

std::vector<Tensor> Engine::multi_einsum(std::span<const SharedExpression> expressions,
                                         std::span<const TensorView> operands, int* reused) {
  struct Call {
    std::shared_ptr<const Plan> plan;
    std::vector<TensorView> views;
    std::vector<std::string> signatures;
  };
  std::vector<Call> calls;
  SharedResults shared;
  std::set<std::string> seen;
  for (const auto& e : expressions) {
    Call call;
    for (const std::size_t i : e.operands) {
      if (i >= operands.size()) {
        fail("einsum: '{}' names common operand {}, but there are {}", e.expression, i,
             operands.size());
      }
      call.views.push_back(operands[i]);
    }
    call.plan = plan(e.expression, call.views);
    call.signatures = step_signatures(*call.plan, e.operands);
    for (const auto& s : call.signatures) {
      if (!seen.insert(s).second) shared.wanted.insert(s);
    }
    calls.push_back(std::move(call));
  }
  std::vector<Tensor> results;
  Workspace workspace;
  for (const auto& call : calls) {
    Tensor out(call.plan->result, call.plan->output_shape());
    call.plan->run_into(call.views, out.mutable_view(), workspace,
                        {.shared = &shared, .signatures = call.signatures});
    results.push_back(std::move(out));
  }
  shared.results.clear();
  if (reused != nullptr) *reused = shared.reused;
  return results;
}

void Engine::save_paths() const {
  if (!options_.path_file.empty()) {
    einsum::save_paths(options_.path_file, paths_, options_.cached_paths);
  }
}

std::vector<std::string> step_signatures(const Plan& plan, std::span<const std::size_t> operands) {
  // Text of every node; labels are numbered in order of appearance within a step.
  std::vector<std::string> nodes, signatures;
  for (std::size_t i = 0; i < plan.operands.size(); ++i)
    nodes.push_back(fmt::format("o{}", operands[i]));
  for (const auto& step : plan.steps) {
    std::map<Label, int> numbers;
    std::string text = fmt::format("({}:", name_of(plan.compute));
    const auto layout = [&](const Layout& modes) {
      for (const auto& mode : modes) {
        const auto number = numbers.try_emplace(mode.label, numbers.size()).first->second;
        text += fmt::format("{}x{}/{} ", number, mode.extent, mode.stride);
      }
    };
    text += nodes[static_cast<std::size_t>(step.operands[0])] + "|";
    layout(step.a);
    if (step.operands.size() > 1) {
      text += "," + nodes[static_cast<std::size_t>(step.operands[1])] + "|";
      layout(step.b);
    }
    text += "->";
    layout(step.c);
    text += ")";
    nodes.push_back(text);
    signatures.push_back(std::move(text));
  }
  return signatures;
}

}  // namespace assay::einsum
