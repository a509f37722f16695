// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::models {
namespace {}
}  // namespace assay::models
