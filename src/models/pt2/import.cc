// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/import.h"

#include <limits>
#include <set>

#include "base/text.h"
#include "models/pt2/expression.h"
#include "models/pt2/operators.h"
#include "models/pt2/output_names.h"
#include "models/pt2/tensor_meta.h"

namespace assay::models::pt2 {
namespace {

constexpr int kDeepestGraph = 20;
constexpr std::string_view kWithGrad = "torch.ops.higher_order.wrap_with_set_grad_enabled",
                           kWithAutocast = "torch.ops.higher_order.wrap_with_autocast";

// Graphs that are called by others: these run as they are.
bool is_wrapper(std::string_view target) { return target == kWithGrad || target == kWithAutocast; }

struct Counted {
  std::map<std::string, int> unknown;
  bool has_writes = false;
};

void count_operators(const JsonField& graph, Counted& counted, int depth) {
  if (depth > kDeepestGraph) graph.refuse("graphs within graphs, too deeply");
  for (const auto& node : graph["nodes"].elements()) {
    const auto& target = node["target"].text();
    if (is_wrapper(target)) {
      for (const auto& input : node["inputs"].elements()) {
        const auto inner = input["arg"].find("as_graph");
        if (inner) count_operators((*inner)["graph"], counted, depth + 1);
      }
      continue;
    }
    const auto found = find_operator(target);
    if (found.op == nullptr) ++counted.unknown[operator_name(target)];
    counted.has_writes = counted.has_writes || found.writes_self ||
                         (found.op != nullptr && found.op->name == "aten.batch_norm.default");
  }
}

void refuse_unknown(const std::map<std::string, int>& unknown, const std::string& path) {
  if (unknown.empty()) return;
  std::vector<std::string> texts;
  for (const auto& [name, count] : unknown) {
    auto text = fmt::format("{} ({} time{}", printable(name), count, count == 1 ? "" : "s");
    if (const auto why = refusal_of(name); !why.empty()) text += fmt::format("; {}", why);
    texts.push_back(text + ")");
  }
  fail("{}: operators that are not covered: {}", path, fmt::join(texts, ", "));
}

class Importer {
 public:
  explicit Importer(const Archive& archive)
      : archive_(archive),
        program_(archive.program()),
        module_(program_["graph_module"]),
        memory_(imported_.graph) {}

  Imported import() {
    check_version();
    Counted counted;
    count_operators(module_["graph"], counted, 0);
    refuse_unknown(counted.unknown, archive_.path());
    if (counted.has_writes) memory_.expect_writes();
    read_symbols();
    Scope scope(module_["graph"]);
    add_inputs(scope);
    run(scope, 0);
    add_outputs(scope);
    return std::move(imported_);
  }

 private:
  // Names of one graph: those of a graph within it are its own.
  struct Scope {
    explicit Scope(const JsonField& field) : graph(field), metas(field["tensor_values"]) {}
    JsonField graph, metas;
    std::map<std::string, Value, std::less<>> values;
  };
  struct Input {
    std::string name;  // in our graph
    Held held;
    compiler::NodeId node = 0;
  };

  void check_version() const {
    constexpr std::int64_t kMajor = 8;
    const auto major = program_["schema_version"]["major"];
    if (major.integer(0, 1000) != kMajor) {
      major.refuse_value(fmt::format("version {} of the schema is read", kMajor));
    }
  }

  void read_symbols() {
    const auto ranges = program_["range_constraints"];
    for (const auto& item : ranges.object().items()) {
      const auto range = ranges[item.key()];
      constexpr auto kAny = std::numeric_limits<std::int64_t>::max();
      const auto low = range.find("min_val"), high = range.find("max_val");
      const auto least = low ? std::max<std::int64_t>(0, low->integer(-kAny, kAny)) : 0;
      const auto greatest = high ? std::min(high->integer(-kAny, kAny), kGreatestSize * 4096)
                                 : std::max(least, kGreatestSize);
      // Others than plain names are what an expression can be: nothing has them as its size.
      if (item.key().find_first_of(" ()*+-/") != std::string::npos) continue;
      imported_.graph.symbol(item.key(), least, greatest);
    }
  }

