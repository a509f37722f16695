// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/einsum.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/engines/cores.h"
#include "cli/engines/einsum_device.h"
#include "cli/installation.h"
#include "cli/program.h"
#include "einsum/calibrate/calibration.h"
#include "einsum/calibrate/calibration_measure.h"
#include "einsum/plan/dispatch.h"
#include "einsum/plan/explain.h"
#include "tensor/fill.h"
#include "tensor/npy.h"

namespace assay::cli {
namespace {

Shape shape_from(const std::string& text) {
  if (text == "scalar") return Shape();
  std::vector<std::int64_t> extents;
  std::size_t at = 0;
  while (at <= text.size()) {
    const auto end = std::min(text.find('x', at), text.size());
    std::int64_t extent = -1;
    const auto [last, error] = std::from_chars(text.data() + at, text.data() + end, extent);
    if (error != std::errc() || last != text.data() + end || extent < 0) {
      fail("--shapes: a shape is like 512x256, or scalar, not '{}'", text);
    }
    extents.push_back(extent);
    at = end + 1;
  }
  return Shape(std::move(extents));
}

// The operands: files, or tensors of the shapes filled from the seed.
class Operands {
 public:
  explicit Operands(const EinsumArguments& a) {
    if (a.shapes.empty() == a.operands.empty()) {
      fail("give the operands of '{}' by --shapes or by --operands", a.expression);
    }
    for (const auto& path : a.operands) {
      files_.emplace_back(path);
      views_.push_back(files_.back().view());
    }
    dtype_ = dtype_from_name(a.dtype.empty() ? "f32" : a.dtype, "--dtype");
    for (const auto& text : a.shapes)
      specs_.push_back(einsum::OperandSpec::dense(dtype_, shape_from(text)));
    for (const auto& view : views_) specs_.push_back(einsum::OperandSpec::of(view));
  }
  const std::vector<einsum::OperandSpec>& specs() const { return specs_; }
  // Makes the generated ones, which a plan alone does not need.
  const std::vector<TensorView>& views(std::uint64_t seed) {
    if (!views_.empty() || specs_.empty()) return views_;
    if (!is_floating(dtype_) && !is_complex(dtype_)) {
      fail("--dtype: operands are generated in bf16, f32, f64, c64 or c128, not {}",
           name_of(dtype_));
    }
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      tensors_.emplace_back(specs_[i].dtype, specs_[i].shape);
      fill_uniform(tensors_.back().mutable_view(), Philox(seed, i), -1, 1);
    }
    for (const auto& tensor : tensors_) views_.push_back(tensor.view());
    return views_;
  }

