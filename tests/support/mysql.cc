#include "tests/support/mysql.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "loadtest/child_process.h"
#include "tests/support/stack.h"

namespace turnstile::test {
namespace {

// By environment, so that the password shows in no process list.
void exportPassword() {
  std::ifstream in(runDir() + "/mysql.password");
  std::string password;
  if (!(in >> password)) throw std::runtime_error("cannot read mysql.password of the stack");
  setenv("MYSQL_PWD", password.c_str(), 1);
}

}  // namespace

std::vector<std::string> mysqlRows(const std::string& statement) {
  static const bool exported = (exportPassword(), true);
  (void)exported;
  const auto done = harness::runToEnd(
      {"mariadb", "--no-defaults", "--host=127.0.0.1", "--port=" + std::to_string(portOf("mariadb")),
       "--user=turnstile", "--connect-timeout=5", "--batch", "--skip-column-names", "--execute=" + statement,
       "turnstile"},
      milliseconds{15'000});
  if (done.exitCode != 0) throw std::runtime_error(statement + ": " + done.output);
  std::vector<std::string> rows;
  std::istringstream lines(done.output);
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  return rows;
}

int mysqlNumber(const std::string& statement) {
  const auto rows = mysqlRows(statement);
  if (rows.empty()) throw std::runtime_error(statement + ": no row");
  return std::stoi(rows.front());
}

}  // namespace turnstile::test
