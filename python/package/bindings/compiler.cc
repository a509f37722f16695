// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs of torch through the compiler: assay.load_pt2, torch.compile(backend="assay").
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "base/json.h"
#include "bindings/compiled.h"
#include "bindings/module.h"
#include "bindings/threads.h"
#include "models/pt2/operators.h"

namespace assay::python {
namespace {

namespace nb = nanobind;
using models::pt2::TakenLeaf;

// At size 1 too, where what follows from sizes does not depend on there being 2.
models::pt2::Imported imported_from(const models::pt2::Archive& archive) {
  try {
    return models::pt2::import_archive(archive, true);
  } catch (const UserError&) {
    return models::pt2::import_archive(archive);
  }
}

std::unique_ptr<CompiledProgram> load_pt2(const std::string& path) {
  return without_gil([&] {
    auto archive = std::make_unique<models::pt2::Archive>(path);
    auto imported = imported_from(*archive);
    return std::make_unique<CompiledProgram>(std::move(imported), std::move(archive), path,
                                             Framework::kNumpy);
  });
}

// A program in the schema of archives that has no tensors of its own; torch's, so that what depends
// on no input is torch's too.
std::unique_ptr<CompiledProgram> compile_program(const std::string& text, const std::string& name) {
  return without_gil([&] {
    const auto json = parse_json(text, name);
    auto imported = models::pt2::import_program(
        models::JsonField(json, name), name,
        [](const std::string&) -> const TensorView* { return nullptr; });
    return std::make_unique<CompiledProgram>(std::move(imported), nullptr, name, Framework::kTorch);
  });
}

// Kind and name of each argument, and the value of one that is a constant.
nb::list arguments(const CompiledProgram& program) {
  nb::list all;
  for (const auto& argument : program.arguments()) {
    const char* kind = argument.kind == TakenLeaf::Kind::kTensor     ? "tensor"
                       : argument.kind == TakenLeaf::Kind::kConstant ? "constant"
                                                                     : "number";
    all.append(nb::make_tuple(kind, argument.name, argument.value));
  }
  return all;
}

}  // namespace

void bind_compiler(nb::module_& module) {
  nb::class_<CompiledProgram>(module, "CompiledProgram")
      .def("call", &CompiledProgram::call)
      .def("arguments", &arguments)
      .def("result_count", &CompiledProgram::result_count)
      .def("described", &CompiledProgram::described)
      .def("explained", &CompiledProgram::explained)
      .def("signature", &CompiledProgram::signature);
  module.def("covered_operators", [] {
    std::vector<std::string> names;
    for (const auto& op : models::pt2::covered_operators()) names.emplace_back(op.name);
    return names;
  });
  module.def("load_pt2", &load_pt2);
  module.def("compile_program", &compile_program);
}

}  // namespace assay::python
