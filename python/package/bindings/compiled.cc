// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/compiled.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "bindings/arrays.h"
#include "bindings/frameworks.h"
#include "bindings/threads.h"
#include "compiler/choose/compile.h"
#include "compiler/choose/search.h"
#include "compiler/cpu/cpu_runtime.h"
#include "compiler/graph/graph_sizes.h"
#include "compiler/show/show_program.h"
#include "tensor/convert.h"
#include "tensor/overlap.h"

namespace assay::python {
namespace {

namespace nb = nanobind;
using models::pt2::TakenLeaf;
using Kind = TakenLeaf::Kind;

// Sizes that are remembered as making sense; more are looked at again.
constexpr std::size_t kMostSizes = 4096;

Shape shape_at(const std::vector<compiler::Dim>& dims, const compiler::Bindings& symbols) {
  std::vector<std::int64_t> extents;
  for (const auto& dim : dims) extents.push_back(dim.at(symbols));
  return Shape(extents);
}

// A number of Python, from a tensor with one element.
nb::object number_from(const TensorView& view) {
  switch (view.dtype()) {
    case DType::kBool:
      return nb::bool_(*view.data<bool>());
    case DType::kI64:
      return nb::int_(*view.data<std::int64_t>());
    default:
      return nb::float_(value_as_double(view, 0));
  }
}

}  // namespace

struct CompiledProgram::Call {
  std::vector<std::optional<BorrowedArray>> arrays;       // of arguments; none: a number
  std::vector<std::optional<MutableTensorView>> written;  // of those that are written
  std::vector<double> reals;                              // of arguments
  std::vector<bool> is_packed;                            // copied before, and back where written
  Framework framework;
  compiler::Bindings symbols;
  std::vector<std::optional<NewArray>> results;
  std::vector<std::optional<Tensor>> numbers;  // of results that are numbers
  std::vector<std::int64_t> checked;           // values of checks
};

CompiledProgram::CompiledProgram(models::pt2::Imported imported,
                                 std::unique_ptr<models::pt2::Archive> archive, std::string name,
                                 Framework framework)
    : name_(std::move(name)),
      framework_(framework),
      archive_(std::move(archive)),
      imported_(std::move(imported)),
      sizes_(imported_.graph),
      program_(compiler::compile_default(imported_.graph, compiler::options_from_environment())) {
  std::map<std::string, compiler::NodeId> nodes;
  for (const auto id : imported_.graph.inputs()) nodes[imported_.graph.node(id).name] = id;
  for (const auto& argument : imported_.arguments) {
    labels_.push_back(fmt::format("{}: input '{}'", name_, argument.name));
    inputs_.push_back(argument.kind == Kind::kTensor ? nodes.at(argument.name) : 0);
  }
  for (const auto& check : imported_.checks) {
    for (const auto& output : {check.least, check.greatest}) {
      if (!output.empty()) checked_values_.emplace(output, checked_values_.size());
    }
  }
  is_written_.resize(imported_.arguments.size());
  for (const auto& buffer : program_.buffers) {
    if (buffer.kind != compiler::Buffer::Kind::kTemporary) outer_.push_back(outer_of(buffer));
  }
}

CompiledProgram::Outer CompiledProgram::outer_of(const compiler::Buffer& buffer) {
  if (buffer.kind == compiler::Buffer::Kind::kOutput) {
    if (const auto check = checked_values_.find(buffer.name); check != checked_values_.end()) {
      return {.kind = Outer::Kind::kCheck, .place = check->second};
    }
    const auto at =
        std::ranges::find(imported_.results, buffer.name, &models::pt2::GivenLeaf::output);
    check(at != imported_.results.end(),
          "every output of a program of torch is one of its results");
    return {.kind = Outer::Kind::kResult,
            .place = static_cast<std::size_t>(at - imported_.results.begin())};
  }
  const bool is_written = buffer.kind == compiler::Buffer::Kind::kState;
  if (const auto stored = imported_.stored.find(buffer.name); stored != imported_.stored.end()) {
    if (!is_written) {
      // What is an input is only read.
      return {
          .kind = Outer::Kind::kKept,
          .kept = static_cast<std::byte*>(const_cast<void*>(stored->second.raw_data()))};  // NOLINT
    }
    kept_.push_back(Tensor::copy(stored->second));
    return {.kind = Outer::Kind::kKept, .kept = kept_.back().bytes().data()};
  }
  const auto at = std::ranges::find_if(imported_.arguments, [&](const TakenLeaf& argument) {
    const bool is_input = argument.kind == Kind::kTensor || argument.kind == Kind::kReal;
    return is_input && argument.name == buffer.name;
  });
  check(at != imported_.arguments.end(), "an input is stored or an argument");
  const auto place = static_cast<std::size_t>(at - imported_.arguments.begin());
  if (is_written) is_written_[place] = true;
  return {.kind = Outer::Kind::kArgument, .place = place};
}

void CompiledProgram::take(const nb::tuple& given, Call& call) const {
  const auto& arguments = imported_.arguments;
  if (given.size() != arguments.size()) {
    fail("{}: takes {} arguments, got {}", name_, arguments.size(), given.size());
  }
  call.arrays.resize(arguments.size());
  call.written.resize(arguments.size());
  call.reals.resize(arguments.size());
  call.checked.resize(checked_values_.size());
  call.is_packed.resize(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = arguments[i];
    const nb::handle object = given[i];
    if (argument.kind == Kind::kSize) {
      std::int64_t value = 0;
      if (!nb::try_cast(object, value)) {
        fail("{}: is one whole number of 64 bits, got {}", labels_[i], nb::repr(object).c_str());
      }
      models::pt2::bind_size(argument, value, sizes_, call.symbols);
    } else if (argument.kind == Kind::kReal) {
      if (!nb::try_cast(object, call.reals[i])) {
        fail("{}: is one number, got {}", labels_[i], nb::repr(object).c_str());
      }
    } else if (argument.kind == Kind::kTensor) {
      const auto use = is_written_[i] ? BorrowedArray::Use::kWrite : BorrowedArray::Use::kRead;
      call.arrays[i].emplace(object, ArgumentName{labels_[i].c_str()}, use,
                             BorrowedArray::Where::kHostAlone);
      const auto& view = call.arrays[i]->view();
      sizes_.add_shape(argument.name, view.shape(), call.symbols);
      call.is_packed[i] = !view.is_contiguous();
      if (call.framework == Framework::kNumpy) call.framework = framework_of(object);
    }
  }
}

void CompiledProgram::check_shapes(const Call& call) const {
  for (const auto& [symbol, interval] : program_.symbols) {
    if (!call.symbols.contains(symbol)) {
      fail("{}: no input's shape says what {} is, from {} to {}", name_, symbol, interval.low,
           interval.high);
    }
  }
  for (std::size_t i = 0; i < call.arrays.size(); ++i) {
    if (!call.arrays[i]) continue;
    const auto& view = call.arrays[i]->view();
    const auto& node = imported_.graph.node(inputs_[i]);
    bool fits = view.dtype() == node.dtype && view.rank() == node.shape.size();
    for (std::size_t axis = 0; fits && axis < view.rank(); ++axis) {
      fits = view.extent(axis) == node.shape[axis].at(call.symbols);
    }
    if (fits) continue;
    fail("{} is {} {}, expected {} {}", labels_[i], name_of(view.dtype()), view.shape().to_string(),
         name_of(node.dtype), to_string(node.shape));
  }
}

// An archive may have views that at some sizes read outside of what they are of.
void CompiledProgram::check_sizes(const compiler::Bindings& symbols) {
  if (checked_.contains(symbols)) return;
  compiler::check_sizes(imported_.graph, symbols);
  if (checked_.size() < kMostSizes) checked_.insert(symbols);
}

nb::list CompiledProgram::call(const nb::tuple& given) {
  Call call{.framework = framework_};
  try {
    take(given, call);
    check_shapes(call);
    check_sizes(call.symbols);
    if (archive_) refuse_shared(call);
  } catch (const UserError& e) {
    if (std::string_view(e.what()).starts_with(name_)) throw;
    fail("{}: {}", name_, e.what());
  }
  // What is written where another input lies would change that one on the way.
  for (std::size_t i = 0; i < call.arrays.size(); ++i) {
    for (std::size_t j = 0; is_written_[i] && j < call.arrays.size(); ++j) {
      if (i == j || !call.arrays[j] || !overlap(call.arrays[i]->view(), call.arrays[j]->view()))
        continue;
      call.is_packed[i] = call.is_packed[j] = true;
    }
  }
  const auto& results = imported_.results;
  call.results.resize(results.size());
  call.numbers.resize(results.size());
  std::size_t at = 0;
  for (const auto& buffer : program_.buffers) {
    if (buffer.kind == compiler::Buffer::Kind::kTemporary) continue;
    const auto& outer = outer_[at++];
    if (outer.kind != Outer::Kind::kResult) continue;
    const auto shape = shape_at(buffer.shape, call.symbols);
    if (results[outer.place].is_number) {
      call.numbers[outer.place].emplace(buffer.dtype, shape);
    } else {
      call.results[outer.place].emplace(call.framework, buffer.dtype, shape);
    }
  }
  for (std::size_t i = 0; i < call.arrays.size(); ++i) {
    if (is_written_[i]) call.written[i] = call.arrays[i]->mutable_view();
  }
  run(call, threads_of_call());
  refuse_violations(call);
  nb::list found;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (call.results[i]) {
      found.append(std::move(*call.results[i]).finish());
    } else if (call.numbers[i]) {
      found.append(number_from(call.numbers[i]->view()));
    } else {
      found.append(nb::none());
    }
  }
  return found;
}

