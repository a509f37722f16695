// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The URLs of stores, and how they are shown: never with a password.

#include <string>
#include <string_view>

namespace assay::lab {

// Whether the text begins as PostgreSQL's URLs do.
bool is_postgres_url(std::string_view text);

// A text as it may be shown: as it is when it is no URL; user, host, database and a few harmless
// parameters of a URL that PostgreSQL understands; of any other URL the scheme alone, since nobody
// knows which part of it was meant as a password.
std::string without_password(std::string_view text);

// Refuses what PostgreSQL's own library would refuse with a message that quotes the URL, or a piece
// of it: unescaped characters in a password, half an escape, a port that is no number, parameters
// it does not know. Throws UserError that shows nothing of these.
void check_postgres_url(const std::string& url);

// The URL as it goes to the library: with our name for the server's list of connections, a limit on
// waiting for a host that does not answer, and no password from the environment, where every child
// would see it (an empty one leaves the choice to the password file).
std::string connection_url(const std::string& url);

// Takes passwords out of the arguments of a program, where they stand: the list of processes shows
// them to everybody, and messages, pages and reports quote them. A URL is afterwards as it is
// shown; with_password() knows how it was typed. To be called once, before anything else.
void take_passwords(int argc, char** argv);
std::string with_password(const std::string& url);

}  // namespace assay::lab