  TensorMeta meta_of(const Scope& scope, const std::string& name) const {
    return tensor_meta_from(scope.metas[name]);
  }

  void add_input(Scope& scope, const std::string& placeholder, const std::string& name,
                 bool is_stored) {
    const auto meta = meta_of(scope, placeholder);
    if (is_stored) {
      const auto* view = archive_.find(name);
      if (view == nullptr) fail("{}: tensor '{}' is not stored", archive_.path(), printable(name));
      std::vector<Dim> shape;
      for (std::size_t i = 0; i < view->rank(); ++i) shape.emplace_back(view->extent(i));
      if (view->dtype() != meta.dtype || !(shape == meta.shape)) {
        fail("{}: tensor '{}' is {} {}, the program takes {} {}", archive_.path(), printable(name),
             name_of(view->dtype()), to_string(shape), name_of(meta.dtype), to_string(meta.shape));
      }
    }
    // A parameter may have the name of an argument.
    auto unique = name;
    while (names_.contains(unique)) unique += "_";
    names_.insert(unique);
    if (is_stored) imported_.stored.emplace(unique, *archive_.find(name));
    const auto input = GraphTensor::input(imported_.graph, unique, meta.dtype, meta.shape);
    const auto held = memory_.hold(input);
    scope.values[placeholder] = Value{held};
    inputs_.push_back({unique, held, input.node()});
    by_target_[name] = inputs_.size() - 1;
    by_placeholder_[placeholder] = inputs_.size() - 1;
  }

  void add_inputs(Scope& scope) {
    const auto specs = module_["signature"]["input_specs"].elements();
    for (const auto& spec : specs) {
      if (const auto user = spec.find("user_input")) add_user_input(scope, (*user)["arg"]);
    }
    for (const auto& spec : specs) {
      if (spec.find("user_input") || spec.find("constant_input")) continue;
      if (const auto found = spec.find("parameter")) {
        add_input(scope, (*found)["arg"]["name"].text(), (*found)["parameter_name"].text(), true);
      } else if (const auto buffer = spec.find("buffer")) {
        add_input(scope, (*buffer)["arg"]["name"].text(), (*buffer)["buffer_name"].text(), true);
      } else if (const auto constant = spec.find("tensor_constant")) {
        add_input(scope, (*constant)["arg"]["name"].text(),
                  (*constant)["tensor_constant_name"].text(), true);
      } else {
        spec.refuse("only tensors and numbers are taken");
      }
    }
  }

  void add_user_input(Scope& scope, const JsonField& argument) {
    if (const auto tensor = argument.find("as_tensor")) {
      const auto& name = (*tensor)["name"].text();
      add_input(scope, name, name, false);
    } else if (const auto symbol = argument.find("as_sym_int")) {
      const auto& name = (*symbol)["as_name"].text();
      const auto dim = size_from(scope.graph["sym_int_values"][name]);
      scope.values[name] = Value{dim};
      imported_.symbol_arguments[dim.to_string()] = name;
    } else {
      // Numbers that export took for constants stand in the program wherever they are used.
      for (const auto* kind : {"as_none", "as_int", "as_float", "as_bool", "as_string"}) {
        if (argument.find(kind)) return;
      }
      argument.refuse("only tensors and numbers are taken");
    }
  }

  Value value_of(const Scope& scope, const std::string& name, const JsonField& field) const {
    const auto found = scope.values.find(name);
    if (found == scope.values.end())
      field.refuse(fmt::format("'{}' has no value", printable(name)));
    return found->second;
  }

  Value symbol_value(const Scope& scope, const JsonField& field) const {
    if (const auto number = field.find("as_int")) return {Dim(any_integer(*number))};
    if (const auto flag = field.find("as_bool")) return {flag->flag()};
    if (const auto number = field.find("as_float")) return {float_from(*number)};
    return value_of(scope, field["as_name"].text(), field);
  }

  static std::int64_t any_integer(const JsonField& field) {
    return field.integer(std::numeric_limits<std::int64_t>::min(),
                         std::numeric_limits<std::int64_t>::max());
  }

