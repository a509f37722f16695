// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "compiler/graph/view.h"

namespace assay::compiler {

// A view through a view: `outer` reads the elements, row-major, of a tensor of inner.shape, each of
// which `inner` finds somewhere else. Nothing where strides cannot say it, or where nobody sees
// that they can for all values of the symbols.
std::optional<View> compose(const View& outer, const View& inner, const Symbols& symbols);

// Whether every element of a tensor of `elements` elements is read, each once: a bijection.
bool reads_each_once(const View& view, const Dim& elements, const Symbols& symbols);

}  // namespace assay::compiler
