// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who may talk to the server.

#include <string_view>

namespace assay::lab {

// Whether an address to listen on is this machine's alone: localhost, 127.*, ::1.
bool is_loopback(std::string_view host);

// Whether a request's Host header names us. A page of a stranger can make the browser resolve the
// stranger's name to 127.0.0.1 and then read our answers as its own; but the name stays in the
// header. Allowed are localhost, addresses, and the name that we listen on, each with our port.
bool host_allowed(std::string_view header, std::string_view listening_on, int port);

}  // namespace assay::lab
