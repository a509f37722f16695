// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What Python's operators do with values. What Python refuses is refused, with the line.

#include <optional>
#include <string>
#include <string_view>

#include "models/jinja/value.h"

namespace assay::models::jinja {

bool is_true(const Value& value);
bool are_equal(const Value& a, const Value& b, Work& work);
bool is_less(const Value& a, const Value& b, Work& work);
// `item in whole`.
bool is_inside(const Value& item, const Value& whole, Work& work);
// One of Expression::operators.
bool compares(const Value& a, std::string_view sign, const Value& b, Work& work);
// + - * / // %.
Value arithmetic(const Value& a, std::string_view sign, const Value& b, Work& work);

// whole.name and whole[key]: undefined where there is none.
Value attribute(const Value& whole, std::string_view name, Work& work);
Value item(const Value& whole, const Value& key, Work& work);
// whole[first:last:step]; undefined bounds are left out.
Value slice(const Value& whole, const Value& first, const Value& last, const Value& step,
            Work& work);

// What a loop goes over: elements, keys, characters. Refuses what has none.
Values elements(const Value& whole, Work& work);
std::size_t length(const Value& whole, Work& work);

// As str() and repr() write it.
std::string printed(const Value& value, Work& work);
std::string represented(const Value& value, Work& work);

// Members by name, and what `loop` has (interpreter.h).
Value loop_attribute(const Loop& loop, std::string_view name, Work& work);

}  // namespace assay::models::jinja