  Value argument_value(const Scope& scope, const JsonField& argument) const {
    const auto list = [&](const JsonField& field, auto&& each) {
      Values values;
      for (const auto& element : field.elements()) values.push_back(each(element));
      return Value{std::move(values)};
    };
    const auto tensor = [&](const JsonField& field) {
      return value_of(scope, field["name"].text(), field);
    };
    const auto symbol = [&](const JsonField& field) { return symbol_value(scope, field); };
    const auto maybe_tensor = [&](const JsonField& field) {
      const auto found = field.find("as_tensor");
      return found ? tensor(*found) : Value{};
    };
    if (argument.object().size() != 1) argument.refuse("an argument is of one kind");
    const auto kind = argument.object().begin().key();
    const auto field = argument.find(kind);
    if (!field || kind == "as_none") return {};
    if (kind == "as_tensor") return tensor(*field);
    if (kind == "as_tensors") return list(*field, tensor);
    if (kind == "as_optional_tensor") return maybe_tensor(*field);
    if (kind == "as_optional_tensors") return list(*field, maybe_tensor);
    if (kind == "as_int") return {Dim(any_integer(*field))};
    if (kind == "as_ints") {
      return list(*field, [](const JsonField& f) { return Value{Dim(any_integer(f))}; });
    }
    if (kind == "as_float") return {float_from(*field)};
    if (kind == "as_floats") {
      return list(*field, [](const JsonField& f) { return Value{float_from(f)}; });
    }
    if (kind == "as_bool") return {field->flag()};
    if (kind == "as_bools") {
      return list(*field, [](const JsonField& f) { return Value{f.flag()}; });
    }
    if (kind == "as_string") return {field->text()};
    if (kind == "as_sym_int" || kind == "as_sym_bool" || kind == "as_sym_float") {
      return symbol(*field);
    }
    if (kind == "as_sym_ints" || kind == "as_sym_floats") return list(*field, symbol);
    if (kind == "as_scalar_type") return {dtype_from_number(*field)};
    // Where and how elements lie is no matter of ours.
    if (kind == "as_device" || kind == "as_layout" || kind == "as_memory_format") return {};
    argument.refuse(fmt::format("arguments '{}' are not covered", printable(kind)));
  }

  // All calls of a graph, in order.
  void run(Scope& scope, int depth) {
    for (const auto& node : scope.graph["nodes"].elements()) {
      const auto& target = node["target"].text();
      try {
        if (is_wrapper(target)) {
          run_wrapped(scope, node, depth);
        } else {
          run_call(scope, node, find_operator(target));
        }
      } catch (const UserError& e) {
        // Said once, by the innermost.
        if (std::string_view(e.what()).starts_with(archive_.path())) throw;
        fail("{}: {} ({}): {}", archive_.path(), name_of_node(node),
             printable(operator_name(target)), e.what());
      }
    }
  }

  static std::string name_of_node(const JsonField& node) {
    const auto name = node.find("name");
    return name ? fmt::format("'{}'", printable(name->text())) : node.where();
  }

  void run_wrapped(Scope& scope, const JsonField& node, int depth) {
    std::vector<JsonField> given;
    std::optional<JsonField> inner;
    Values before;  // what the wrapper itself takes
    for (const auto& input : node["inputs"].elements()) {
      const auto argument = input["arg"];
      if (const auto found = argument.find("as_graph")) {
        inner.emplace((*found)["graph"]);
      } else if (inner) {
        given.push_back(argument);
      } else {
        before.push_back(argument_value(scope, argument));
      }
    }
    if (!inner) node.refuse("a graph is missing");
    if (node["target"].text() == kWithAutocast) check_autocast(before);
    Scope own(*inner);
    const auto inputs = own.graph["inputs"].elements();
    if (inputs.size() != given.size()) node.refuse("the graph takes other arguments");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto tensor = inputs[i].find("as_tensor"), symbol = inputs[i].find("as_sym_int");
      if (!tensor && !symbol) continue;  // a constant
      const auto& name = tensor ? (*tensor)["name"].text() : (*symbol)["as_name"].text();
      own.values[name] = argument_value(scope, given[i]);
    }
    run(own, depth + 1);
    const auto results = own.graph["outputs"].elements(), outputs = node["outputs"].elements();
    std::vector<JsonField> names;
    for (const auto& output : outputs) {
      if (const auto several = output.find("as_tensors")) {
        for (const auto& each : several->elements()) names.push_back(each["name"]);
      } else if (const auto symbol = output.find("as_sym_int")) {
        names.push_back((*symbol)["as_name"]);
      } else {
        names.push_back(output["as_tensor"]["name"]);
      }
    }
    if (names.size() != results.size()) node.refuse("the graph gives back another number");
    for (std::size_t i = 0; i < names.size(); ++i) {
      scope.values[names[i].text()] = argument_value(own, results[i]);
    }
  }

