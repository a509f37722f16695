// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Contractions of arrays on a device: assay.einsum, assay.plan. `stream` and `empty` are as
// lane_of() and DeviceResult take them.
#include <nanobind/nanobind.h>

#include <memory>
#include <span>
#include <vector>

#include "bindings/argument.h"
#include "bindings/cuda/device_arguments.h"
#include "bindings/cuda/lanes.h"
#include "bindings/cuda/module.h"
#include "bindings/plans.h"

namespace assay::python::cuda {
namespace {

namespace nb = nanobind;
using einsum::Plan;
using einsum::cuda::DeviceTensor;
using einsum::cuda::Operand;

std::vector<DeviceTensor> borrowed(DeviceArguments& arguments, const nb::tuple& given) {
  std::vector<DeviceTensor> tensors;
  for (const nb::handle operand : given) {
    const ArgumentName name{"einsum: operand", static_cast<int>(tensors.size())};
    tensors.push_back(device_tensor(arguments.borrow(operand, name).view()));
  }
  return tensors;
}

nb::object run_to_array(Lane& lane, const Plan& plan, DeviceArguments& arguments,
                        std::span<const DeviceTensor> operands, nb::handle out, nb::handle empty) {
  DeviceResult result(arguments, out, empty, {"einsum: out"}, plan.result, plan.output_shape());
  lane.run([&] { lane.engine().run_into(plan, operands, result.tensor()); });
  return std::move(result).finish();
}

nb::object contract(nb::handle text, const nb::tuple& given, nb::handle out, nb::handle dtype,
                    nb::handle memory, nb::handle stream, nb::handle empty) {
  const auto expression = text_argument(text, "einsum: expression");
  const auto options = call_options(dtype, memory, nb::none());
  DeviceArguments arguments;
  const auto operands = borrowed(arguments, given);
  const auto lane = lane_of(arguments.device(), stream);
  const auto plan = lane->ask([&] {
    return lane->engine().plan(expression, std::vector<Operand>(operands.begin(), operands.end()),
                               options);
  });
  return run_to_array(*lane, *plan, arguments, operands, out, empty);
}

// A plan for arrays on that device.
struct DevicePlan {
  int device;
  std::shared_ptr<const Plan> plan;
};

DevicePlan make_plan(nb::handle text, const nb::tuple& given, nb::handle dtype, nb::handle memory,
                     nb::handle objective, nb::handle stream) {
  const auto expression = text_argument(text, "plan: expression");
  const auto call = call_options(dtype, memory, objective);
  DeviceArguments arguments;
  std::vector<einsum::OperandSpec> specs;
  for (const nb::handle operand : given) {
    const ArgumentName name{"plan: operand", static_cast<int>(specs.size())};
    specs.push_back(nb::isinstance<nb::tuple>(operand)
                        ? spec_of_shape(operand)
                        : einsum::OperandSpec::of(arguments.borrow(operand, name).view()));
    specs.back().resident = true;
  }
  const auto lane = lane_of(arguments.device(), stream);
  const einsum::PlanOptions options{.objective = call.objective,
                                    .dtype = call.dtype,
                                    .memory = call.memory,
                                    .result_stays = true};
  return {lane->device(),
          lane->ask([&] { return lane->engine().plan(expression, specs, options); })};
}

}  // namespace

void bind_contraction(nb::module_& module) {
  module.def("einsum", &contract, nb::arg("expression").none(), nb::arg("operands"),
             nb::arg("out").none(), nb::arg("dtype").none(), nb::arg("memory").none(),
             nb::arg("stream").none(), nb::arg("empty").none());
  module.def("plan", &make_plan, nb::arg("expression").none(), nb::arg("operands"),
             nb::arg("dtype").none(), nb::arg("memory").none(), nb::arg("objective").none(),
             nb::arg("stream").none());
  nb::class_<DevicePlan> plan(module, "Plan");
  plan.def(
      "run",
      [](const DevicePlan& kept, const nb::tuple& given, nb::handle out, nb::handle stream,
         nb::handle empty) {
        DeviceArguments arguments(kept.device, "the plan");
        const auto operands = borrowed(arguments, given);
        const auto lane = lane_of(kept.device, stream);
        return run_to_array(*lane, *kept.plan, arguments, operands, out, empty);
      },
      nb::arg("operands"), nb::arg("out").none(), nb::arg("stream").none(),
      nb::arg("empty").none());
  bind_facts(plan);
}

}  // namespace assay::python::cuda
