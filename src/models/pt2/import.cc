// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/import.h"

#include <limits>
#include <set>
#include <stdexcept>
#include <tuple>

#include "base/text.h"
#include "models/pt2/coverage.h"
#include "models/pt2/operators.h"
#include "models/pt2/output_names.h"
#include "models/pt2/scope.h"
#include "models/pt2/tensor_meta.h"

namespace assay::models::pt2 {
namespace {

class Importer {
 public:
  Importer(const JsonField& program, const std::string& name, const FindTensor& find, bool from_one)
      : name_(name),
        find_(find),
        from_one_(from_one),
        program_(program),
        module_(program_["graph_module"]),
        memory_(imported_.graph) {}

  Imported import() {
    check_version();
    if (check_coverage(module_["graph"], name_).has_writes) memory_.expect_writes();
    read_symbols();
    Scope scope(module_["graph"]);
    add_inputs(scope);
    run(scope, 0);
    add_outputs(scope);
    imported_.checks = checks_.finish();
    if (imported_.graph.outputs().empty()) fail("{}: a program without results", name_);
    return std::move(imported_);
  }

 private:
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
      auto least = low ? low->integer(-kAny, kAny) : 0;
      if (from_one_ && least == 2) least = 1;
      // Others than plain names are what an expression can be: nothing has them as its size.
      if (item.key().find_first_of(" ()*+-/") != std::string::npos) continue;
      // Export writes 0 as the least of any whole number, negative ones too.
      if (least == 0 && !high && !is_of_sizes(item.key())) least = -kGreatestNumber;
      if (least < 0) {
        const auto greatest = high ? high->integer(-kAny, kAny) : kGreatestNumber;
        add_signed_symbol(item.key(), std::max(least, -kGreatestNumber),
                          std::min(greatest, kGreatestNumber));
      } else {
        const auto greatest = high ? high->integer(-kAny, kAny) : std::max(least, kGreatestSize);
        imported_.graph.symbol(item.key(), least, std::min(greatest, kGreatestSize * 4096));
      }
    }
  }

  // Whether a tensor's shape has the symbol.
  bool is_of_sizes(const std::string& symbol) {
    if (metas_.empty()) metas_ = canonical_json(module_["graph"]["tensor_values"].value());
    return metas_.find("'" + symbol + "'") != std::string::npos;
  }

  // A number below 0 is no size: it is what two symbols, one of them 0, are apart.
  void add_signed_symbol(const std::string& name, std::int64_t least, std::int64_t greatest) {
    const auto below = name + "_below";
    const Dim above = greatest > 0 ? imported_.graph.symbol(name, 0, greatest) : Dim(0);
    signed_[Dim::symbol(name)] = {
        below, above - imported_.graph.symbol(below, std::max<std::int64_t>(0, -greatest), -least)};
  }

  void add_input(Scope& scope, const std::string& placeholder, const std::string& name,
                 bool is_stored) {
    const auto meta = scope.meta(placeholder);
    if (is_stored) {
      const auto* view = find_(name);
      if (view == nullptr) fail("{}: tensor '{}' is not stored", name_, printable(name));
      std::vector<Dim> shape;
      for (std::size_t i = 0; i < view->rank(); ++i) shape.emplace_back(view->extent(i));
      if (view->dtype() != meta.dtype || !(shape == meta.shape)) {
        fail("{}: tensor '{}' is {} {}, the program takes {} {}", name_, printable(name),
             name_of(view->dtype()), to_string(shape), name_of(meta.dtype), to_string(meta.shape));
      }
    }
    // A parameter may have the name of an argument.
    auto unique = name;
    while (names_.contains(unique)) unique += "_";
    names_.insert(unique);
    if (is_stored) imported_.stored.emplace(unique, *find_(name));
    const auto input = GraphTensor::input(imported_.graph, unique, meta.dtype, meta.shape);
    const auto held = memory_.hold(input);
    scope.set(placeholder, Value{held});
    inputs_.push_back({unique, held, input.node()});
    by_target_[name] = inputs_.size() - 1;
    by_placeholder_[placeholder] = inputs_.size() - 1;
  }