  // (device, dtype, enabled, …): off is how modules ask for full precision.
  static void check_autocast(const Values& arguments) {
    for (const auto& argument : arguments) {
      const auto* enabled = std::get_if<bool>(&argument.is);
      if (enabled != nullptr && !*enabled) return;
      if (enabled != nullptr) break;
    }
    fail("autocast is not covered: export the module in the dtype it is to run in");
  }

  void run_call(Scope& scope, const JsonField& node, const Found& found) {
    std::map<std::string, Value, std::less<>> arguments;
    for (const auto& input : node["inputs"].elements()) {
      arguments[input["name"].text()] = argument_value(scope, input["arg"]);
    }
    std::vector<std::string> names;
    for (const auto& output : node["outputs"].elements()) add_result_names(output, names);
    std::optional<std::vector<Dim>> shape;
    if (!names.empty() && scope.metas.find(names[0])) shape = meta_of(scope, names[0]).shape;
    Call call(imported_.graph, memory_, std::move(arguments), std::move(shape));
    const auto result = found.op->lower(call);
    if (found.writes_self) {
      write_self(scope, call, result, names);
      return;
    }
    bind(scope, call, *found.op, result, names);
  }

  static void add_result_names(const JsonField& output, std::vector<std::string>& names) {
    if (const auto tensor = output.find("as_tensor")) {
      names.push_back((*tensor)["name"].text());
    } else if (const auto tensors = output.find("as_tensors")) {
      for (const auto& each : tensors->elements()) names.push_back(each["name"].text());
    } else if (const auto symbol = output.find("as_sym_int")) {
      names.push_back((*symbol)["as_name"].text());
    } else if (const auto flag = output.find("as_sym_bool")) {
      names.push_back((*flag)["as_name"].text());
    } else if (!output.find("as_none")) {
      output.refuse("results that are no tensors and no whole numbers are not covered");
    }
  }

  void write_self(Scope& scope, Call& call, const Result& result,
                  const std::vector<std::string>& names) {
    const auto* tensor = std::get_if<GraphTensor>(&result);
    if (tensor == nullptr) fail("what is written in place is one tensor");
    const auto self = call.held("self");
    memory_.write(self, tensor->cast(memory_.read(self).dtype()));
    if (!names.empty()) scope.values[names[0]] = Value{self};
  }

  void bind(Scope& scope, Call& call, const Operator& op, const Result& result,
            const std::vector<std::string>& names) {
    if (const auto* dim = std::get_if<Dim>(&result)) {
      if (names.size() == 1) scope.values[names[0]] = Value{*dim};
      return;
    }
    if (std::holds_alternative<bool>(result) || std::holds_alternative<Nothing>(result)) {
      for (const auto& name : names) scope.values[name] = Value{};
      return;
    }
    std::vector<GraphTensor> tensors;
    if (const auto* one = std::get_if<GraphTensor>(&result)) {
      tensors = {*one};
    } else {
      tensors = std::get<std::vector<GraphTensor>>(result);
    }
    // What is left over is there for gradients: whoever asks for it finds that it has no value.
    for (std::size_t i = 0; i < std::min(names.size(), tensors.size()); ++i) {
      check_declared(scope, names[i], tensors[i]);
      const auto held =
          op.is_view ? memory_.hold_view(tensors[i], call.held("self")) : memory_.hold(tensors[i]);
      scope.values[names[i]] = Value{held};
    }
  }

