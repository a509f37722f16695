// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What each command accepts: one function for each, which describes its arguments to CLI11 and
// says where they go. CLI11 takes seconds to compile, so commands share a file by kind:
// arguments.cc (measuring and keeping), arguments_publish.cc (pages), arguments_engines.cc.

#include "cli/arguments.h"

namespace CLI {
class App;
}

namespace assay::cli {

// arguments_publish.cc
void add_site(CLI::App& app, SiteArguments& a);
void add_serve(CLI::App& app, ServeArguments& a);

// arguments_engines.cc
void add_chip(CLI::App& app, ChipArguments& a);
void add_transport(CLI::App& app, TransportArguments& a);
void add_einsum(CLI::App& app, EinsumArguments& a);

}  // namespace assay::cli
