// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lab/decide/gate.h"
#include "lab/show/exchange/junit.h"

namespace assay::lab {

// One test for each row of a gate. Regressed and wrong rows are failures, other broken ones errors;
// what is unresolved, still broken, not measured or dropped is skipped, with the reason; the rest
// has passed.
std::vector<TestCase> gate_tests(const GateResult& result);

}  // namespace assay::lab