  void add_inputs(Scope& scope) {
    const auto specs = module_["signature"]["input_specs"].elements();
    for (const auto& spec : specs) {
      if (const auto user = spec.find("user_input")) add_user_input(scope, (*user)["arg"]);
      if (const auto constant = spec.find("constant_input")) {
        add_constant((*constant)["name"].text(), (*constant)["value"]);
      }
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
      imported_.arguments.push_back({TakenLeaf::Kind::kTensor, inputs_.back().name, 0});
    } else if (const auto symbol = argument.find("as_sym_int")) {
      const auto& name = (*symbol)["as_name"].text();
      TakenLeaf leaf{TakenLeaf::Kind::kSize, name,
                     size_from(scope.graph()["sym_int_values"][name])};
      if (const auto found = signed_.find(leaf.size); found != signed_.end()) {
        std::tie(leaf.below, leaf.size) = found->second;
      }
      scope.set(name, Value{leaf.size});
      imported_.arguments.push_back(std::move(leaf));
    } else if (const auto real = argument.find("as_sym_float")) {
      const auto& name = (*real)["as_name"].text();
      const auto input = GraphTensor::input(imported_.graph, name, DType::kF64, {});
      names_.insert(name);
      scope.set(name, Value{Computed{input}});
      imported_.arguments.push_back({TakenLeaf::Kind::kReal, name, 0});
    } else {
      // Numbers that export took for constants stand in the program wherever they are used.
      for (const auto* kind : {"as_none", "as_int", "as_float", "as_bool", "as_string"}) {
        if (argument.find(kind)) return add_constant({}, argument);
      }
      argument.refuse("only tensors and numbers are taken");
    }
  }

  void add_constant(const std::string& name, const JsonField& value) {
    imported_.arguments.push_back(
        {TakenLeaf::Kind::kConstant, name, 0, canonical_json(value.value())});
  }

  // All calls of a graph, in order.
  void run(Scope& scope, int depth) {
    for (const auto& node : scope.graph()["nodes"].elements()) {
      const auto& target = node["target"].text();
      try {
        if (is_wrapper(target)) {
          run_wrapped(scope, node, depth);
        } else {
          run_call(scope, node, find_operator(target));
        }
      } catch (const std::out_of_range&) {
        // A list or a shape that is shorter than the operator's schema has it.
        fail("{}: {} ({}): an argument has too few elements or axes", name_, name_of_node(node),
             printable(operator_name(target)));
      } catch (const UserError& e) {
        // Said once, by the innermost.
        if (std::string_view(e.what()).starts_with(name_)) throw;
        fail("{}: {} ({}): {}", name_, name_of_node(node), printable(operator_name(target)),
             e.what());
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
        before.push_back(scope.argument(argument));
      }
    }
    if (!inner) node.refuse("a graph is missing");
    if (node["target"].text() == kWithAutocast) check_autocast(before);
    Scope own(*inner);
    const auto inputs = own.graph()["inputs"].elements();
    if (inputs.size() != given.size()) node.refuse("the graph takes other arguments");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto tensor = inputs[i].find("as_tensor"), symbol = inputs[i].find("as_sym_int");
      if (!tensor && !symbol) continue;  // a constant
      const auto& name = tensor ? (*tensor)["name"].text() : (*symbol)["as_name"].text();
      own.set(name, scope.argument(given[i]));
    }
    run(own, depth + 1);
    const auto results = own.graph()["outputs"].elements(), outputs = node["outputs"].elements();
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
      scope.set(names[i].text(), own.argument(results[i]));
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
      arguments[input["name"].text()] = scope.argument(input["arg"]);
    }
    std::vector<std::string> names;
    for (const auto& output : node["outputs"].elements()) add_result_names(output, names);
    checks_.begin_call(fmt::format("{} ({})", name_of_node(node),
                                   printable(operator_name(node["target"].text()))));
    Call call(imported_.graph, memory_, checks_, std::move(arguments), declared(scope, names));
    const auto result = found.op->lower(call);
    if (found.writes_self) {
      write_self(scope, call, result, names);
      return;
    }
    bind(scope, call, *found.op, result, names);
  }

  static Declared declared(const Scope& scope, const std::vector<std::string>& names) {
    Declared said;
    if (names.empty()) return said;
    if (const auto meta = scope.find_meta(names[0])) {
      said.shape = meta->shape;
      said.dtype = meta->dtype;
    }
    const auto sizes = scope.graph().find("sym_int_values");
    if (const auto size = sizes ? sizes->find(names[0]) : std::nullopt) said.size = *size;
    return said;
  }

  void write_self(Scope& scope, Call& call, const Result& result,
                  const std::vector<std::string>& names) {
    const auto* tensor = std::get_if<GraphTensor>(&result);
    if (tensor == nullptr) fail("what is written in place is one tensor");
    const auto& self = call.held("self");
    memory_.write(self, tensor->cast(memory_.read(self).dtype()));
    if (!names.empty()) scope.set(names[0], Value{self});
  }

  void bind(Scope& scope, Call& call, const Operator& op, const Result& result,
            const std::vector<std::string>& names) {
    const auto set_number = [&](const auto& number) {
      if (names.size() == 1) scope.set(names[0], Value{number});
    };
    if (const auto* dim = std::get_if<Dim>(&result)) return set_number(*dim);
    if (const auto* real = std::get_if<double>(&result)) return set_number(*real);
    if (const auto* computed = std::get_if<Computed>(&result)) return set_number(*computed);
    if (std::holds_alternative<bool>(result) || std::holds_alternative<Nothing>(result)) {
      for (const auto& name : names) scope.set(name, Value{});
      return;
    }
    std::vector<GraphTensor> tensors;
    if (const auto* one = std::get_if<GraphTensor>(&result)) {
      tensors = {*one};
    } else {
      tensors = std::get<std::vector<GraphTensor>>(result);
    }
    for (std::size_t i = tensors.size(); i < names.size(); ++i) scope.set_absent(names[i], op.name);
    for (std::size_t i = 0; i < std::min(names.size(), tensors.size()); ++i) {
      check_declared(scope, names[i], tensors[i]);
      const auto held =
          op.is_view ? memory_.hold_view(tensors[i], call.held("self")) : memory_.hold(tensors[i]);
      scope.set(names[i], Value{held});
    }
  }

  // torch says what every result is: what we made of the call must be that.
  void check_declared(const Scope& scope, const std::string& name, const GraphTensor& made) const {
    const auto said = scope.find_meta(name);
    if (!said) return;
    const auto& meta = *said;
    bool agrees = meta.dtype == made.dtype() && meta.shape.size() == made.rank();
    for (std::size_t i = 0; agrees && i < made.rank(); ++i) {
      const auto a = meta.shape[i].constant(), b = made.shape()[i].constant();
      agrees = !a || !b || *a == *b;  // expressions may be equal in more ways than are seen
    }
    if (agrees) return;
    fail("torch says {} {}, it is {} {}", name_of(meta.dtype), to_string(meta.shape),
         name_of(made.dtype()), to_string(made.shape()));
  }

  GraphTensor output_tensor(const Value& value, const JsonField& field) {
    if (const auto* held = std::get_if<Held>(&value.is)) return memory_.read(*held);
    if (const auto* dim = std::get_if<Dim>(&value.is)) return dim_value(imported_.graph, *dim);
    if (const auto* computed = std::get_if<Computed>(&value.is)) return computed->value;
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
      const auto value = scope.value(argument["name"].text(), argument);
      if (!std::holds_alternative<Held>(value.is)) argument.refuse("expected a tensor");
      replaced.insert_or_assign(found->second, memory_.read(std::get<Held>(value.is)));
    }
    const auto names = output_names(module_, results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto value = scope.argument(results[i]);
      const bool is_none = std::holds_alternative<Nothing>(value.is);
      const bool is_tensor = std::holds_alternative<Held>(value.is);
      imported_.results.push_back({is_none ? "" : names[i], !is_none && !is_tensor});
      if (!is_none) output_tensor(value, results[i]).set_output(names[i]);
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
  }

  const std::string& name_;
  const FindTensor& find_;
  bool from_one_;
  JsonField program_, module_;
  Imported imported_;
  Memory memory_;
  Checks checks_;
  // Numbers that can be below 0, by their symbols: the symbol that is taken off, and what they are.
  std::map<Dim, std::pair<std::string, Dim>> signed_;
  std::string metas_;  // what the archive says of tensors, as text
  std::set<std::string> names_;
  std::vector<Input> inputs_;
  std::map<std::string, std::size_t> by_target_, by_placeholder_;
};

}  // namespace

