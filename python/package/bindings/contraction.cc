// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Contractions: assay.einsum, assay.plan.
#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bindings/argument.h"
#include "bindings/arrays.h"
#include "bindings/frameworks.h"
#include "bindings/module.h"
#include "bindings/plans.h"
#include "bindings/threads.h"
#include "einsum/calibrate/calibration.h"
#include "einsum/einsum.h"

namespace assay::python {
namespace {

namespace nb = nanobind;
using einsum::Backend;
using einsum::Engine;
using einsum::Plan;

// One engine for each backend and number of threads that was asked for; they live as long as the
// process. Under the GIL.
Engine& engine_for(nb::handle backend) {
  static Engine* latest[2] = {};
  static const auto usual = einsum::EngineOptions::from_environment().backend;
  const Backend wanted =
      backend.is_none() ? usual : einsum::backend_from_name(text_argument(backend, "backend"));
  if (wanted == Backend::kCuda) {
    throw EnvironmentError(
        "einsum: backend 'cuda' is for arrays in the memory of a device, and these are not");
  }
  const int threads = threads_of_call();
  const int slot = wanted == Backend::kReference ? 0 : 1;
  if (latest[slot] == nullptr || latest[slot]->threads() != threads) {
    static auto& engines = *new std::map<std::pair<int, int>, std::unique_ptr<Engine>>;
    auto& engine = engines[{slot, threads}];
    if (!engine) {
      einsum::EngineOptions options{.backend = wanted, .threads = threads};
      if (knows_home()) options.model = einsum::machine_model(threads);
      engine = std::make_unique<Engine>(std::move(options));
    }
    latest[slot] = engine.get();
  }
  return *latest[slot];
}

// The operands of a call.
struct Operands {
  explicit Operands(const nb::tuple& given,
                    BorrowedArray::Where where = BorrowedArray::Where::kHost) {
    arrays.reserve(given.size());
    views.reserve(given.size());
    for (const nb::handle operand : given) {
      const auto array = as_real(operand);
      arrays.emplace_back(array, ArgumentName{"einsum: operand", static_cast<int>(views.size())},
                          BorrowedArray::Use::kRead, where);
      views.push_back(arrays.back().view());
      if (framework == Framework::kNumpy) framework = framework_of(array);
    }
  }
  std::vector<BorrowedArray> arrays;
  std::vector<TensorView> views;
  Framework framework = Framework::kNumpy;
};

void run(Engine& engine, const Plan& plan, const std::vector<TensorView>& views,
         const MutableTensorView& out) {
  const auto work = [&] { engine.run_into(plan, views, out); };
  plan.mac >= kWorthReleasing ? without_gil(work) : work();
}

nb::object run_to_array(Engine& engine, const Plan& plan, const Operands& operands,
                        nb::handle out) {
  if (!out.is_none()) {
    const BorrowedArray array(out, {"einsum: out"}, BorrowedArray::Use::kWrite);
    run(engine, plan, operands.views, array.mutable_view());
    return nb::borrow(out);
  }
  NewArray array(operands.framework, plan.result, plan.output_shape());
  run(engine, plan, operands.views, array.view());
  const bool is_number =
      operands.framework == Framework::kNumpy && array.view().shape().rank() == 0;
  auto made = std::move(array).finish();
  // NumPy's functions give numbers of NumPy in place of arrays without axes.
  return is_number ? nb::object(made[nb::tuple()]) : made;
}

nb::object contract(nb::handle text, const nb::tuple& given, nb::handle out, nb::handle dtype,
                    nb::handle memory, nb::handle backend) {
  const auto expression = text_argument(text, "einsum: expression");
  const auto options = call_options(dtype, memory, nb::none());
  const Operands operands(given);
  Engine& engine = engine_for(backend);
  auto plan = engine.find_plan(expression, operands.views, options);
  if (!plan) {
    plan = without_gil([&] { return engine.plan(expression, operands.views, options); });
  }
  return run_to_array(engine, *plan, operands, out);
}

// A plan and the engine that made it.
struct KeptPlan {
  Engine* engine;
  std::shared_ptr<const Plan> plan;
};

// An operand of a plan: an array, or a shape as a tuple, which stands for a row-major f64 array.
einsum::OperandSpec spec_of(nb::handle operand, int number) {
  if (!nb::isinstance<nb::tuple>(operand)) {
    const BorrowedArray array(as_real(operand), {"plan: operand", number});
    return einsum::OperandSpec::of(array.view());
  }
  return spec_of_shape(operand);
}

KeptPlan make_plan(nb::handle text, const nb::tuple& given, nb::handle dtype, nb::handle memory,
                   nb::handle backend, nb::handle objective) {
  const auto expression = text_argument(text, "plan: expression");
  const auto call = call_options(dtype, memory, objective);
  std::vector<einsum::OperandSpec> specs;
  for (const nb::handle operand : given) {
    specs.push_back(spec_of(operand, static_cast<int>(specs.size())));
  }
  Engine& engine = engine_for(backend);
  const einsum::PlanOptions options{.backend = engine.get_backend(),
                                    .objective = call.objective,
                                    .dtype = call.dtype,
                                    .memory = call.memory,
                                    .threads = engine.threads()};
  return {&engine, without_gil([&] { return engine.plan(expression, specs, options); })};
}

}  // namespace

void bind_contraction(nb::module_& module) {
  module.def("set_threads", [](int threads) {
    if (threads < 1 || threads > 1024) fail("threads: from 1 to 1024, not {}", threads);
    thread_count = threads;
  });
  module.def("get_threads", [] { return thread_count; });
  module.def("einsum", &contract, nb::arg("expression").none(), nb::arg("operands"),
             nb::arg("out").none(), nb::arg("dtype").none(), nb::arg("memory").none(),
             nb::arg("backend").none());
  module.def("plan", &make_plan, nb::arg("expression").none(), nb::arg("operands"),
             nb::arg("dtype").none(), nb::arg("memory").none(), nb::arg("backend").none(),
             nb::arg("objective").none());
  nb::class_<KeptPlan> plan(module, "Plan");
  plan.def(
      "run",
      [](const KeptPlan& kept, const nb::tuple& operands, nb::handle out) {
        const Operands borrowed(operands, BorrowedArray::Where::kHostAlone);
        return run_to_array(*kept.engine, *kept.plan, borrowed, out);
      },
      nb::arg("operands"), nb::arg("out").none());
  bind_facts(plan);
}

}  // namespace assay::python
