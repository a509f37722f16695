// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/output_names.h"

#include "base/error.h"
#include "base/text.h"

namespace assay::models::pt2 {
namespace {

// The tree as torch.utils._pytree writes it: {"type": null} is a leaf; children's keys are the
// context of a dict, which is JSON again.
void add_leaves(const Json& spec, const std::string& name, std::vector<std::string>& names) {
  if (!spec.is_object() || !spec.contains("children_spec")) fail("not a tree");
  const auto& children = spec["children_spec"];
  if (!children.is_array()) fail("not a tree");
  if (spec.value("type", Json()).is_null()) {
    names.push_back(name);
    return;
  }
  Json keys;
  if (const auto context = spec.find("context"); context != spec.end() && context->is_string()) {
    keys = parse_json(context->get<std::string>(), "context");
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    const bool has_key = keys.is_array() && keys.size() == children.size() && keys[i].is_string();
    const auto key = has_key ? printable(keys[i].get<std::string>()) : std::to_string(i);
    add_leaves(children[i], name + "." + key, names);
  }
}

}  // namespace

void add_result_names(const JsonField& output, std::vector<std::string>& names) {
  if (const auto tensor = output.find("as_tensor")) {
    names.push_back((*tensor)["name"].text());
  } else if (const auto tensors = output.find("as_tensors")) {
    for (const auto& each : tensors->elements()) names.push_back(each["name"].text());
  } else if (const auto symbol = output.find("as_sym_int")) {
    names.push_back((*symbol)["as_name"].text());
  } else if (const auto real = output.find("as_sym_float")) {
    names.push_back((*real)["as_name"].text());
  } else if (const auto flag = output.find("as_sym_bool")) {
    names.push_back((*flag)["as_name"].text());
  } else if (!output.find("as_none")) {
    output.refuse("results that are no tensors and no numbers are not covered");
  }
}

std::vector<std::string> output_names(const JsonField& graph_module, std::size_t count) {
  const std::string all = "output";
  std::vector<std::string> names;
  try {
    const auto calls = graph_module["module_call_graph"].elements();
    if (calls.empty()) fail("no tree");
    const auto spec = parse_json(calls[0]["signature"]["out_spec"].text(), "out_spec");
    // [version of the format, tree]
    if (!spec.is_array() || spec.size() != 2 || spec[0] != 1) fail("not a tree");
    add_leaves(spec[1], all, names);
  } catch (const UserError&) {
    names.clear();  // names are for people: a program runs without them
  }
  if (names.size() == count) return names;
  names.clear();
  if (count == 1) return {all};
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}.{}", all, i));
  return names;
}

}  // namespace assay::models::pt2