  // The archive says what every result is: what we made of the call must be that.
  void check_declared(const Scope& scope, const std::string& name, const GraphTensor& made) const {
    if (!scope.metas.find(name)) return;
    const auto meta = meta_of(scope, name);
    bool agrees = meta.dtype == made.dtype() && meta.shape.size() == made.rank();
    for (std::size_t i = 0; agrees && i < made.rank(); ++i) {
      const auto a = meta.shape[i].constant(), b = made.shape()[i].constant();
      agrees = !a || !b || *a == *b;  // expressions may be equal in more ways than are seen
    }
    if (agrees) return;
    fail("the archive says {} {}, it is {} {}", name_of(meta.dtype), to_string(meta.shape),
         name_of(made.dtype()), to_string(made.shape()));
  }

  GraphTensor output_tensor(const Value& value, const JsonField& field) {
    if (const auto* held = std::get_if<Held>(&value.is)) return memory_.read(*held);
    if (const auto* dim = std::get_if<Dim>(&value.is)) return dim_value(imported_.graph, *dim);
    if (const auto* number = std::get_if<double>(&value.is)) {
      return GraphTensor::constant(imported_.graph, DType::kF64, *number);
    }
    if (const auto* flag = std::get_if<bool>(&value.is)) {
      return GraphTensor::constant(imported_.graph, DType::kBool, *flag ? 1 : 0);
    }
    field.refuse("a result that is no tensor and no number");
  }

  void add_outputs(Scope& scope) {
    const auto specs = module_["signature"]["output_specs"].elements();
    std::vector<JsonField> results;
    std::map<std::size_t, GraphTensor> replaced;  // inputs that have another value afterwards
    for (const auto& spec : specs) {
      if (const auto user = spec.find("user_output")) {
        results.push_back((*user)["arg"]);
        continue;
      }
      const auto buffer = spec.find("buffer_mutation"), input = spec.find("user_input_mutation"),
                 parameter = spec.find("parameter_mutation");
      if (!buffer && !input && !parameter) spec.refuse("results of this kind are not covered");
      const auto& mutation = buffer ? *buffer : input ? *input : *parameter;
      const auto target = buffer      ? mutation["buffer_name"]
                          : parameter ? mutation["parameter_name"]
                                      : mutation["user_input_name"];
      const auto& places = input ? by_placeholder_ : by_target_;
      const auto found = places.find(target.text());
      if (found == places.end()) target.refuse_value("expected the name of an input");
      const auto argument = mutation["arg"];
      const auto value = value_of(scope, argument["name"].text(), argument);
      if (!std::holds_alternative<Held>(value.is)) argument.refuse("expected a tensor");
      replaced.insert_or_assign(found->second, memory_.read(std::get<Held>(value.is)));
    }
    const auto names = output_names(module_, results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto value = argument_value(scope, results[i]);
      if (std::holds_alternative<Nothing>(value.is)) continue;
      output_tensor(value, results[i]).set_output(names[i]);
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const auto& input = inputs_[i];
      auto now = memory_.whole(input.held.storage);
      if (const auto given = replaced.find(i); given != replaced.end()) {
        now = given->second;
      } else if (now.node() == input.node) {
        continue;
      }
      const auto& shape = imported_.graph.node(input.node).shape;
      now.reshape(shape).set_output(input.name, input.name);
    }
    if (imported_.graph.outputs().empty()) fail("{}: a program without results", archive_.path());
  }

  const Archive& archive_;
  JsonField program_, module_;
  Imported imported_;
  Memory memory_;
  std::set<std::string> names_;
  std::vector<Input> inputs_;
  std::map<std::string, std::size_t> by_target_, by_placeholder_;
};

}  // namespace

Imported import_archive(const Archive& archive) { return Importer(archive).import(); }

}  // namespace assay::models::pt2