 private:
  DType dtype_ = DType::kF32;
  std::deque<NpyFile> files_;
  std::deque<Tensor> tensors_;
  std::vector<TensorView> views_;
  std::vector<einsum::OperandSpec> specs_;
};

einsum::PlanOptions plan_options(const EinsumArguments& a, const einsum::Engine& engine) {
  einsum::PlanOptions options;
  options.backend = engine.get_backend();
  options.objective = einsum::objective_from_name(a.objective);
  if (!a.operands.empty() && !a.dtype.empty()) options.dtype = dtype_from_name(a.dtype, "--dtype");
  if (!a.memory.empty()) options.memory = parse_bytes(a.memory, "--memory");
  options.threads = engine.threads();
  options.seed = a.seed;
  options.exact_limit = a.exact_limit.value_or(options.exact_limit);
  options.tries = a.tries.value_or(options.tries);
  if (options.exact_limit < 2 || options.exact_limit > 18) {
    fail("--exact-limit is from 2 to 18, not {}", options.exact_limit);
  }
  options.budget_s = a.budget.value_or(0);
  if (!(options.budget_s >= 0 && options.budget_s <= 1e6)) {
    fail("--budget is from 0 to 1000000 seconds, not {}", options.budget_s);
  }
  if (options.tries < 1) fail("--tries is at least 1, not {}", options.tries);
  return options;
}

int calibrate(const EinsumArguments& a) {
  const int threads = threads_or_all(a.threads);
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const auto progress = [&](const std::string& what) {
    if (terminal) std::fprintf(stderr, "\r\033[K%s", what.c_str());
  };
  const bool device = place_of(a) != EinsumPlace::kProcessor;
  const auto calibration =
      device ? calibrate_device(progress) : einsum::calibrate(threads, progress);
  if (terminal) std::fputs("\r\033[K", stderr);
  if (!a.out.empty()) einsum::save_calibration(a.out, calibration);
  const auto path = a.out.empty() ? einsum::save_machine_calibration(calibration) : a.out;
  if (a.json) {
    print(pretty_json(einsum::to_json(calibration)) + "\n");
    return kFine;
  }
  print(device ? calibration.blas + "\n"
               : fmt::format("{} threads, {}\n", threads, calibration.blas));
  if (device) {
    print(fmt::format("  there {}, back {}\n",
                      format_rate(calibration.model.to_device.bandwidth, "B/s"),
                      format_rate(calibration.model.from_device.bandwidth, "B/s")));
  }
  for (const auto part : einsum::kParts) {
    for (const bool wide : {false, true}) {
      const auto& p = calibration.model.part(part, wide);
      if (p.shapes == 0) continue;  // no kernel of a device
      print(fmt::format("  {:<10} {}  {:>3} shapes  band {:>3.0f} %  up to {}, {}\n", name_of(part),
                        wide ? "f64" : "f32", p.shapes, 100 * p.band, format_rate(p.rate, "flop/s"),
                        format_rate(p.bandwidth, "B/s")));
    }
  }
  print(fmt::format("written to {}\n", path));
  return kFine;
}

// Whether the file of orders could be used; contractions can do without it.
template <typename Use>
bool keeps_paths(Use use) {
  try {
    use();
    return true;
  } catch (const UserError& e) {
    print_warnings({fmt::format("orders of contractions are not kept: {}", e.what())});
    return false;
  }
}

// The plan that runs, and what was decided before.
struct Chosen {
  std::shared_ptr<const einsum::Plan> plan;
  std::shared_ptr<const einsum::Plan> device_plan;  // where a device was asked for
  std::optional<einsum::Dispatch> dispatch;
  std::string no_device;  // why none was asked, where the faster of two places was wanted
};

Chosen choose(const EinsumArguments& a, einsum::Engine& engine, const Operands& operands,
              EinsumDevice* device) {
  const auto options = plan_options(a, engine);
  Chosen chosen;
  if (device != nullptr) chosen.device_plan = device->plan(a.expression, operands.specs(), options);
  if (place_of(a) == EinsumPlace::kDevice) {
    chosen.dispatch = einsum::forced_on_device(*chosen.device_plan);
    chosen.plan = chosen.device_plan;
    return chosen;
  }
  const bool keeps = keeps_paths([&] { engine.load_paths(); });
  chosen.plan = engine.plan(a.expression, operands.specs(), options);
  if (keeps) keeps_paths([&] { engine.save_paths(); });
  if (device == nullptr) return chosen;
  chosen.dispatch =
      einsum::choose_place(*chosen.plan, *chosen.device_plan, einsum::device_min_flop());
  if (chosen.dispatch->chosen == einsum::Backend::kCuda) chosen.plan = chosen.device_plan;
  return chosen;
}

einsum::RunReport run_plan(const EinsumArguments& a, const einsum::Plan& plan,
                           const std::vector<TensorView>& views, Tensor& out,
                           EinsumDevice* device) {
  if (plan.options.backend == einsum::Backend::kCuda) {
    if (a.analyze) device->run(plan, views, out, false);  // code is loaded, memory is there
    return device->run(plan, views, out, a.analyze);
  }
  einsum::Workspace workspace(plan.options.memory ? 0 : std::size_t{1} << 30);
  if (a.analyze) plan.run_into(views, out.mutable_view(), workspace);  // pages and caches
  return plan.run_into(views, out.mutable_view(), workspace, {.analyze = a.analyze});
}

void explain_chosen(const EinsumArguments& a, const Chosen& chosen,
                    const einsum::RunReport* measured) {
  if (a.json) {
    auto json = einsum::explain(*chosen.plan, measured);
    if (!chosen.no_device.empty()) json["device"] = {{"chosen", false}, {"why", chosen.no_device}};
    if (chosen.dispatch) json["device"] = to_json(*chosen.dispatch, *chosen.device_plan);
    print(pretty_json(json) + "\n");
    return;
  }
  print(einsum::explain_text(*chosen.plan, measured));
  if (!chosen.no_device.empty()) print(fmt::format("device: not chosen, {}\n", chosen.no_device));
  if (chosen.dispatch) print(dispatch_text(*chosen.dispatch, *chosen.device_plan));
}

int contract_expression(const EinsumArguments& a) {
  if (a.expression.empty() && a.shapes.empty() && a.operands.empty()) {
    fail("an expression or a subcommand is needed (see assay einsum --help)");
  }
  einsum::Engine engine(engine_options(a));
  Operands operands(a);
  std::unique_ptr<EinsumDevice> device;
  std::string no_device;
  const auto place = place_of(a);
  if (place == EinsumPlace::kDevice) device = std::make_unique<EinsumDevice>(a.calibration);
  if (place == EinsumPlace::kFaster) device = EinsumDevice::if_any(a.calibration, no_device);
  EinsumDevice* const there = device.get();
  auto chosen = choose(a, engine, operands, there);
  chosen.no_device = no_device;
  const auto& plan = chosen.plan;
  std::optional<einsum::RunReport> report;
  if (a.analyze || !a.out.empty() || !a.explain) {
    const auto& views = operands.views(a.seed);
    Tensor out(plan->result, plan->output_shape());
    report = run_plan(a, *plan, views, out, there);
    if (!a.out.empty()) write_npy(a.out, out.view());
    if (a.out.empty() && !a.explain && !a.analyze && !a.json) {
      print(fmt::format("{} {}: --out writes it, --explain shows the plan\n", name_of(out.dtype()),
                        out.shape().to_string()));
    }
  }
  if (a.explain || a.analyze || a.json) explain_chosen(a, chosen, report ? &*report : nullptr);
  return kFine;
}

}  // namespace

