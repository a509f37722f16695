// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/cases.h"
#include "cases/einsum/cases.h"
#include "cases/harness/cases.h"
#include "cases/llm/cases.h"
#include "cases/semiring/cases.h"
#include "cases/transport/cases.h"
#include "cli/installation.h"

namespace assay::cli {

lab::CaseRegistry all_cases() {
  lab::CaseRegistry cases;
  cases::semiring::add_cases(cases);
  cases::transport::add_cases(cases);
  cases::chip::add_cases(cases);
  cases::einsum::add_cases(cases);
  cases::llm::add_cases(cases);
  cases::harness::add_cases(cases);
  return cases;
}

}  // namespace assay::cli
