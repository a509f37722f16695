// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One graph of an archive, whose names are its own: what each has as its value, and what the
// archive says of it.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "models/config/json_field.h"
#include "models/pt2/call.h"
#include "models/pt2/tensor_meta.h"

namespace assay::models::pt2 {

class Scope {
 public:
  explicit Scope(const JsonField& graph) : graph_(graph), metas_(graph["tensor_values"]) {}

  const JsonField& graph() const { return graph_; }
  // None where the archive says nothing.
  std::optional<TensorMeta> find_meta(const std::string& name) const;
  TensorMeta meta(const std::string& name) const { return tensor_meta_from(metas_[name]); }

  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  // A result that `op` is not made to give, there for gradients mostly: whoever asks is told so.
  void set_absent(const std::string& name, std::string_view op) { absent_[name] = op; }
  // `field` is where the name stands, for the message that it has no value.
  const Value& value(const std::string& name, const JsonField& field) const;
  // {"as_tensor": {"name": "x"}}, {"as_ints": [2, 3]}, …: all kinds of the schema. Devices, layouts
  // and memory formats are nothing.
  Value argument(const JsonField& field) const;

 private:
  Value symbol(const JsonField& field) const;

  JsonField graph_, metas_;
  std::map<std::string, Value, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> absent_;
};

}  // namespace assay::models::pt2