einsum::EngineOptions engine_options(const EinsumArguments& a) {
  auto options = einsum::EngineOptions::from_environment();
  options.threads = threads_or_all(a.threads);
  if (!a.backend.empty()) options.backend = einsum::backend_from_name(a.backend);
  // A device has an engine of its own; this one is the processor's.
  if (options.backend == einsum::Backend::kCuda) options.backend = einsum::Backend::kBlas;
  // Contractions do without the file of orders where there is no home folder to keep it in.
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != 0;
  };
  const bool has_home = is_set("HOME") || is_set("ASSAY_MACHINE_DIR") || is_set("XDG_STATE_HOME");
  const bool device_file = place_of(a) != EinsumPlace::kProcessor;  // --calibration is the device's
  if (!a.calibration.empty() && !device_file) {
    options.model = einsum::load_calibration(a.calibration, options.threads).model;
  } else if (has_home) {
    options.model = einsum::machine_model(options.threads);
  }
  keeps_paths([&] {
    make_directories(cache_folder());
    options.path_file = cache_folder() + "/einsum-paths";
  });
  return options;
}

EinsumPlace place_of(const EinsumArguments& a) {
  if (a.device == "auto") return EinsumPlace::kFaster;
  if (a.device == "cuda") return EinsumPlace::kDevice;
  if (a.device != "cpu") fail("--device must be cpu, cuda or auto, got '{}'", a.device);
  const auto backend = a.backend.empty() ? einsum::EngineOptions::from_environment().backend
                                         : einsum::backend_from_name(a.backend);
  return backend == einsum::Backend::kCuda ? EinsumPlace::kDevice : EinsumPlace::kProcessor;
}

int contract(const EinsumArguments& a, char** argv) {
  using Action = EinsumArguments::Action;
  const bool has_use = a.action != Action::kTensorTrain;
  const auto place = has_use || a.device != "cpu" ? place_of(a) : EinsumPlace::kProcessor;
  if (place != EinsumPlace::kProcessor) {
    if (!has_use) fail("tensor trains are made on the CPU: --device {}", a.device);
    if (place == EinsumPlace::kFaster && a.action != Action::kContract) {
      fail("--device must be cpu or cuda here, got '{}'", a.device);
    }
    // The faster of two places is the processor where a build has no other.
    const char* other = "assay-einsum-cuda";
    const bool can_do_without = place == EinsumPlace::kFaster && !has_program(other);
    if (!EinsumDevice::is_here() && !can_do_without) become_program(other, argv);
  }
  switch (a.action) {
    case Action::kContract:
      return contract_expression(a);
    case Action::kCalibrate:
      return calibrate(a);
    case Action::kCp:
      return decompose_cp(a);
    case Action::kTucker:
      return decompose_tucker(a);
    case Action::kTensorTrain:
      return decompose_train(a);
    case Action::kMp2:
      return mp2(a);
  }
  throw InternalError("an action is one of its enumerators");
}

}  // namespace assay::cli
