// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What templates call and apply: methods of texts and dicts, filters, tests. Each is named in a
// table; a name that is not there is refused when a template is rendered, by name.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/jinja/value.h"

namespace assay::models::jinja {

// Arguments of a call, taken by place or by keyword.
class Arguments {
 public:
  Arguments(Values by_place, std::map<std::string, Value, std::less<>> by_keyword)
      : by_place_(std::move(by_place)), by_keyword_(std::move(by_keyword)) {}

  // Parameter `place`, called `name`; undefined where it is not given.
  Value take(std::size_t place, std::string_view name);
  std::string text(std::size_t place, std::string_view name, Work& work);
  std::int64_t integer_or(std::size_t place, std::string_view name, std::int64_t otherwise,
                          Work& work);
  // Those from `place` on that are given by place.
  Arguments behind(std::size_t place);
  // Refuses arguments that were not taken; `what` is called "filter 'trim'".
  void finish(std::string_view what, Work& work) const;
  const Values& by_place() const { return by_place_; }
  const std::map<std::string, Value, std::less<>>& by_keyword() const { return by_keyword_; }

 private:
  Values by_place_;
  std::map<std::string, Value, std::less<>> by_keyword_;
  std::size_t taken_ = 0;
};

bool has_method(const Value& value, std::string_view name);
Value call_method(const Value& value, std::string_view name, Arguments& arguments, Work& work);

Value filtered(const Value& value, std::string_view name, Arguments& arguments, Work& work);
bool passes_test(const Value& value, std::string_view name, Arguments& arguments, Work& work);

// json.dumps(): indent < 0 for one line.
std::string json_text(const Value& value, int indent, bool is_ascii, bool sorts_keys, Work& work);

// Upper case of ASCII alone, lower case of all but two letters; others are refused by name.
std::string lower_case(std::string_view text, Work& work);
std::string upper_case(std::string_view text, Work& work);

// The text with each `old` replaced, at most `count` of them (below 0: all), as str.replace() does.
std::string replaced(std::string_view text, std::string_view old, std::string_view by,
                     std::int64_t count, Work& work);

}  // namespace assay::models::jinja
