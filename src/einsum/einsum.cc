// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/einsum.h"

#include <cstdlib>

#include "base/error.h"

namespace assay::einsum {
namespace {

// The text of a key is put together here, again and again: a hit allocates nothing.
std::string& key_buffer() {
  thread_local std::string buffer;
  buffer.clear();
  return buffer;
}

void add(Counters& sum, const Counters& more) {
  for (std::size_t k = 0; k < sum.kernels.size(); ++k) sum.kernels[k] += more.kernels[k];
  sum.gemm_calls += more.gemm_calls;
  sum.gemv_calls += more.gemv_calls;
  sum.reference_calls += more.reference_calls;
  sum.copied_bytes += more.copied_bytes;
}

}  // namespace

EngineOptions EngineOptions::from_environment() {
  EngineOptions options;
  const char* backend = std::getenv("ASSAY_EINSUM_BACKEND");
  if (backend != nullptr && *backend != '\0') options.backend = backend_from_name(backend);
  return options;
}

Engine::Engine(EngineOptions options)
    : options_(std::move(options)),
      backend_(options_.backend),
      plans_(options_.cached_plans),
      paths_(options_.cached_paths),
      multi_plans_(options_.cached_plans) {}

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
  if (options.backend == Backend::kCuda && !options_.model.on_device) {
    fail("einsum: this engine computes on the processor, not on backend 'cuda'");
  }
  const bool searches =
      options.backend != Backend::kReference && !options.memory && operands.size() > 2;
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

std::string& Engine::key_of(std::string_view expression, std::span<const TensorView> operands,
                            const PlanOptions& options) const {
  std::string& key = key_buffer();
  key.append(expression);
  for (const auto& operand : operands) append_key(key, operand);
  append_key(key, options, options_.model.id);
  return key;
}

std::shared_ptr<const Plan> Engine::find_plan(std::string_view expression,
                                              std::span<const TensorView> operands,
                                              const CallOptions& call) {
  return plans_.find(key_of(expression, operands, plan_options(call)));
}

std::shared_ptr<const Plan> Engine::plan(std::string_view expression,
                                         std::span<const TensorView> operands,
                                         const CallOptions& call) {
  const auto options = plan_options(call);
  const std::string& key = key_of(expression, operands, options);
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

RunReport Engine::run_into(const Plan& plan, std::span<const TensorView> operands,
                           const MutableTensorView& out, const RunOptions& options) {
  // A bound on memory leaves no room for blocks that are kept for later.
  std::unique_lock lock(workspace_mutex_, std::try_to_lock);
  if (lock.owns_lock() && !plan.options.memory) {
    return plan.run_into(operands, out, workspace_, options);
  }
  Workspace own(0);
  return plan.run_into(operands, out, own, options);
}

RunReport Engine::einsum_into(std::string_view expression, std::span<const TensorView> operands,
                              const MutableTensorView& out, const CallOptions& call) {
  const auto p = plan(expression, operands, call);
  return run_into(*p, operands, out, {.alpha = call.alpha, .beta = call.beta});
}

Tensor Engine::einsum(std::string_view expression, std::span<const TensorView> operands,
                      const CallOptions& call) {
  if (call.beta != 0.0)
    fail("einsum: beta needs an out to be added to, beta is {}", call.beta.real());
  const auto p = plan(expression, operands, call);
  Tensor out(p->result, p->output_shape());
  run_into(*p, operands, out.mutable_view(), {.alpha = call.alpha});
  return out;
}

Tensor Engine::einsum(std::span<const std::vector<std::int32_t>> labels,
                      std::span<const TensorView> operands,
                      const std::optional<std::vector<std::int32_t>>& output,
                      const CallOptions& call) {
  return einsum(to_string(integer_notation(labels, output)), operands, call);
}

std::shared_ptr<const MultiPlan> Engine::multi_plan(std::span<const SharedExpression> expressions,
                                                    std::span<const TensorView> operands) {
  const auto options = plan_options({});
  std::string key;
  for (const auto& e : expressions) {
    key += fmt::format("{}|{};", e.expression, fmt::join(e.operands, ","));
  }
  for (const auto& operand : operands) append_key(key, operand);
  append_key(key, options, options_.model.id);
  if (auto found = multi_plans_.find(key)) return found;
  std::vector<OperandSpec> specs;
  for (const auto& operand : operands) specs.push_back(OperandSpec::of(operand));
  const PlanMaker maker = [&](const std::string& expression, std::span<const OperandSpec> of,
                              std::optional<DType> dtype, Precision precision) {
    auto own = options;
    own.dtype = dtype;
    own.precision = precision;
    return plan(expression, of, own);
  };
  auto made = std::make_shared<const MultiPlan>(plan_together(expressions, specs, maker));
  multi_plans_.insert(key, made);
  return made;
}

std::vector<Tensor> Engine::multi_einsum(std::span<const SharedExpression> expressions,
                                         std::span<const TensorView> operands,
                                         MultiReport* report) {
  const auto together = multi_plan(expressions, operands);
  const auto& calls = together->calls;
  std::vector<std::size_t> last_use(calls.size(), calls.size());
  for (std::size_t c = 0; c < calls.size(); ++c) {
    for (const std::size_t i : calls[c].operands) {
      if (i >= operands.size()) last_use[i - operands.size()] = c;
    }
  }
  MultiReport said{
      together->shared, together->saved, together->predicted_s, together->separate_s, {}};
  std::vector<std::optional<Tensor>> made(calls.size());
  Workspace workspace;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    const auto& p = *calls[c].plan;
    std::vector<TensorView> views;
    for (const std::size_t i : calls[c].operands) {
      views.push_back(i < operands.size() ? operands[i] : made[i - operands.size()]->view());
    }
    made[c].emplace(p.result, p.output_shape());
    add(said.counters, p.run_into(views, made[c]->mutable_view(), workspace).counters);
    for (const std::size_t i : calls[c].operands) {
      if (i >= operands.size() && last_use[i - operands.size()] == c) {
        made[i - operands.size()].reset();
      }
    }
  }
  std::vector<Tensor> results;
  for (std::size_t c = together->shared; c < calls.size(); ++c) {
    results.push_back(std::move(*made[c]));
  }
  if (report != nullptr) *report = said;
  return results;
}

void Engine::load_paths() {
  if (!options_.path_file.empty()) einsum::load_paths(options_.path_file, paths_);
}

void Engine::save_paths() const {
  if (!options_.path_file.empty()) {
    einsum::save_paths(options_.path_file, paths_, options_.cached_paths);
  }
}

}  // namespace assay::einsum
