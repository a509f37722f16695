// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "base/json.h"
#include "models/jinja/template.h"

namespace assay::models::jinja {
namespace {

// Builds a value as the parser goes along: Json itself sorts members, and a model is told them in
// the order in which they were written.
class ValueBuilder : public nlohmann::json_sax<Json> {
 public:
  explicit ValueBuilder(const std::string& what) : work_(what) {}
  Value result() { return std::move(open_[0].items[0]); }

  bool null() override { return add(Value::none()); }
  bool boolean(bool value) override { return add(Value(value)); }
  bool number_integer(number_integer_t value) override { return add(Value::integer(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > INT64_MAX) return add(Value(static_cast<double>(value)));
    return add(Value::integer(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(Value(value)); }
  bool string(string_t& value) override { return add(Value::text(std::move(value), work_)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool key(string_t& name) override {
    open_.back().keys.push_back(Value::text(std::move(name), work_));
    return true;
  }
  bool end_object() override {
    auto done = close();
    Pairs pairs;
    for (std::size_t i = 0; i < done.items.size(); ++i) {
      pairs.emplace_back(std::move(done.keys[i]), std::move(done.items[i]));
    }
    return add(Value::dict(std::move(pairs), work_));
  }
  bool end_array() override { return add(Value::list(close().items, work_)); }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  struct Open {
    Values keys, items;
  };
  bool add(Value value) {
    open_.back().items.push_back(std::move(value));
    return true;
  }
  bool open() {
    open_.emplace_back();
    return true;
  }
  Open close() {
    auto done = std::move(open_.back());
    open_.pop_back();
    return done;
  }

  Work work_;
  std::vector<Open> open_ = std::vector<Open>(1);
};

}  // namespace

Value value_from_json(std::string_view json, const std::string& what) {
  parse_json(json, what);  // says what is wrong with it
  ValueBuilder builder(what);
  check(Json::sax_parse(json.begin(), json.end(), &builder), "what parses, parses twice");
  return builder.result();
}

}  // namespace assay::models::jinja