void CompiledProgram::run(Call& call, int threads) {
  std::unique_ptr<compiler::Executor> executor;
  if (const auto found = idle_.find(threads); found != idle_.end()) {
    executor = std::move(found->second);
    idle_.erase(found);
  }
  without_gil([&] {
    if (!executor) {
      executor = std::make_unique<compiler::Executor>(program_, compiler::cpu_runtime(threads));
    }
    std::vector<std::optional<Tensor>> packed(call.arrays.size());
    std::vector<std::byte*> pointers;
    for (const auto& outer : outer_) {
      if (outer.kind == Outer::Kind::kKept) {
        pointers.push_back(outer.kept);
      } else if (outer.kind == Outer::Kind::kCheck) {
        pointers.push_back(reinterpret_cast<std::byte*>(&call.checked[outer.place]));
      } else if (outer.kind == Outer::Kind::kResult) {
        auto& number = call.numbers[outer.place];
        pointers.push_back(
            number ? number->bytes().data()
                   : static_cast<std::byte*>(call.results[outer.place]->view().raw_data()));
      } else if (!call.arrays[outer.place]) {
        pointers.push_back(reinterpret_cast<std::byte*>(&call.reals[outer.place]));
      } else {
        const auto& view = call.arrays[outer.place]->view();
        if (call.is_packed[outer.place]) packed[outer.place] = Tensor::copy(view);
        pointers.push_back(call.is_packed[outer.place] ? packed[outer.place]->bytes().data()
                                                       : static_cast<std::byte*>(const_cast<void*>(
                                                             view.raw_data())));  // NOLINT
      }
    }
    std::unique_lock<std::mutex> keeping(keeping_, std::defer_lock);
    if (!kept_.empty()) keeping.lock();
    executor->run(call.symbols, pointers);
    if (!kept_.empty()) keeping.unlock();
    for (std::size_t i = 0; i < packed.size(); ++i) {
      if (packed[i] && is_written_[i]) {
        convert_into(packed[i]->view(), *call.written[i]);
      }
    }
  });
  idle_.emplace(threads, std::move(executor));
}

