// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The URLs of stores in PostgreSQL. How they are shown: shown_source.h.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::lab {

// Whether the text begins as PostgreSQL's URLs do.
bool is_postgres_url(std::string_view text);
// Whether PostgreSQL's library knows a parameter of that name.
bool is_postgres_parameter(std::string_view name);

// The parts as PostgreSQL's library cuts them, escapes as they are.
struct PostgresUrl {
  struct Parameter {
    std::string_view name, value;
  };
  std::string_view scheme, user, password, hosts, database;
  std::vector<Parameter> parameters;
};
// None where the library would stumble, with a message that quotes the URL, or a piece of it:
// unescaped characters in a password, half an escape, a port that is no number, parameters it does
// not know.
std::optional<PostgresUrl> parse_postgres_url(std::string_view url);

// Throws UserError, which shows nothing of the URL, where it cannot be parsed or where a part of it
// may be a password that came to stand in another place.
void check_postgres_url(const std::string& url);

// The URL as it goes to the library: with our name for the server's list of connections, a limit on
// waiting for a host that does not answer, and no password from the environment, where every child
// would see it (an empty one leaves the choice to the password file).
std::string connection_url(const std::string& url);

}  // namespace assay::lab
