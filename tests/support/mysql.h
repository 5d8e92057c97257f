// The stack's MariaDB, asked by hand.
#pragma once

#include <string>
#include <vector>

namespace turnstile::test {

/// One line a row, columns separated by tabs. Throws on an error.
std::vector<std::string> mysqlRows(const std::string& statement);
/// The first column of the first row as a number.
int mysqlNumber(const std::string& statement);

}  // namespace turnstile::test