// torch would read, where both lie, what was just written: the program has them apart. What
// torch.compile asks for has been taken apart by torch.
void CompiledProgram::refuse_shared(const Call& call) const {
  for (std::size_t i = 0; i < call.arrays.size(); ++i) {
    for (std::size_t j = 0; is_written_[i] && j < call.arrays.size(); ++j) {
      if (i == j || !call.arrays[j] ||
          !share_memory(call.arrays[i]->view(), call.arrays[j]->view()))
        continue;
      fail("{}, which the program writes, shares memory with input '{}': give a copy of one",
           labels_[i], imported_.arguments[j].name);
    }
  }
}

void CompiledProgram::refuse_violations(const Call& call) const {
  const auto value = [&](const std::string& output) {
    return output.empty() ? 0 : call.checked[checked_values_.at(output)];
  };
  for (const auto& check : imported_.checks) {
    const auto wrong =
        models::pt2::violation(check, value(check.least), value(check.greatest), call.symbols);
    if (!wrong.empty()) fail("{}: {}", name_, wrong);
  }
}

std::pair<std::string, std::vector<std::string>> CompiledProgram::described(
    const std::string& input) const {
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const auto& argument = imported_.arguments[i];
    if (argument.kind != Kind::kTensor || argument.name != input) continue;
    const auto& node = imported_.graph.node(inputs_[i]);
    std::vector<std::string> extents;
    for (const auto& dim : node.shape) extents.push_back(dim.to_string());
    return {std::string(name_of(node.dtype)), std::move(extents)};
  }
  return {};
}

std::string CompiledProgram::explained() const {
  return compiler::explained(program_, {.symbols = compiler::default_symbols(imported_.graph)});
}

std::string CompiledProgram::signature() const {
  if (!archive_) return {};
  const auto calls = archive_->program()["graph_module"].find("module_call_graph");
  if (!calls || calls->elements().empty()) return {};
  const auto signature = calls->elements()[0].find("signature");
  return signature ? canonical_json(signature->value()) : std::string{};
}

}  // namespace assay::python