void bind_size(const TakenLeaf& leaf, std::int64_t value, const compiler::GivenSizes& sizes,
               compiler::Bindings& symbols) {
  if (leaf.below.empty()) return sizes.add_value(leaf.size, value, leaf.name, symbols);
  const auto below = Dim::symbol(leaf.below), above = leaf.size + below;
  const auto added = above.range(sizes.symbols()), taken = below.range(sizes.symbols());
  if (value < added.low - taken.high || value > added.high - taken.low) {
    fail("'{}' is from {} to {}, got {}", leaf.name, added.low - taken.high, added.high - taken.low,
         value);
  }
  const auto least = std::max(value, -std::numeric_limits<std::int64_t>::max());
  sizes.add_value(above, std::max<std::int64_t>(value, 0), leaf.name, symbols);
  sizes.add_value(below, std::max<std::int64_t>(-least, 0), leaf.name, symbols);
}

Imported import_program(const JsonField& program, const std::string& name, const FindTensor& find,
                        bool from_one) {
  try {
    return Importer(program, name, find, from_one).import();
  } catch (const UserError& e) {
    if (std::string_view(e.what()).starts_with(name)) throw;
    fail("{}: {}", name, e.what());
  }
}

Imported import_archive(const Archive& archive, bool from_one) {
  return import_program(
      archive.program(), archive.path(),
      [&](const std::string& name) { return archive.find(name); }, from_one);
}

}  // namespace assay::models::pt2
